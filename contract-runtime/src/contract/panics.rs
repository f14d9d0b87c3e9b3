//! Catches panics in an author's code, and takes locks that they may have poisoned.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{LockResult, PoisonError};

use super::in_flight;
use super::nesting::TooDeep;
use super::violation::{Detection, Violation};

/// Runs code that is not ours and returns what it panicked with.
///
/// `AssertUnwindSafe` is sound here because nothing the closure may have left half changed is ours: what belongs to the
/// caller is the caller's to judge, as it is when one request of a server panics.
///
/// # Errors
///
/// When the code panics.
pub fn guard<T>(run: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(run)).map_err(Panicked::new)
}

/// A caught panic. Its payload is dropped here, because its destructor may panic again.
#[derive(Debug)]
pub struct Panicked {
    pub(crate) text: Option<String>,
    is_too_deep: bool,
    /// The violation that unwound with this text, wherever it began.
    pub(crate) violation: Option<Box<Violation>>,
}

impl Panicked {
    #[cold]
    pub(super) fn new(payload: Box<dyn Any + Send>) -> Self {
        let text = payload.downcast_ref::<String>();
        let violation = text.and_then(|text| in_flight::take(text)).map(Box::new);
        let text = text.cloned();
        let is_too_deep = payload.is::<TooDeep>();
        discard(payload);
        Self {
            text,
            is_too_deep,
            violation,
        }
    }

    /// Why a condition that panicked could not be judged.
    pub(crate) fn detection(&self) -> Detection {
        // A condition around one that was nested too deeply cannot be judged for the same reason.
        let inner = self.violation.as_ref().map(|violation| violation.detection);
        if self.is_too_deep || inner == Some(Detection::NestedTooDeep) {
            Detection::NestedTooDeep
        } else {
            Detection::Panicked
        }
    }
}

/// Returns the guard of a lock, poisoned or not: no panic leaves a value of this crate half changed.
pub(crate) fn ignore_poison<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

/// Drops a value whose destructor may panic, and whose panic may again have such a destructor.
pub(crate) fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(payload);
    }
}
