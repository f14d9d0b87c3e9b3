//! When a search must end.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Instant;

use contract_runtime::prelude::CancellationToken;

use super::Stop;

/// Tells every thread of a search whether it may go on.
#[derive(Debug)]
pub(super) struct Budget<'c> {
    end: Option<Instant>,
    cancelled: &'c CancellationToken,
    state: AtomicU8,
}

const RUNNING: u8 = 0;
const ENOUGH: u8 = 1;
const TIME: u8 = 2;
const CANCELLED: u8 = 3;

impl<'c> Budget<'c> {
    pub(super) fn new(end: Option<Instant>, cancelled: &'c CancellationToken) -> Self {
        Self {
            end,
            cancelled,
            state: AtomicU8::new(RUNNING),
        }
    }

    /// Looks at the clock and the token; called before every piece of work that may take long.
    pub(super) fn is_spent(&self) -> bool {
        if self.is_over() {
            return true;
        }
        let state = if self.cancelled.is_cancelled() {
            CANCELLED
        } else if self.end.is_some_and(|end| Instant::now() >= end) {
            TIME
        } else {
            return false;
        };
        self.set(state);
        true
    }

    /// Whether some thread has seen the end; costs next to nothing.
    pub(super) fn is_over(&self) -> bool {
        self.state.load(Ordering::Relaxed) != RUNNING
    }

    /// There are hits enough.
    pub(super) fn close(&self) {
        self.set(ENOUGH);
    }

    /// Why the search ended, unless by itself.
    pub(super) fn reason(&self) -> Option<Stop> {
        match self.state.load(Ordering::Relaxed) {
            TIME => Some(Stop::Time),
            CANCELLED => Some(Stop::Cancelled),
            _ => None,
        }
    }

    /// The first reason stays.
    fn set(&self, state: u8) {
        let _ = self
            .state
            .compare_exchange(RUNNING, state, Ordering::Relaxed, Ordering::Relaxed);
    }
}
