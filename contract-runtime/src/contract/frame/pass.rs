//! Judges neighbouring conditions in one pass: one closure for all of them, and one guard against panics around it.
//!
//! Code that is generic over a closure is compiled again for each condition. So a condition is a few lines of a closure that is
//! passed as a pointer, and everything else is compiled once. The functions marked `inline` are small enough to be inlined into
//! the contracted function, where the pointer is known and the indirect call disappears.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Checked, Details, FrameOf, NotJudged, Phase, Policy, STRIPPED, Stop};

/// Neighbouring conditions as one closure. Without details it judges those that the pass wants, and stops at the first that does
/// not hold. With details it fills in those of the condition that the pass has reached.
pub type Neighbours<'n> = &'n dyn Fn(&Pass, Option<&mut Details<'_>>) -> Checked;

/// Which of the neighbouring conditions are judged, and which one was reached last.
#[derive(Debug)]
pub struct Pass {
    wanted: u64,
    reached: Cell<usize>,
}

impl Pass {
    const ALL: u64 = u64::MAX;

    #[inline]
    const fn over(wanted: u64) -> Self {
        Self {
            wanted,
            reached: Cell::new(0),
        }
    }

    /// Creates a pass over one condition, which counts as reached.
    pub(super) const fn of(place: usize) -> Self {
        Self {
            wanted: 1 << place,
            reached: Cell::new(place),
        }
    }

    /// Goes on to the next condition. Returns false if the pass skips it.
    #[must_use]
    #[inline]
    pub fn reaches(&self, place: usize) -> bool {
        let is_wanted = self.wanted & (1 << place) != 0;
        if is_wanted {
            self.reached.set(place);
        }
        is_wanted
    }

    /// Returns which condition was reached last.
    #[must_use]
    #[inline]
    pub fn place(&self) -> usize {
        self.reached.get()
    }
}

/// Why not all conditions of a pass hold.
#[allow(clippy::box_collection, reason = "as the condition gave it")]
pub(super) enum Unmet {
    Fails(Option<Box<String>>),
    Panics(Box<dyn Any + Send>),
}

/// Judges the conditions and catches a panic.
#[inline]
pub(super) fn judged(pass: &Pass, conditions: Neighbours<'_>) -> Result<(), Unmet> {
    match catch_unwind(AssertUnwindSafe(|| conditions(pass, None))) {
        Ok(Checked::Holds) => Ok(()),
        Ok(Checked::Fails(why)) => Err(Unmet::Fails(why)),
        Err(payload) => Err(Unmet::Panics(payload)),
    }
}

impl FrameOf<'_> {
    /// Judges `count` neighbouring preconditions, beginning with the one at `first`.
    ///
    /// # Errors
    ///
    /// The violation of one that is enforced.
    #[inline]
    pub fn pre(
        &mut self,
        first: usize,
        count: usize,
        own: Option<Policy>,
        conditions: Neighbours<'_>,
    ) -> Result<(), Stop> {
        if STRIPPED {
            return Ok(());
        }
        if own.is_some() || !self.is_quiet {
            return self.pre_each(0, first, count, own, conditions);
        }
        let pass = Pass::over(Pass::ALL);
        match judged(&pass, conditions) {
            Ok(()) => {
                self.evaluate(count);
                Ok(())
            }
            Err(unmet) => self.unmet(first, count, pass.place(), unmet, conditions),
        }
    }

    /// Reports the condition that does not hold. If the call goes on, the conditions behind it are judged, too.
    #[cold]
    #[inline(never)]
    fn unmet(
        &mut self,
        first: usize,
        count: usize,
        place: usize,
        unmet: Unmet,
        conditions: Neighbours<'_>,
    ) -> Result<(), Stop> {
        self.evaluate(place + 1);
        self.fail_at(first, place, unmet, conditions)?;
        let next = place + 1;
        self.pre_each(next, first, count, None, conditions)
    }

    /// Judges each condition by itself, beginning with the one at `next`: because an observer is told of each, or because of its policy.
    #[cold]
    #[inline(never)]
    fn pre_each(
        &mut self,
        next: usize,
        first: usize,
        count: usize,
        own: Option<Policy>,
        conditions: Neighbours<'_>,
    ) -> Result<(), Stop> {
        for place in next..count {
            if self.reach(first + place, own) {
                self.judge_before(first, place, conditions)?;
            }
        }
        Ok(())
    }

    /// Judges one condition before the body.
    pub(super) fn judge_before(
        &mut self,
        first: usize,
        place: usize,
        conditions: Neighbours<'_>,
    ) -> Result<(), Stop> {
        if self.phase == Phase::Counted {
            return self.judge_at(first, place, conditions);
        }
        match self.judge_one() {
            Ok(_judging) => self.judge_at(first, place, conditions),
            Err(NotJudged) => Ok(()),
        }
    }

    /// Judges one condition without counting it as nested.
    #[inline]
    pub(super) fn judge_at(
        &mut self,
        first: usize,
        place: usize,
        conditions: Neighbours<'_>,
    ) -> Result<(), Stop> {
        match judged(&Pass::of(place), conditions) {
            Ok(()) => Ok(()),
            Err(unmet) => self.fail_at(first, place, unmet, conditions),
        }
    }

    #[cold]
    #[inline(never)]
    fn fail_at(
        &mut self,
        first: usize,
        place: usize,
        unmet: Unmet,
        conditions: Neighbours<'_>,
    ) -> Result<(), Stop> {
        let details = |seen: &mut Details<'_>| {
            conditions(&Pass::of(place), Some(seen));
        };
        match unmet {
            Unmet::Fails(why) => self.fail(first + place, why, &details),
            Unmet::Panics(payload) => self.fail_by_panic(first + place, payload, &details),
        }
    }
}
