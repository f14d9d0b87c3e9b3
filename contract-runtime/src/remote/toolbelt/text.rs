use crate::tool::arguments::unsafe_to_show;

/// A text without the characters that move a cursor, turn a line around or do not show, cut to so many characters.
pub(crate) fn shown(text: &str, most: usize) -> String {
    text.chars().filter(|c| shows(*c)).take(most).collect()
}

/// Whether nothing of a text is hidden from whoever reads it.
pub(super) fn is_shown(text: &str) -> bool {
    text.chars().all(shows)
}

fn shows(c: char) -> bool {
    c == '\n' || !unsafe_to_show(c)
}

/// Prose without the characters that move a cursor or turn a line around, cut to so many characters.
///
/// What joins or parts letters stays: whole languages are written with it.
pub(crate) fn told(text: &str, most: usize) -> String {
    text.chars().filter(|c| tells(*c)).take(most).collect()
}

/// UAX 9, section 2, 2023: embeddings, overrides and isolates.
fn tells(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        c => !c.is_control(),
    }
}
