//! Violations that unwind, by the text with which they do: code that catches a panic on one thread and resumes it on another,
//! as thread pools do, hands on the text and nothing else.

use std::collections::VecDeque;
use std::sync::Mutex;

use super::panics::ignore_poison;
use super::violation::Violation;

/// How many are kept; most are never looked for, and the oldest give way.
const MOST: usize = 32;

static IN_FLIGHT: Mutex<VecDeque<Unwinding>> = Mutex::new(VecDeque::new());

struct Unwinding {
    /// Where its text is, which no other panic has while it unwinds.
    at: usize,
    text: String,
    violation: Violation,
}

/// Keeps a violation that is about to unwind with this text.
#[cold]
pub(super) fn keep(text: &str, violation: &Violation) {
    let mut violation = violation.clone();
    violation.shorten_values();
    let mut all = ignore_poison(IN_FLIGHT.lock());
    if all.len() == MOST {
        all.pop_front();
    }
    all.push_back(Unwinding {
        at: text.as_ptr().addr(),
        text: text.to_owned(),
        violation,
    });
}

/// The violation that unwinds with this very text.
#[cold]
pub(super) fn take(text: &str) -> Option<Violation> {
    let mut all = ignore_poison(IN_FLIGHT.lock());
    let at = text.as_ptr().addr();
    let place = all
        .iter()
        .rposition(|one| one.at == at && one.text == text)?;
    all.remove(place).map(|one| one.violation)
}
