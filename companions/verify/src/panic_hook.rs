//! Suppresses the output of expected panics.
//!
//! The panic hook is global to the process, so it is wrapped once, and looks up what the panicking thread wants.

use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::{Arc, Once};

use parking_lot::Mutex;
thread_local! {
    /// Captures the panics of this thread; without it they go to the previous hook.
    static CAPTURE: RefCell<Option<LastPanic>> = const { RefCell::new(None) };
}

/// The message of the last panic, of all threads that capture into it.
#[derive(Clone, Debug, Default)]
pub(super) struct LastPanic(Arc<Mutex<Option<String>>>);

impl LastPanic {
    /// Captures the panics of this thread from now on instead of printing them.
    pub(super) fn install(&self) {
        wrap_the_hook();
        replace(Some(self.clone()));
    }

    /// Takes the message of the last panic, with its location.
    pub(super) fn take(&self) -> Option<String> {
        let mut last = self.0.lock();
        last.take()
    }
}

/// Runs code whose panics are caught and expected, without printing them.
pub(super) fn suppress<T>(run: impl FnOnce() -> T) -> T {
    capture(|_| run())
}

/// Runs code whose panics are expected, and passes it the message of the last one.
pub(super) fn capture<T>(run: impl FnOnce(&LastPanic) -> T) -> T {
    struct Restore(Option<LastPanic>);
    impl Drop for Restore {
        fn drop(&mut self) {
            replace(self.0.take());
        }
    }
    let _restore = Restore(replace(None));
    let last = LastPanic::default();
    last.install();
    run(&last)
}

/// Does nothing on a thread that is ending.
fn replace(last: Option<LastPanic>) -> Option<LastPanic> {
    CAPTURE
        .try_with(|capture| capture.replace(last))
        .ok()
        .flatten()
}

fn wrap_the_hook() {
    static WRAPPED: Once = Once::new();
    WRAPPED.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            // A thread that is ending has no thread-local value left.
            let capture = CAPTURE
                .try_with(|capture| capture.borrow().clone())
                .ok()
                .flatten();
            match capture {
                Some(capture) => {
                    let mut last = capture.0.lock();
                    *last = Some(describe(info));
                }
                None => before(info),
            }
        }));
    });
}

fn describe(info: &PanicHookInfo<'_>) -> String {
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
