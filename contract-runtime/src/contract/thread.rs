//! Thread-local state: the current scope, and whether the thread is ending.

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
