//! Evaluates a predicate on one value outside any call.

use super::slot::Argument;
use crate::contract::condition_result::Checked;

/// Reads the whole text into the slot, or nothing.
#[must_use]
pub fn probe<'c>(text: &'c str, slot: &mut dyn Argument<'c>) -> Option<()> {
    let end = slot.read(text, 0).ok()??;
    (end == text.len()).then_some(())
}

/// Evaluates a predicate in a closure, as a check does, so that it means the same and is refused in the same words.
#[must_use]
pub fn asked(holds: impl FnOnce() -> Checked) -> Option<bool> {
    Some(holds() == Checked::Holds)
}
