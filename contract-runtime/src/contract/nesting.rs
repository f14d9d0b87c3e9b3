//! Counts nested condition evaluations on a thread.
//!
//! Conditions that call each other without end would end with the stack, and with it the process. A body that calls itself
//! is not counted. Calls by name have a depth of their own, in their scope.

use std::cell::Cell;

use super::thread::notice_end;

/// The most conditions inside one another, as for calls by name: with 100 kB of stack for each, most of it their author's, they
/// still fit the 2 MiB that a thread has unless told otherwise.
pub(crate) const DEEPEST: u32 = 16;

/// Added to the count when it has been reached: until the outermost condition is over, no further one is judged. Two calls
/// in each condition, observed, would otherwise be judged 2^16 times. A thread begins with it too, so that the first
/// condition is not judged without a closer look.
const EXHAUSTED: u32 = 1 << 31;

thread_local! {
    static DEPTH: Cell<u32> = const { Cell::new(EXHAUSTED) };
}

/// Begins to judge a condition. Returns false if conditions are nested too deeply while a panic unwinds already.
#[inline]
pub(crate) fn begin() -> bool {
    let depth = DEPTH.get();
    if depth >= DEEPEST {
        return begin_anew(depth);
    }
    DEPTH.set(depth + 1);
    true
}

#[inline]
pub(crate) fn end() {
    DEPTH.set(DEPTH.get().wrapping_sub(1));
}

/// The first condition of a thread, or after conditions were too deep.
#[cold]
fn begin_anew(depth: u32) -> bool {
    if depth != EXHAUSTED {
        return refuse(depth);
    }
    notice_end();
    DEPTH.set(1);
    true
}

/// The payload with which a condition that is too deep unwinds to the condition around it.
pub(super) struct TooDeep;

/// Why a condition that is too deep cannot be judged.
pub(crate) fn refusal() -> String {
    format!("conditions call each other more than {DEEPEST} levels deep")
}

/// Unwinds to the condition around this one, which then cannot be judged.
fn refuse(depth: u32) -> bool {
    DEPTH.set(depth | EXHAUSTED);
    if std::thread::panicking() {
        return false;
    }
    std::panic::resume_unwind(Box::new(TooDeep))
}

/// Counts one condition as nested, if it is, until it is dropped.
pub(crate) struct Judging {
    is_nested: bool,
}

impl Judging {
    #[inline]
    pub(crate) fn begin(is_nested: bool) -> Option<Self> {
        // `then_some` would create the guard, and drop it, even if nothing has begun.
        (!is_nested || begin()).then(|| Self { is_nested })
    }
}

impl Drop for Judging {
    #[inline]
    fn drop(&mut self) {
        if self.is_nested {
            end();
        }
    }
}
