//! Places in a text, counted in lines, in characters, and in the characters of JSON.

use memchr::{memchr, memchr_iter};

/// What JSON adds to a character at most: `\u0001`.
pub(super) const ADDED: usize = 5;

/// The characters of a text as JSON has them, without quotes around it (RFC 8259, section 7, as `serde_json` writes it).
pub(crate) fn json_length(text: &str) -> usize {
    text.chars().count() + text.bytes().map(added).sum::<usize>()
}

/// Returns how many characters of JSON a character takes.
pub(crate) fn json_width(character: char) -> usize {
    1 + u8::try_from(character).map_or(0, added)
}

fn added(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 0x08 | 0x0c => 1,
        0..0x20 => ADDED,
        _ => 0,
    }
}

/// With its break.
pub(super) fn first_line(text: &str) -> &str {
    memchr(b'\n', text.as_bytes()).map_or(text, |at| &text[..=at])
}

/// What follows after this many line breaks; nothing if there are fewer.
pub(super) fn after_breaks(text: &str, breaks: u64) -> &str {
    let Some(last) = breaks.checked_sub(1) else {
        return text;
    };
    let Ok(last) = usize::try_from(last) else {
        return "";
    };
    memchr_iter(b'\n', text.as_bytes())
        .nth(last)
        .map_or("", |at| &text[at + 1..])
}

pub(super) fn after_characters(text: &str, characters: u64) -> &str {
    let Ok(characters) = usize::try_from(characters) else {
        return "";
    };
    text.char_indices()
        .nth(characters)
        .map_or("", |(at, _)| &text[at..])
}

/// How many bytes of a text fit into this many characters of JSON.
pub(super) fn fitting(text: &str, room: usize) -> usize {
    let mut used = 0;
    for (at, character) in text.char_indices() {
        used += json_width(character);
        if used > room {
            return at;
        }
    }
    text.len()
}
