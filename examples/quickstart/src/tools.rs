//! The tools: plain functions, each with what must hold above it.
//!
//! Three of them are wrong on purpose, so that their calls show what becomes of it: `divide` promises more than it keeps,
//! `wait` takes more time than it has, and `last_word` panics. A test in `main.rs` finds all three, with the smallest calls.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

#[cfg(test)]
use contract_runtime::Builder;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Divide one number by another.
#[tool(read_only)]
#[pre(divisor != 0.0, "cannot divide by zero")]
#[post(|quotient| quotient.is_finite(), "the quotient must be finite")]
#[post(|quotient| divisor.abs() < 1.0 || quotient.abs() <= dividend.abs(), "a division by one or more makes nothing larger")]
fn divide(
    /// The number to divide.
    dividend: f64,
    /// The number to divide by.
    divisor: f64,
) -> f64 {
    dividend / divisor
}

/// How a room is booked.
#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Purpose {
    /// People meet.
    Meeting,
    /// Somebody speaks to the others.
    Talk,
}

/// A booked room.
#[derive(Debug, Serialize, JsonSchema)]
struct Booking {
    room: u32,
    minutes: u32,
    purpose: Purpose,
}

/// Book a room for a part of one day. Times are minutes after midnight.
#[tool(idempotent)]
#[pre(end > start, "the end ({end}) must come after the start ({start})")]
#[pre(end <= 24 * 60, "the booking must end on the same day")]
#[pre(seats <= 12, "more than twelve people need two rooms", policy = observe)]
#[post(|booking| start + booking.minutes == end, "the room is booked from the start to the end")]
#[post(|booking| booking.room % 100 == seats, "the number of a room says how many people it seats")]
fn book_room(
    /// When it begins.
    start: u32,
    /// When it ends.
    end: u32,
    #[arg(default = Purpose::Meeting)] purpose: Purpose,
    /// How many people come.
    #[arg(default = 2, example = 8)]
    seats: u32,
) -> Booking {
    Booking {
        room: 100 + seats,
        minutes: end - start,
        purpose,
    }
}

/// The folder that `count_lines` may read.
pub(crate) struct Shelf {
    root: PathBuf,
}

impl Shelf {
    /// The folder of this example.
    pub(crate) fn open() -> std::io::Result<Self> {
        Ok(Self {
            root: Path::new(env!("CARGO_MANIFEST_DIR")).canonicalize()?,
        })
    }
}

/// Count the lines of a text file.
#[tool(read_only, blocking, timeout = "5s")]
#[pre(path.components().all(|step| matches!(step, Component::Normal(_))), "the path must stay inside the folder")]
fn count_lines(
    /// Relative to the folder of this example, such as `src/main.rs`.
    path: &Path,
    #[context] shelf: &Shelf,
) -> std::io::Result<usize> {
    Ok(std::fs::read_to_string(shelf.root.join(path))?
        .lines()
        .count())
}

/// Wait for a while.
#[tool(read_only, timeout = "200ms")]
#[pre(milliseconds <= 10_000)]
async fn wait(
    /// How long.
    milliseconds: u64,
) -> String {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
    format!("waited {milliseconds} ms")
}

/// Show the last word of a text.
#[tool(read_only)]
fn last_word(
    /// Words with white space between them.
    text: &str,
) -> &str {
    // A fault of the author: an empty text has no last word.
    text.split_whitespace().next_back().unwrap()
}

/// Short notes, kept in memory.
#[derive(Default)]
pub(crate) struct Notes(Mutex<BTreeMap<String, String>>);

/// Notes with room for one more, to be tried with.
#[cfg(test)]
pub(crate) fn two_notes(builder: Builder) -> Builder {
    let notes = ["eggs", "milk"].map(|title| (title.to_owned(), String::new()));
    builder.with(Notes(Mutex::new(notes.into())))
}

#[tool]
impl Notes {
    /// Keep a note under a title, instead of the one that was there.
    #[tool(idempotent)]
    #[pre(!title.is_empty(), "a note needs a title")]
    #[post(|count| *count <= 3)]
    fn keep_note(
        &self,
        /// What the note is found by.
        title: String,
        /// What it says.
        text: String,
    ) -> usize {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        contract_assert!(
            notes.contains_key(&title) || notes.len() < 3,
            "there is room for three notes"
        );
        notes.insert(title, text);
        notes.len()
    }

    /// Read a note.
    #[tool(read_only)]
    fn read_note(
        &self,
        /// The title under which it is kept.
        title: &str,
    ) -> Option<String> {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.get(title).cloned()
    }
}
