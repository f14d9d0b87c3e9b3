//! Whether the user of a recorded conversation agreed to a write: the stand-in for a user who is asked.
//!
//! It reads the last thing that the user said before the call. A yes covers all writes up to the user's next message. It
//! knows words and not meaning, so it errs in both directions; the report counts its refusals apart.

use crate::consent::Consent;
use crate::recording::Turn;

const YES: [&str; 27] = [
    "yes",
    "yeah",
    "yep",
    "yup",
    "sure",
    "ok",
    "okay",
    "confirm",
    "confirmed",
    "correct",
    "proceed",
    "agree",
    "agreed",
    "absolutely",
    "definitely",
    "perfect",
    "go ahead",
    "please do",
    "do it",
    "sounds good",
    "looks good",
    "that works",
    "works for me",
    "that's fine",
    "that is fine",
    "let's go",
    "go for it",
];

const NOT_YET: [&str; 6] = [
    "don't proceed",
    "do not proceed",
    "not yet",
    "before i confirm",
    "before proceeding",
    "before we proceed",
];

/// Decides from what was said before a write.
#[must_use]
pub fn before(turns: &[Turn]) -> Consent {
    let said = turns.iter().rev().find_map(|turn| match turn {
        Turn::User(text) => Some(text.to_lowercase().replace('\u{2019}', "'")),
        _ => None,
    });
    // The first message states the wish; nobody has listed any details yet.
    let asked = turns.iter().any(|turn| matches!(turn, Turn::Agent(_)));
    let Some(said) = said.filter(|_| asked) else {
        return Consent::Missing;
    };
    let words: String = said
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || c == '\'' {
                c
            } else {
                ' '
            }
        })
        .collect();
    let words = format!(
        " {} ",
        words.split_whitespace().collect::<Vec<_>>().join(" ")
    );
    let says = |phrase: &&str| words.contains(&format!(" {phrase} "));
    if YES.iter().any(says) && !NOT_YET.iter().any(says) {
        Consent::Given
    } else {
        Consent::Missing
    }
}
