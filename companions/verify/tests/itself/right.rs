//! Tools with nothing wrong: whatever the seed, nothing may be found.

use std::collections::BTreeMap;
use std::path::{Component, Path};
use std::sync::Mutex;
use std::time::Duration;

use contract_runtime::prelude::*;
use contract_runtime::{Builder, matches_pattern};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::verifier;

/// How a room is booked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
    minutes: u32,
    purpose: Purpose,
}

/// Book a room for a part of one day. Times are minutes after midnight.
#[tool(read_only, idempotent)]
#[pre(end > start, "the end ({end}) must come after the start ({start})")]
#[pre(end <= 24 * 60, "the booking must end on the same day")]
#[pre(seats <= 12, "more than twelve people need two rooms", policy = observe)]
#[post(|booking| start + booking.minutes == end)]
fn book_room(
    start: u32,
    end: u32,
    #[arg(default = Purpose::Meeting)] purpose: Purpose,
    #[arg(default = 2, example = 8)] seats: u32,
) -> Booking {
    let _ = seats;
    Booking {
        minutes: end - start,
        purpose,
    }
}

/// Twice rounded, numbers up to a million are less than this apart.
fn is_near(one: f64, other: f64) -> bool {
    (one - other).abs() < 1e6 * f64::EPSILON
}

/// Divide one number by another, if they are neither too large nor too small.
#[tool(read_only)]
#[pre(dividend.is_finite() && dividend >= -1e6 && dividend <= 1e6)]
#[pre(divisor >= 1e-6 && divisor <= 1e6)]
#[post(|quotient| is_near(quotient * divisor, dividend))]
fn quotient(dividend: f64, divisor: f64) -> f64 {
    dividend / divisor
}

/// Share among people.
#[tool(read_only)]
#[pre(people != 0, "there must be somebody")]
#[post(|share| total - share * people == total % people)]
fn share(total: u64, people: u64) -> u64 {
    total / people
}

/// Look somebody up.
#[tool(read_only)]
#[pre(!name.is_empty() && name.chars().count() <= 20)]
#[pre(matches_pattern(name, r"^[a-z][a-z0-9_]*$"))]
#[post(err |error| error.contains("nobody"))]
async fn look_up(name: &str) -> Result<Option<usize>, String> {
    tokio::task::yield_now().await;
    if name.contains('_') {
        return Err(format!("there is nobody called {name}"));
    }
    Ok(name.find('a'))
}

/// Count the words of a text.
#[tool(read_only, blocking, timeout = "60s")]
#[pre(limit.is_none_or(|limit| limit > 0))]
#[post(|count| limit.is_none_or(|limit| *count <= limit))]
fn count_words(text: String, limit: Option<usize>) -> usize {
    let count = text.split_whitespace().count();
    limit.map_or(count, |limit| count.min(limit))
}

/// A point.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Point {
    x: i16,
    y: i16,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    label: Option<String>,
}

/// A drawing, of drawings.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Drawing {
    Dot { at: Point },
    Line { from: Point, to: Point },
    Group { of: Vec<Drawing> },
}

fn dots(drawing: &Drawing) -> usize {
    match drawing {
        Drawing::Dot { .. } => 1,
        Drawing::Line { .. } => 2,
        Drawing::Group { of } => of.iter().map(dots).sum(),
    }
}

/// Count the points of a drawing.
#[tool(read_only)]
fn count_points(drawing: Drawing) -> usize {
    dots(&drawing)
}

/// Move a drawing nowhere.
#[tool(read_only, idempotent)]
#[pre(drawings.len() <= 3)]
#[post(|same| same.len() == old(drawings.len()))]
fn keep_drawings(drawings: Vec<Drawing>) -> Vec<Drawing> {
    drawings
}

/// Add up what is owed.
#[tool(read_only)]
#[pre(!owed.is_empty(), "nobody owes anything")]
#[pre(owed.values().all(|cents| *cents > 0))]
#[post(|sum| *sum >= old(owed.len() as u64))]
fn sum_up(owed: BTreeMap<String, u32>) -> u64 {
    owed.values().copied().map(u64::from).sum()
}

/// Pick the largest of some numbers.
#[tool(read_only)]
#[pre(!numbers.is_empty() && numbers.len() <= 8)]
#[pre(numbers.iter().all(|number| *number >= -50 && *number <= 50))]
#[post(|largest| numbers.iter().max() == Some(largest))]
fn largest(numbers: &[i32]) -> i32 {
    numbers.iter().copied().max().unwrap_or_default()
}

/// Read a file name.
#[tool(read_only)]
#[pre(path.components().all(|step| matches!(step, Component::Normal(_))), "the path must stay inside the folder")]
fn extension(path: &Path) -> Option<String> {
    Some(path.extension()?.to_string_lossy().into_owned())
}

/// Choose by its parts.
#[tool(read_only)]
#[pre(unit == 'k' || unit == 'm')]
#[pre([1, 10, 100].contains(&factor))]
#[pre(loud || count % 5 == 0)]
#[post(|chosen| chosen - i64::from(u32::from(unit)) == i64::from(count) * i64::from(factor))]
fn choose(unit: char, factor: u16, loud: bool, count: i8) -> i64 {
    i64::from(factor) * i64::from(count) + i64::from(u32::from(unit))
}

/// Take part of a text, with numbers at the ends of their types.
#[tool(read_only)]
#[pre(wide >= u128::from(u64::MAX) && narrow != i8::MIN && share > 0.0 && share < 1.0)]
#[post(|text| text.chars().count() == old(key.chars().count().min(2)))]
fn extremes(wide: u128, narrow: i8, share: f32, #[arg(secret)] key: String) -> String {
    let _ = (wide, share, narrow.abs());
    key.chars().take(2).collect()
}

/// Say nothing.
#[tool(read_only)]
fn nothing() {}

/// Give it back in several parts.
#[tool(read_only)]
fn content(text: String) -> Content {
    Content::text(text).with(Artifact::file("a.txt", "text/plain", "a"))
}

/// Wait for a moment.
#[tool(read_only, timeout = "60s")]
#[pre(milliseconds <= 1)]
async fn wait(milliseconds: u64) {
    tokio::time::sleep(Duration::from_millis(milliseconds)).await;
}

#[derive(Default)]
struct Notes(Mutex<BTreeMap<String, String>>);

fn no_notes(builder: Builder) -> Builder {
    builder.with(Notes::default())
}

#[tool]
impl Notes {
    /// Keep a note under a title, instead of the one that was there.
    #[tool(idempotent)]
    #[pre(!title.is_empty(), "a note needs a title")]
    #[post(|count| *count >= 1)]
    #[verify(run, setup = no_notes)]
    fn keep_note(&self, title: String, text: String) -> usize {
        let mut notes = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        let count = notes.len();
        let before = notes.insert(title, text);
        contract_assert!(
            notes.len() == count + usize::from(before.is_none()),
            "no other note is touched"
        );
        notes.len()
    }

    /// Read a note.
    #[tool(read_only)]
    fn read_note(&self, title: &str) -> Option<String> {
        let notes = self
            .0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner);
        notes.get(title).cloned()
    }
}

fn tools() -> Builder {
    Registry::builder()
        .tool(book_room)
        .tool(quotient)
        .tool(share)
        .tool(look_up)
        .tool(count_words)
        .tool(count_points)
        .tool(keep_drawings)
        .tool(sum_up)
        .tool(largest)
        .tool(extension)
        .tool(choose)
        .tool(extremes)
        .tool(nothing)
        .tool(content)
        .tool(wait)
        .with(Notes::default())
}

#[test]
fn nothing_is_found_with_any_seed() {
    let verified = |seed| {
        let report = verifier(tools()).seed(seed).cases(100).run();
        report.assert();
        let idle: Vec<&str> = report
            .tools()
            .iter()
            .filter(|tool| tool.ran == 0)
            .map(|tool| tool.tool.as_str())
            .collect();
        assert!(idle.is_empty(), "never run: {idle:?}");
    };
    std::thread::scope(|scope| {
        for seed in (0..8).chain([u64::MAX]) {
            scope.spawn(move || verified(seed));
        }
    });
}
