//! Panics that are looked for are not printed.
//!
//! The hook of a process is one for all threads, so it is wrapped once and for good, and asks the thread that panics.

use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::{Arc, Mutex, Once, PoisonError};

thread_local! {
    /// Where a panic of this thread goes, if not to the hook that was there before.
    static KEPT: RefCell<Option<Last>> = const { RefCell::new(None) };
}

/// What the last panic said, of all threads that keep it.
#[derive(Clone, Debug, Default)]
pub(super) struct Last(Arc<Mutex<Option<String>>>);

impl Last {
    /// From here on, panics of this thread are kept here and not printed.
    pub(super) fn keep(&self) {
        wrap_the_hook();
        KEPT.set(Some(self.clone()));
    }

    /// What the last panic said, with its place; it is forgotten then.
    pub(super) fn take(&self) -> Option<String> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        last.take()
    }
}

/// Runs code whose panics are caught and expected, without printing them.
pub(super) fn here<T>(run: impl FnOnce() -> T) -> T {
    listening(|_| run())
}

/// The same, for code that asks what a panic said.
pub(super) fn listening<T>(run: impl FnOnce(&Last) -> T) -> T {
    struct Back(Option<Last>);
    impl Drop for Back {
        fn drop(&mut self) {
            KEPT.set(self.0.take());
        }
    }
    let _back = Back(KEPT.take());
    let last = Last::default();
    last.keep();
    run(&last)
}

fn wrap_the_hook() {
    static WRAPPED: Once = Once::new();
    WRAPPED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // A thread that ends has nothing left to ask.
            let kept = KEPT.try_with(|kept| kept.borrow().clone()).ok().flatten();
            match kept {
                Some(kept) => {
                    let mut last = kept.0.lock().unwrap_or_else(PoisonError::into_inner);
                    *last = Some(said(info));
                }
                None => before(info),
            }
        }));
    });
}

fn said(info: &PanicHookInfo<'_>) -> String {
    let payload = info.payload();
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str))
        .unwrap_or("a panic without a text");
    match info.location() {
        Some(place) => format!("{text}, at {place}"),
        None => text.to_owned(),
    }
}
