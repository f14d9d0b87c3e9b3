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
