//! What several topics need.

#![allow(dead_code, reason = "no binary uses all of it")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use contract_runtime::Status;
use contract_runtime::prelude::*;

/// What happened, in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, event: impl Into<String>) {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(event.into());
    }

    /// Adds an event and gives the verdict on, so that a predicate shows that it was evaluated.
    pub(crate) fn judge(&self, event: &str, verdict: bool) -> bool {
        self.add(event);
        verdict
    }

    pub(crate) fn take(&self) -> Vec<String> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// How often something happened.
#[derive(Clone, Debug, Default)]
pub(crate) struct Count(Arc<AtomicUsize>);

impl Count {
    pub(crate) fn up(&self) -> usize {
        self.0.fetch_add(1, Ordering::SeqCst) + 1
    }

    pub(crate) fn get(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }

    pub(crate) fn take(&self) -> usize {
        self.0.swap(0, Ordering::SeqCst)
    }
}

/// A call from a thread that runs no async code.
pub(crate) fn call(registry: &Registry, name: &str, arguments: &str) -> Outcome {
    registry
        .call(ToolCall::new("1", name, arguments))
        .blocking()
}

/// The output of a call that must succeed.
#[track_caller]
pub(crate) fn output(registry: &Registry, name: &str, arguments: &str) -> String {
    let outcome = call(registry, name, arguments);
    match outcome.output() {
        Some(output) => output.to_owned(),
        None => panic!(
            "{name}({arguments}) ended as {}: {}",
            outcome.status(),
            outcome.error().unwrap_or_default()
        ),
    }
}

/// How a call ended, and what was said about it.
pub(crate) fn ended(registry: &Registry, name: &str, arguments: &str) -> (Status, String) {
    let outcome = call(registry, name, arguments);
    let error = outcome.error().unwrap_or_default();
    (outcome.status(), error.to_owned())
}
