//! Violation handlers, and the one of the process.

use std::cell::Cell;
use std::sync::{Arc, RwLock};

use super::panics::{guard, ignore_poison};
use super::violation::Violation;

/// Receives violations; cannot change a decision.
pub(crate) type Handler = Arc<dyn Fn(&Violation) + Send + Sync>;

static PROCESS: RwLock<Option<Handler>> = RwLock::new(None);

/// Sets the process-wide violation handler, which is called where neither a run nor a registry has one.
///
/// A handler must be quick: it runs inside the call. It changes no decision, not even by panicking, and a violation
/// inside a handler is not passed to any handler.
///
/// ```
/// contract_runtime::set_process_handler(|violation| eprintln!("{}", violation.masked()));
/// ```
pub fn set_process_handler(handler: impl Fn(&Violation) + Send + Sync + 'static) {
    let old = ignore_poison(PROCESS.write()).replace(Arc::new(handler));
    // Dropped after the lock is free: the destructor of what a closure holds is not ours.
    drop(old);
}

thread_local! {
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

struct Inside;

impl Drop for Inside {
    fn drop(&mut self) {
        INSIDE.set(false);
    }
}

/// Tells the innermost handler, at most one level deep.
pub(crate) fn tell(own: Option<&Handler>, violation: &Violation) {
    if INSIDE.get() {
        return;
    }
    let handler = own
        .cloned()
        .or_else(|| ignore_poison(PROCESS.read()).clone());
    if let Some(handler) = handler {
        INSIDE.set(true);
        let _inside = Inside;
        // The decision is already taken; what a handler panics with is not worth more than the panic hook's line.
        let _ = guard(|| handler(violation));
    }
}
