//! The step from the conditions to the body, and what is known of a call that never makes it.

use super::{FrameOf, Phase, Stop};
use crate::contract::nesting;
use crate::contract::scope;
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

    /// The call ends before its body.
    #[cold]
    pub(super) fn never_entered(&self) {
        if self.phase == Phase::Counted {
            nesting::end();
        }
        if !self.named {
            return;
        }
        if self.scope.get().is_some() {
            self.scope.set_phase(scope::Phase::BeforeBody);
        } else {
            with_current(|scope| scope.set_phase(scope::Phase::BeforeBody));
        }
    }
}
