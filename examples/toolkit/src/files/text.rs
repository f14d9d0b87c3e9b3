//! Text out of a stream of bytes: one pass finds the lines that are wanted, the totals and the hash.

use std::borrow::Cow;
use std::io::{self, Read};

use memchr::{memchr, memchr_iter};

use super::position::{ADDED, after_breaks, after_characters, first_line, fitting};
use crate::path::push_escaped;
use crate::problem::Problem;
use crate::workspace::Limits;

/// Read at once: small enough to stay in a processor's cache while it is hashed, checked and counted.
const CHUNK: usize = 128 << 10;

/// What a registry passes on of an answer, unless it is told otherwise (`RegistryBuilder::max_output_chars`).
const PASSED_ON: usize = 100_000;

/// Kept free in an answer for what is said about its text.
const FACTS: usize = 600;

/// Formats whose bytes say nothing to a reader of text, by their first bytes.
const FORMATS: [(&[u8], &str); 7] = [
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"RIFF", "a picture, sound or film (RIFF)"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
];

/// Returns the format that the first bytes of a file announce, or `None`.
pub(super) fn format_of(beginning: &[u8]) -> Option<&'static str> {
    let mut formats = FORMATS.iter();
    Some(formats.find(|(magic, _)| beginning.starts_with(magic))?.1)
}

/// Describes a file that is not text, and says what to do about it.
pub(super) fn not_text(path: String, format: Option<&str>, found: String) -> Problem {
    Problem::NotText {
        path,
        hint: match format {
            Some(_) => "only a program for such files can read it",
            None => "read_file shows its bytes when `escape` is true",
        },
        what: format.map_or(found, str::to_owned),
    }
}

/// Which part of a text is wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    /// From 1.
    pub(crate) first_line: u64,
    /// In the first line, from 1.
    pub(crate) first_column: u64,
    pub(crate) last_line: u64,
    /// Whatever is not text is written in escapes.
    pub(crate) escape: bool,
    /// The most to take, in characters.
    pub(crate) characters: usize,
    /// The most to take, in characters as JSON has them.
    pub(crate) written: usize,
    /// The most to look at.
    pub(crate) bytes: u64,
}

/// A part of a text, and what is known about the whole.
#[derive(Debug)]
pub(crate) struct Excerpt {
    pub(crate) text: String,
    /// The line in which the text ends; the one before the first if it is empty.
    pub(crate) last_line: u64,
    /// The line and the column at which the wanted part goes on.
    pub(crate) next: Option<(u64, u64)>,
    pub(crate) lines: u64,
    pub(crate) characters: u64,
    pub(crate) hash: String,
    pub(crate) byte_order_mark: bool,
}

/// Why no text was taken.
#[derive(Debug)]
pub(crate) enum ExcerptError {
    /// The system refused, or the caller gave up.
    System(io::Error),
    /// The format it has by its first bytes, and what was found in it instead of text.
    NotText(Option<&'static str>, String),
    /// There is more than may be looked at; so much was seen.
    TooLarge(u64),
    /// There are fewer lines.
    FewerLines(u64),
    /// The first line has fewer characters.
    FewerCharacters(u64),
}

/// How many characters of text, as JSON has them, an answer holds beside what is said about it.
pub(crate) fn room(limits: &Limits) -> usize {
    limits.read_characters.max(PASSED_ON) - FACTS
}

/// The first 32 hexadecimal digits of the BLAKE3 hash of a whole file. 128 bits tell any two states of a file apart, also
/// if somebody looks for two that are taken for one another (2^64 attempts).
pub(crate) fn hash_of(bytes: &[u8]) -> String {
    shortened(blake3::hash(bytes))
}

fn shortened(hash: blake3::Hash) -> String {
    let mut text = hash.to_hex().to_string();
    text.truncate(32);
    text
}

/// Takes a part of a text, and looks at the whole of it, which is never kept; asks between two pieces whether to go on.
pub(crate) fn take(
    mut from: impl Read,
    size: u64,
    part: &Part,
    stopped: impl Fn() -> bool,
) -> Result<Excerpt, ExcerptError> {
    let mut taker = Taker::new(part);
    let mut hasher = blake3::Hasher::new();
    // One byte more than the file is said to have, so that its end is seen at once.
    let length = usize::try_from(size).map_or(CHUNK, |size| size.saturating_add(1).clamp(4, CHUNK));
    let mut buffer = vec![0; length];
    let mut seen = 0_u64;
    let mut kept = 0;
    loop {
        if stopped() {
            return Err(ExcerptError::System(io::ErrorKind::TimedOut.into()));
        }
        let end = kept + fill(&mut from, &mut buffer[kept..]).map_err(ExcerptError::System)?;
        let is_last = end < buffer.len();
        hasher.update(&buffer[kept..end]);
        let bytes = &buffer[..end];
        let offset = seen - kept as u64;
        seen += (end - kept) as u64;
        if seen > part.bytes {
            return Err(ExcerptError::TooLarge(seen));
        }
        if offset == 0 {
            taker.format = format_of(bytes);
            taker.look_at_beginning(bytes)?;
        }
        kept = taker.chunk(bytes, offset, is_last)?;
        if is_last {
            return taker.finish(shortened(hasher.finalize()));
        }
        buffer.copy_within(end - kept.., 0);
        // A file that is larger than it was said to be, such as those of /proc.
        buffer.resize(CHUNK, 0);
    }
}

/// Reads until the buffer is full or the file ends.
fn fill(from: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match from.read(rest) {
            Ok(0) => break,
            Ok(read) => filled += read,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(filled)
}

/// How far the reading has come.
#[derive(Debug)]
struct Taker<'p> {
    part: &'p Part,
    text: String,
    /// Characters that may still be taken.
    left: usize,
    state: State,
    /// Line breaks seen.
    breaks: u64,
    characters: u64,
    ends_in_break: bool,
    byte_order_mark: bool,
    format: Option<&'static str>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    /// The first line is not reached.
    Before,
    /// In the first line, with this many characters left before the first column.
    Skipping(u64),
    Taking,
    /// More is wanted than may be taken.
    Full,
    /// The last line is taken.
    Done,
}

impl<'p> Taker<'p> {
    fn new(part: &'p Part) -> Self {
        Self {
            part,
            text: String::new(),
            left: part.characters,
            state: State::Before,
            breaks: 0,
            characters: 0,
            ends_in_break: true,
            byte_order_mark: false,
            format: None,
        }
    }

    /// UTF-32 first, because its mark begins with that of UTF-16 (The Unicode Standard 16.0, section 2.13).
    fn look_at_beginning(&mut self, bytes: &[u8]) -> Result<(), ExcerptError> {
        let encoding = match bytes {
            [0xff, 0xfe, 0, 0, ..] => "UTF-32, little-endian",
            [0, 0, 0xfe, 0xff, ..] => "UTF-32, big-endian",
            [0xff, 0xfe, ..] => "UTF-16, little-endian",
            [0xfe, 0xff, ..] => "UTF-16, big-endian",
            _ => {
                self.byte_order_mark = !self.part.escape && bytes.starts_with(b"\xef\xbb\xbf");
                return Ok(());
            }
        };
        if self.part.escape {
            return Ok(());
        }
        let found = format!("{encoding} by its byte order mark");
        Err(ExcerptError::NotText(None, found))
    }

    /// Looks at a piece, and says how many bytes at its end belong to a character that goes on in the next.
    fn chunk(&mut self, bytes: &[u8], offset: u64, is_last: bool) -> Result<usize, ExcerptError> {
        let (text, rest) = match std::str::from_utf8(bytes) {
            Ok(text) => (Some(text), 0),
            Err(error) if error.error_len().is_none() && !is_last => {
                let (text, rest) = bytes.split_at(error.valid_up_to());
                (std::str::from_utf8(text).ok(), rest.len())
            }
            Err(error) if !self.part.escape => {
                let found = invalid(bytes, error.valid_up_to(), offset);
                return Err(ExcerptError::NotText(self.format, found));
            }
            Err(_) => (None, if is_last { 0 } else { unfinished(bytes) }),
        };
        let bytes = &bytes[..bytes.len() - rest];
        let text = if self.part.escape {
            let mut escaped = String::with_capacity(bytes.len());
            push_escaped(&mut escaped, bytes, |character| {
                matches!(character, '\n' | '\r' | '\t')
            });
            Cow::Owned(escaped)
        } else {
            if let Some(at) = memchr(0, bytes) {
                let found = binary(offset + at as u64);
                return Err(ExcerptError::NotText(self.format, found));
            }
            Cow::Borrowed(text.unwrap_or_default())
        };
        self.take(&text)?;
        Ok(rest)
    }

    fn take(&mut self, text: &str) -> Result<(), ExcerptError> {
        let breaks = memchr_iter(b'\n', text.as_bytes()).count() as u64;
        let line = self.breaks + 1;
        let mut rest = text;
        if self.state == State::Before && line + breaks >= self.part.first_line {
            rest = after_breaks(rest, self.part.first_line - line);
            self.state = State::Skipping(self.part.first_column - 1);
        }
        if let State::Skipping(columns) = self.state {
            rest = self.skip(rest, columns)?;
        }
        if self.state == State::Taking {
            let at = line + breaks - memchr_iter(b'\n', rest.as_bytes()).count() as u64;
            match self.part.last_line.checked_sub(at) {
                Some(further) => self.append(rest, further),
                None => self.state = State::Done,
            }
        }
        self.breaks += breaks;
        self.characters += text.chars().count() as u64;
        if let Some(last) = text.as_bytes().last() {
            self.ends_in_break = *last == b'\n';
        }
        Ok(())
    }

    /// Leaves out the characters before the first column, which must lie in the first line.
    fn skip<'t>(&mut self, text: &'t str, columns: u64) -> Result<&'t str, ExcerptError> {
        let line = first_line(text);
        let characters = line.chars().count() as u64;
        if columns < characters || columns == 0 {
            self.state = State::Taking;
            return Ok(after_characters(text, columns));
        }
        if line.ends_with('\n') {
            return Err(ExcerptError::FewerCharacters(
                self.part.first_column - 1 - columns + characters,
            ));
        }
        self.state = State::Skipping(columns - characters);
        Ok("")
    }

    /// Takes what is wanted of a text, which ends after as many further lines as are given.
    fn append(&mut self, text: &str, lines: u64) {
        let wanted = &text[..text.len() - after_breaks(text, lines.saturating_add(1)).len()];
        let fits = if wanted.len() <= self.left {
            wanted
        } else {
            &wanted[..wanted.len() - after_characters(wanted, self.left as u64).len()]
        };
        self.text.push_str(fits);
        self.left -= fits.chars().count();
        if fits.len() < wanted.len() {
            self.state = State::Full;
        } else if wanted.len() < text.len() {
            self.state = State::Done;
        }
    }

    fn finish(mut self, hash: String) -> Result<Excerpt, ExcerptError> {
        let lines = self.breaks + u64::from(!self.ends_in_break);
        let Part {
            first_line,
            first_column,
            written: room,
            ..
        } = *self.part;
        // An empty file has a beginning too.
        if first_line > lines.max(1) {
            return Err(ExcerptError::FewerLines(lines));
        }
        if let State::Skipping(columns) = self.state {
            return Err(ExcerptError::FewerCharacters(first_column - 1 - columns));
        }
        let mut is_cut = self.state == State::Full;
        // Most texts are so short that they fit however they are written.
        if self.text.len().saturating_mul(1 + ADDED) > room {
            let fits = fitting(&self.text, room);
            is_cut |= fits < self.text.len();
            self.text.truncate(fits);
        }
        if is_cut && let Some(end) = self.text.rfind('\n') {
            self.text.truncate(end + 1);
        }
        let breaks = memchr_iter(b'\n', self.text.as_bytes()).count() as u64;
        let is_open = !self.text.is_empty() && !self.text.ends_with('\n');
        let next = is_cut.then(|| match (breaks, is_open) {
            (0, _) => (first_line, first_column + self.text.chars().count() as u64),
            (breaks, _) => (first_line + breaks, 1),
        });
        Ok(Excerpt {
            last_line: first_line + breaks + u64::from(is_open) - 1,
            next,
            lines,
            characters: self.characters,
            hash,
            byte_order_mark: self.byte_order_mark && first_line == 1 && first_column == 1,
            text: self.text,
        })
    }
}

fn binary(offset: u64) -> String {
    format!("binary (a zero byte at offset {offset})")
}

/// A zero byte says more than the byte that is not UTF-8.
pub(super) fn invalid(bytes: &[u8], at: usize, offset: u64) -> String {
    match memchr(0, bytes) {
        Some(zero) => binary(offset + zero as u64),
        None => format!(
            "in another encoding or binary (the byte 0x{:02x} at offset {})",
            bytes.get(at).copied().unwrap_or_default(),
            offset + at as u64
        ),
    }
}

/// How many bytes at the end may be the beginning of a character.
fn unfinished(bytes: &[u8]) -> usize {
    let last = bytes.utf8_chunks().last();
    let rest = last.map_or(0, |chunk| chunk.invalid().len());
    let tail = &bytes[bytes.len() - rest..];
    let may_go_on = std::str::from_utf8(tail).is_err_and(|error| error.error_len().is_none());
    if may_go_on { rest } else { 0 }
}
