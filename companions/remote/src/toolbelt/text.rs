//! Removes invisible and bidirectional control characters from untrusted text.

use contract_runtime::__family::unsafe_to_show;

/// Removes control, bidirectional and invisible characters from a text, and truncates it.
pub(crate) fn sanitize(text: &str, most: usize) -> String {
    text.chars()
        .filter(|c| is_visible_char(*c))
        .take(most)
        .collect()
}

/// Whether a text has no hidden characters.
pub(super) fn is_visible(text: &str) -> bool {
    text.chars().all(is_visible_char)
}

fn is_visible_char(c: char) -> bool {
    c == '\n' || !unsafe_to_show(c)
}

/// Removes control and bidirectional formatting characters from prose, and truncates it.
///
/// Joiners and non-joiners stay: some scripts need them.
pub(crate) fn sanitize_prose(text: &str, most: usize) -> String {
    text.chars()
        .filter(|c| is_prose_char(*c))
        .take(most)
        .collect()
}

/// UAX 9, section 2, 2023: embeddings, overrides and isolates.
fn is_prose_char(c: char) -> bool {
    match c {
        '\n' | '\t' => true,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => false,
        c => !c.is_control(),
    }
}
