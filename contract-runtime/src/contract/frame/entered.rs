//! The step from the conditions to the body, and what is known of a call that never makes it.

use std::sync::atomic::Ordering;

use super::{FrameOf, Phase, Stop};
use crate::contract::nesting;
use crate::contract::scope::{ContractScope, Scope};
use crate::contract::thread::with_current;

impl FrameOf<'_> {
    /// The last step before the body.
    #[inline]
    pub fn enter(&mut self) -> Result<(), Stop> {
        if !self.is_plain {
            self.enter_otherwise()?;
        }
        if self.phase == Phase::Counted {
            nesting::end();
        }
        self.phase = Phase::Entered;
        Ok(())
    }

    #[cold]
    fn enter_otherwise(&mut self) -> Result<(), Stop> {
        if self.open.is_some() {
            self.ask_open()?;
        }
        if self.only_check {
            return Err(Stop::BeforeBody);
        }
        if self.is_watched() {
            self.tell_of_body();
        }
        if let Some(place) = self.place() {
            place.enter();
        }
        Ok(())
    }

    /// The call ends before its body, which its caller may have to be told.
    #[cold]
    pub(super) fn never_entered(&self) {
        if self.phase == Phase::Counted {
            nesting::end();
        }
        if !self.named {
            return;
        }
        let note = |scope: &ContractScope| {
            if let Some(scope) = scope.get() {
                scope.never_entered.store(true, Ordering::Release);
            }
        };
        if self.scope.get().is_some() {
            note(&self.scope);
        } else {
            with_current(note);
        }
    }
}

impl Scope {
    /// Whether nothing of the body has run, of a call that was given up.
    pub(crate) fn ended_before_body(&self) -> bool {
        self.never_entered.load(Ordering::Acquire)
    }
}
