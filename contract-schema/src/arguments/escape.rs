//! Values from a model, escaped and shortened for messages.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::node::Node;

/// The most characters of one value.
const LONGEST: usize = 60;

/// At most `limit` characters of `text`, never half of one.
pub fn clip(text: &str, limit: usize) -> Cow<'_, str> {
    if text.char_indices().nth(limit).is_none() {
        return Cow::Borrowed(text);
    }
    let kept: String = text.chars().take(limit.saturating_sub(1)).collect();
    Cow::Owned(kept + "…")
}

/// Escapes the characters of a text that move the cursor, hide or reorder others.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            _ if unsafe_to_show(character) => {
                let _ = write!(out, "\\u{{{:x}}}", u32::from(character));
            }
            _ => out.push(character),
        }
    }
    out
}

/// Whether a character is unsafe to show: control, zero-width and direction characters, and letters without a shape (Unicode,
/// "Default ignorable", UAX 9 section 2).
#[must_use]
pub fn unsafe_to_show(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{feff}' | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}'
        )
}

/// `text` between quotes, escaped and cut.
pub(super) fn quoted(text: &str) -> String {
    let start: String = text.chars().take(LONGEST + 1).collect();
    let safe = escaped(&start.replace('\\', "\\\\").replace('"', "\\\""));
    format!("\"{}\"", clip(&safe, LONGEST))
}

/// What was given, in words.
pub(super) fn given(node: &Node, secret: bool) -> String {
    match node {
        Node::Null => "null".to_owned(),
        Node::Bool(_) if secret => "a boolean (not shown)".to_owned(),
        Node::Number(_) | Node::Literal(_) if secret => "a number (not shown)".to_owned(),
        Node::String(_) if secret => "a string (not shown)".to_owned(),
        Node::Array(_) if secret => "an array (not shown)".to_owned(),
        Node::Object(_) if secret => "an object (not shown)".to_owned(),
        Node::Bool(flag) => flag.to_string(),
        Node::Number(number) => format!("the number {number}"),
        Node::Literal(text) => format!("the number {}", clip(text, LONGEST)),
        Node::String(text) => format!("the string {}", quoted(text)),
        Node::Array(items) => match items.len() {
            0 => "an empty array".to_owned(),
            1 => "an array of 1 item".to_owned(),
            count => format!("an array of {count} items"),
        },
        Node::Object(entries) if entries.is_empty() => "an empty object".to_owned(),
        Node::Object(_) => "an object".to_owned(),
    }
}
