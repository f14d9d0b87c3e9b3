//! How a name is written for a model, and read again when it is given back.

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::os::unix::ffi::OsStringExt as _;
use std::path::{Path, PathBuf};

/// A text for people, terminals and models: control characters, and those that change the direction of text, are written
/// as `\u{7}`.
pub(crate) fn escape(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    push_visible(&mut shown, text, |_| false);
    shown
}

/// A path as a result shows it, and as every argument takes it: see [`unescape`].
pub(crate) fn escape_path(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let mut shown = String::with_capacity(bytes.len());
    push_escaped(&mut shown, bytes, |_| false);
    shown
}

/// Writes bytes so that nothing is lost: those that are not UTF-8 as `\xff`, a backslash as `\\`, and what cannot be seen as
/// `\u{7}`, except for the characters that are to be kept.
pub(crate) fn push_escaped(text: &mut String, bytes: &[u8], kept: fn(char) -> bool) {
    for chunk in bytes.utf8_chunks() {
        let mut parts = chunk.valid().split('\\');
        if let Some(first) = parts.next() {
            push_visible(text, first, kept);
        }
        for part in parts {
            text.push_str(r"\\");
            push_visible(text, part, kept);
        }
        for byte in chunk.invalid() {
            // Writing to a string cannot fail.
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
}

fn push_visible(shown: &mut String, text: &str, kept: fn(char) -> bool) {
    for character in text.chars() {
        if (character.is_control() || is_invisible(character)) && !kept(character) {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
    }
}

/// The path that a text stands for: as it is written, with `\\`, `\xff` and `\u{7}` as [`escape_path`] writes them. Nothing if
/// a backslash is followed by anything else, or stands for a zero byte.
///
/// Every name has one spelling and every spelling one name, so a file is never taken for another with a similar name.
pub(crate) fn unescape(text: &str) -> Option<Cow<'_, Path>> {
    if !text.contains('\\') {
        return Some(Cow::Borrowed(Path::new(text)));
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, escape)) = rest.split_once('\\') {
        bytes.extend_from_slice(before.as_bytes());
        rest = if let Some(rest) = escape.strip_prefix('\\') {
            bytes.push(b'\\');
            rest
        } else if let Some(escape) = escape.strip_prefix('x') {
            let (digits, rest) = escape.split_at_checked(2)?;
            bytes.push(u8::try_from(hexadecimal(digits)?).ok()?);
            rest
        } else {
            let (digits, rest) = escape.strip_prefix("u{")?.split_once('}')?;
            let character = char::from_u32(hexadecimal(digits)?)?;
            bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
            rest
        };
    }
    bytes.extend_from_slice(rest.as_bytes());
    (!bytes.contains(&0)).then(|| Cow::Owned(PathBuf::from(OsString::from_vec(bytes))))
}

/// `from_str_radix` would take a sign.
fn hexadecimal(digits: &str) -> Option<u32> {
    let all = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    all.then(|| u32::from_str_radix(digits, 16).ok())?
}

/// Characters without a shape of their own, which can hide in a text or change its direction: zero-width ones, breaks,
/// marks of direction, tags (Unicode Standard Annex 9, Unicode Bidirectional Algorithm, 2024; Technical Report 36, Unicode
/// Security Considerations, 2014; The Unicode Standard 16.0, sections 23.2 and 23.9).
pub(super) fn is_invisible(character: char) -> bool {
    matches!(character,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_name_that_cannot_be_seen_is_written_in_one_way() {
        let cases: [(&[u8], &str); 8] = [
            (b"plain name.txt", "plain name.txt"),
            (b"caf\xc3\xa9", "caf\u{e9}"),
            (b"caf\xe9", r"caf\xe9"),
            (br"a\b", r"a\\b"),
            (br"\u{7}", r"\\u{7}"),
            (b"\x07\n", r"\u{7}\u{a}"),
            ("x\u{202e}txt".as_bytes(), r"x\u{202e}txt"),
            (b"", ""),
        ];
        for (name, spelling) in cases {
            let path = Path::new(OsStr::from_bytes(name));
            assert_eq!(escape_path(path), spelling);
            assert_eq!(unescape(spelling).as_deref(), Some(path));
        }
    }

    #[test]
    fn a_backslash_that_stands_for_nothing_is_refused() {
        let refused = [
            r"src\main.rs",
            r"a\",
            r"\x",
            r"\x4",
            r"\xg0",
            r"\x+1",
            r"\u",
            r"\u{",
            r"\u{}",
            r"\u{110000}",
            r"\u{d800}",
            r"\u{+7}",
            r"\x00",
            r"\u{0}",
            r"\n",
            r"\u00e9",
            "\\x\u{e9}\u{e9}",
        ];
        for text in refused {
            assert_eq!(unescape(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn every_name_comes_back_from_its_spelling(name in prop::collection::vec(1_u8.., 0..40)) {
            let path = Path::new(OsStr::from_bytes(&name));
            let spelling = escape_path(path);
            prop_assert!(!spelling.chars().any(char::is_control));
            let back = unescape(&spelling);
            prop_assert_eq!(back.as_deref(), Some(path));
        }

        #[test]
        fn no_text_is_too_strange_to_be_spelled(text in r"([\\xu{}0-9a-f]|\PC|.){0,30}") {
            let _ = unescape(&text);
        }
    }
}
