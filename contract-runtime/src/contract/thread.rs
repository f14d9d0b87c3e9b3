//! Thread-local state: the current scope, how deep conditions are nested, and whether the thread is ending.

use std::cell::Cell;
use std::future::{Future, poll_fn};
use std::mem::{ManuallyDrop, forget, replace};
use std::pin::{Pin, pin};
use std::task::Poll;

use super::scope::ContractScope;

thread_local! {
    // It has no destructor, so that it can be used in the destructors of other thread-local values. It is empty by then, because
    // each scope that is entered is left again.
    static CURRENT: ManuallyDrop<Cell<ContractScope>> =
        const { ManuallyDrop::new(Cell::new(ContractScope::EMPTY)) };
    static ALIVE: Alive = const { Alive };
    static DEPTH: Cell<u32> = const { Cell::new(EXHAUSTED) };
}

/// Its destructor makes the thread-local value inaccessible, which tells that the thread is ending.
struct Alive;

impl Drop for Alive {
    fn drop(&mut self) {}
}

/// Registers this thread, so that [`is_ending`] works from here on.
#[inline]
pub(crate) fn notice_end() {
    let _ = ALIVE.try_with(|_| ());
}

/// Returns whether the thread runs the destructors of its thread-local values. A panic that leaves such a destructor aborts.
///
/// The standard library runs the destructor of the value first that was used last. So this is false in the destructors of
/// values that were not used before [`notice_end`] was called first.
pub(crate) fn is_ending() -> bool {
    ALIVE.try_with(|_| ()).is_err()
}

/// Calls `look` with the current scope, which is taken out of its cell meanwhile.
#[inline]
pub(super) fn with_current<T>(look: impl FnOnce(&ContractScope) -> T) -> Option<T> {
    let looked_at = |current: &Cell<ContractScope>| {
        let scope = current.replace(ContractScope::EMPTY);
        let seen = look(&scope);
        // The replaced scope is empty, so there is nothing to drop.
        forget(current.replace(scope));
        seen
    };
    CURRENT.try_with(|current| looked_at(current)).ok()
}

/// Runs code inside a scope.
#[inline]
pub(super) fn within<T>(scope: &mut ContractScope, run: impl FnOnce() -> T) -> T {
    struct Leave<'s>(&'s mut ContractScope);
    impl Drop for Leave<'_> {
        #[inline]
        fn drop(&mut self) {
            exchange(self.0);
        }
    }
    notice_end();
    exchange(scope);
    let _leave = Leave(scope);
    run()
}

#[inline]
fn exchange(scope: &mut ContractScope) {
    let _ = CURRENT.try_with(|current| {
        let entered = replace(scope, ContractScope::EMPTY);
        *scope = current.replace(entered);
    });
}

/// Polls a future inside a scope, and drops it there.
pub(super) async fn polled_within<F: Future>(scope: ContractScope, future: F) -> F::Output {
    struct Inside<'f, F> {
        scope: ContractScope,
        future: Pin<&'f mut Option<F>>,
    }
    impl<F> Drop for Inside<'_, F> {
        fn drop(&mut self) {
            within(&mut self.scope, || self.future.set(None));
        }
    }
    let future = pin!(Some(future));
    let mut inside = Inside { scope, future };
    poll_fn(|task| {
        let Inside { scope, future } = &mut inside;
        let poll = || match future.as_mut().as_pin_mut() {
            Some(future) => future.poll(task),
            None => Poll::Pending,
        };
        within(scope, poll)
    })
    .await
}

/// The most conditions inside one another, as for calls by name. With 100 kB of stack for each, most of it their author's, they
/// still fit the 2 MiB that a thread has unless told otherwise.
///
/// Conditions that call each other without end would end with the stack, and with it the process. Bodies that call themselves are
/// not counted; calls by name are, in their scope.
pub(crate) const DEEPEST: u32 = 16;

/// Added to the count when it has been reached: until the outermost condition is over, no further one is judged. Two calls in each
/// condition, observed, would otherwise be judged 2^16 times. A thread begins with it, so that its first condition is looked at.
const EXHAUSTED: u32 = 1 << 31;

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
