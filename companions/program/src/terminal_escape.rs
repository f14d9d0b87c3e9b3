//! Escapes text for a terminal: no cursor moves, titles, links, or hidden or reversed characters.

use std::fmt::Write as _;

use contract_runtime::__family::escaped;

/// Escapes everything that a terminal would interpret, except line breaks and tabs.
pub(super) fn text(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for piece in text.split_inclusive(['\n', '\t']) {
        let end = piece.len() - usize::from(piece.ends_with(['\n', '\t']));
        let (body, end) = piece.split_at(end);
        // Files from Windows end their lines with `\r\n`.
        let body = match end {
            "\n" => body.strip_suffix('\r').unwrap_or(body),
            _ => body,
        };
        safe.push_str(&escaped(body));
        safe.push_str(end);
    }
    safe
}

/// Escapes JSON text, with the escapes of JSON (RFC 8259, section 7).
pub(super) fn json(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut units = [0; 2];
    for character in text.chars() {
        // In JSON text, control characters occur only between tokens.
        let harmless = matches!(character, '\n' | ' '..='~');
        if harmless || escaped(character.encode_utf8(&mut [0; 4])).starts_with(character) {
            safe.push(character);
            continue;
        }
        for unit in character.encode_utf16(&mut units) {
            // Writing to a `String` cannot fail.
            let _ = write!(safe, "\\u{unit:04x}");
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{json, text};

    #[test]
    fn nothing_that_a_terminal_interprets_is_left() {
        let hostile = "a\u{1b}[2J\u{1b}]0;title\u{7}b\rc\r\n\td\u{9b}31m\u{202e}e\u{200b}\u{7f}\n";
        assert_eq!(
            text(hostile),
            "a\\u{1b}[2J\\u{1b}]0;title\\u{7}b\\u{d}c\n\td\\u{9b}31m\\u{202e}e\\u{200b}\\u{7f}\n"
        );
        assert_eq!(text("größer 漢字 🙂\n"), "größer 漢字 🙂\n");
    }

    proptest! {
        #[test]
        fn escaped_json_says_the_same(value in "\\PC*|.*", more in any::<char>()) {
            let whole = serde_json::json!({ "text": value, "more": more.to_string() });
            let safe = json(&format!("{whole:#}"));
            prop_assert!(!safe.chars().any(|one| one.is_control() && one != '\n'));
            prop_assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), whole);
        }

        #[test]
        fn escaped_text_has_no_controls(value in any::<String>()) {
            prop_assert!(!text(&value).chars().any(|one| one.is_control() && !"\n\t".contains(one)));
        }
    }
}
