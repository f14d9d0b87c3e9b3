//! Keeping the beginning and the end of a stream, however long it is.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::io::{AsyncRead, AsyncReadExt as _};

use crate::files::position::{json_length, json_width};

/// Large enough that a flood costs few turns, small enough that two of them are nothing.
const CHUNK: usize = 64 << 10;

/// Reads a stream and keeps its first and its last characters; memory is bounded, whatever arrives.
#[derive(Debug)]
pub(super) struct Capture {
    head: String,
    /// Characters that the head still takes.
    room: usize,
    /// Holds up to twice what is kept of it, so that cutting it costs little per byte.
    tail: String,
    tail_characters: usize,
    tail_limit: usize,
    /// A character whose end has not arrived.
    begun: Vec<u8>,
    bytes: u64,
    replaced: u64,
    left_out: u64,
    ended: bool,
}

/// What was kept of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Captured {
    pub(super) head: String,
    /// Empty while nothing is left out.
    pub(super) tail: String,
    /// Characters between head and tail.
    pub(super) left_out: u64,
    pub(super) bytes: u64,
    pub(super) replaced: u64,
    /// The stream was read to its end.
    pub(super) ended: bool,
}

impl Capture {
    pub(super) fn new(characters: usize) -> Self {
        Self {
            head: String::new(),
            room: characters / 2,
            tail: String::new(),
            tail_characters: 0,
            tail_limit: characters - characters / 2,
            begun: Vec::new(),
            bytes: 0,
            replaced: 0,
            left_out: 0,
            ended: false,
        }
    }

    /// Reads on until the stream ends or fails. An end that comes when everything is over is not the end of the stream itself.
    pub(super) async fn drain(&mut self, mut stream: impl AsyncRead + Unpin, is_over: &AtomicBool) {
        let mut chunk = vec![0; CHUNK];
        while let Ok(count) = stream.read(&mut chunk).await {
            if count == 0 {
                self.ended = !is_over.load(Ordering::Relaxed);
                return;
            }
            self.push(chunk.get(..count).unwrap_or_default());
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len() as u64;
        if self.begun.is_empty() {
            self.decode(bytes);
        } else {
            let mut joined = std::mem::take(&mut self.begun);
            joined.extend_from_slice(bytes);
            self.decode(&joined);
        }
    }

    fn decode(&mut self, bytes: &[u8]) {
        let mut left = bytes.len();
        for chunk in bytes.utf8_chunks() {
            let invalid = chunk.invalid();
            left -= chunk.valid().len() + invalid.len();
            self.text(chunk.valid());
            if left == 0 && is_begun(invalid) {
                self.begun = invalid.to_vec();
            } else if !invalid.is_empty() {
                self.replace();
            }
        }
    }

    fn replace(&mut self) {
        self.replaced += 1;
        self.text("\u{fffd}");
    }

    fn text(&mut self, text: &str) {
        let (head, rest) = text.split_at(offset(text, self.room));
        if !head.is_empty() {
            self.room -= head.chars().count();
            self.head.push_str(head);
        }
        self.tail.push_str(rest);
        self.tail_characters += rest.chars().count();
        if self.tail_characters > 2 * self.tail_limit {
            self.cut();
        }
    }

    fn cut(&mut self) {
        let excess = self.tail_characters.saturating_sub(self.tail_limit);
        self.tail.drain(..offset(&self.tail, excess));
        self.tail_characters -= excess;
        self.left_out += excess as u64;
    }

    pub(super) fn finish(mut self) -> Captured {
        if !self.begun.is_empty() {
            self.begun.clear();
            self.replace();
        }
        self.cut();
        if self.left_out == 0 {
            self.head.push_str(&self.tail);
            self.tail.clear();
        }
        Captured {
            head: self.head,
            tail: self.tail,
            left_out: self.left_out,
            bytes: self.bytes,
            replaced: self.replaced,
            ended: self.ended,
        }
    }
}

impl Captured {
    /// Takes out of the middle what is beyond a number of characters, as they are written in JSON.
    pub(super) fn shrink(&mut self, written: usize) {
        if self.json_length() <= written {
            return;
        }
        let begin = first_beyond(self.head.char_indices(), written / 2)
            .map_or(self.head.len(), |(at, _)| at);
        let rest = if self.left_out == 0 {
            &self.head
        } else {
            &self.tail
        };
        let end = first_beyond(rest.char_indices().rev(), written - written / 2)
            .map_or(0, |(at, character)| at + character.len_utf8());
        let (middle, tail) = rest.split_at(end);
        let (kept, cut) = self.head.split_at(begin);
        let mut left_out = middle.chars().count();
        if self.left_out == 0 {
            left_out -= kept.chars().count();
        } else {
            left_out += cut.chars().count();
        }
        self.left_out += left_out as u64;
        self.tail = tail.to_owned();
        self.head.truncate(begin);
    }

    /// How many characters it takes in JSON.
    pub(super) fn json_length(&self) -> usize {
        json_length(&self.head) + json_length(&self.tail)
    }
}

/// The first character that does not fit any more.
fn first_beyond(
    characters: impl Iterator<Item = (usize, char)>,
    mut room: usize,
) -> Option<(usize, char)> {
    for (at, character) in characters {
        match room.checked_sub(json_width(character)) {
            Some(left) => room = left,
            None => return Some((at, character)),
        }
    }
    None
}

/// Whether these bytes are the beginning of a character.
fn is_begun(bytes: &[u8]) -> bool {
    std::str::from_utf8(bytes).is_err_and(|error| error.error_len().is_none())
}

/// Where a number of characters ends.
fn offset(text: &str, characters: usize) -> usize {
    text.char_indices()
        .nth(characters)
        .map_or(text.len(), |(at, _)| at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Capture, Captured};

    fn kept(bytes: &[u8], chunk: usize, characters: usize) -> Captured {
        let mut capture = Capture::new(characters);
        for part in bytes.chunks(chunk) {
            capture.push(part);
        }
        capture.finish()
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        let text = "[a\"\n\u{1}é日😀]{0,40}".prop_map(String::into_bytes);
        let parts = prop_oneof![4 => text, 1 => prop::collection::vec(any::<u8>(), 0..4)];
        prop::collection::vec(parts, 0..6).prop_map(|parts| parts.concat())
    }

    proptest! {
        /// D12: however the bytes arrive, they are read as if they had come at once.
        #[test]
        fn the_beginning_and_the_end_are_those_of_the_whole(
            bytes in bytes(),
            chunk in 1_usize..9,
            characters in 0_usize..60,
        ) {
            let kept = kept(&bytes, chunk, characters);
            let whole: Vec<char> = String::from_utf8_lossy(&bytes).chars().collect();
            prop_assert_eq!(kept.bytes, bytes.len() as u64);
            if whole.len() <= characters {
                prop_assert_eq!(&kept.head, &whole.iter().collect::<String>());
                prop_assert_eq!((kept.tail.as_str(), kept.left_out), ("", 0));
            } else {
                let (head, tail) = (characters / 2, characters - characters / 2);
                prop_assert_eq!(&kept.head, &whole[..head].iter().collect::<String>());
                prop_assert_eq!(&kept.tail, &whole[whole.len() - tail..].iter().collect::<String>());
                prop_assert_eq!(kept.left_out, (whole.len() - characters) as u64);
            }
        }

        /// D12
        #[test]
        fn what_is_shrunk_fits_and_is_counted(
            bytes in bytes(),
            characters in 0_usize..200,
            room in 0_usize..200,
        ) {
            let whole = kept(&bytes, 7, characters);
            let mut shrunk = kept(&bytes, 7, characters);
            shrunk.shrink(room);
            let json = serde_json::to_string(&format!("{}{}", shrunk.head, shrunk.tail)).unwrap();
            prop_assert_eq!(shrunk.json_length(), json.chars().count() - 2);
            prop_assert!(shrunk.json_length() <= room);
            prop_assert!(whole.head.starts_with(&shrunk.head));
            prop_assert!(whole.tail.ends_with(&shrunk.tail) || whole.head.ends_with(&shrunk.tail));
            let count = |kept: &Captured| {
                kept.left_out + (kept.head.chars().count() + kept.tail.chars().count()) as u64
            };
            prop_assert_eq!(count(&whole), count(&shrunk));
        }
    }

    #[test]
    fn memory_is_bounded_whatever_arrives() {
        let mut capture = Capture::new(1_000);
        for _ in 0..2_000 {
            capture.push(&[b'x'; 4_096]);
            assert!(capture.tail.len() <= 4_096 + 2_000 && capture.head.len() <= 1_000);
        }
    }
}
