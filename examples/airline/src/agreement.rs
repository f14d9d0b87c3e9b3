//! What the user of a recorded conversation would have answered: the stand-in for a person who is asked.
//!
//! It knows words and not meaning, so it errs in both directions; the report counts its refusals apart.

use crate::recording::Turn;

const YES: &str = "yes, yeah, yep, yup, sure, ok, okay, confirm, confirmed, correct, proceed, agree, agreed, absolutely, \
    definitely, perfect, go ahead, please do, do it, sounds good, looks good, that works, works for me, \
    that's fine, that is fine, let's go, go for it";

const NOT_YET: &str = "don't proceed, do not proceed, not yet, before i confirm, before proceeding, before we proceed";

/// What insurance pays for, in the words of those who tell it.
const COVERED: &str = "health, sick, ill, illness, unwell, feeling well, medical, doctor, hospital, surgery, injury, injured, fever, \
    flu, covid, weather, storm, snow, hurricane, tornado, flood";

/// Whether the user agreed to the write that follows.
///
/// A yes in the user's last message covers all writes up to the next one. The first message states the wish, before anybody
/// has listed details.
#[must_use]
pub fn to_write(turns: &[Turn]) -> bool {
    let asked = turns.iter().any(|turn| matches!(turn, Turn::Agent(_)));
    let said = user(turns).next_back().filter(|_| asked);
    said.is_some_and(is_yes)
}

/// Whether a message says yes.
#[must_use]
pub fn is_yes(said: &str) -> bool {
    says(said, YES) && !says(said, NOT_YET)
}

/// Whether the user gave a reason that insurance covers.
#[must_use]
pub fn to_reason(turns: &[Turn]) -> bool {
    user(turns).any(|said| says(said, COVERED))
}

fn user(turns: &[Turn]) -> impl DoubleEndedIterator<Item = &str> {
    turns.iter().filter_map(|turn| match turn {
        Turn::User(text) => Some(text.as_str()),
        _ => None,
    })
}

fn says(said: &str, phrases: &str) -> bool {
    let said = said.to_lowercase().replace('\u{2019}', "'");
    let words = said.split(|c: char| !c.is_alphanumeric() && c != '\'');
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let words = format!(" {} ", words.join(" "));
    phrases
        .split(", ")
        .any(|phrase| words.contains(&format!(" {phrase} ")))
}
