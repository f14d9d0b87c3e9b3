//! When a search must end.

use std::sync::OnceLock;
use std::time::Instant;

use contract_runtime::prelude::CancellationToken;

use super::Stop;

/// Tells every thread of a search whether it may go on.
#[derive(Debug)]
pub(super) struct Budget<'c> {
    end: Option<Instant>,
    cancelled: &'c CancellationToken,
    /// Set once it has ended: why, unless because there are hits enough.
    over: OnceLock<Option<Stop>>,
}

impl<'c> Budget<'c> {
    pub(super) fn new(end: Option<Instant>, cancelled: &'c CancellationToken) -> Self {
        Self {
            end,
            cancelled,
            over: OnceLock::new(),
        }
    }

    /// Looks at the clock and the token; called before every piece of work that may take long.
    pub(super) fn is_spent(&self) -> bool {
        if self.is_over() {
            return true;
        }
        let stop = if self.cancelled.is_cancelled() {
            Stop::Cancelled
        } else if self.end.is_some_and(|end| Instant::now() >= end) {
            Stop::Time
        } else {
            return false;
        };
        // The first reason stays.
        let _ = self.over.set(Some(stop));
        true
    }

    /// Whether some thread has seen the end; costs next to nothing.
    pub(super) fn is_over(&self) -> bool {
        self.over.get().is_some()
    }

    /// There are hits enough.
    pub(super) fn close(&self) {
        let _ = self.over.set(None);
    }

    /// Why the search ended, unless by itself.
    pub(super) fn reason(&self) -> Option<Stop> {
        self.over.get().copied().flatten()
    }
}
