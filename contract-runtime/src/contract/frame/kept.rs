//! Judges postconditions, and keeps what they need from before the body.

use super::pass::Neighbours;
use super::{Detection, FrameOf, NotJudged, Policy, Stop};

/// What a postcondition kept from before the body; `None` if the postcondition will not be judged.
#[derive(Debug)]
pub struct Kept<S>(pub(super) Option<Result<S, Detection>>);

impl FrameOf<'_> {
    /// Judges a postcondition that looks at the result alone.
    ///
    /// # Errors
    ///
    /// The violation, where the condition is enforced.
    #[inline]
    pub fn post(
        &mut self,
        index: usize,
        own: Option<Policy>,
        condition: Neighbours<'_>,
    ) -> Result<(), Stop> {
        if !self.reach(index, own) {
            return Ok(());
        }
        self.post_of_kept(index, condition)
    }

    /// Returns what a postcondition kept from before the body, if it is to be judged.
    ///
    /// # Errors
    ///
    /// The violation of a condition that is enforced and could not keep what it needs.
    #[inline]
    pub fn kept<S>(
        &mut self,
        index: usize,
        own: Option<Policy>,
        kept: Kept<S>,
    ) -> Result<Option<S>, Stop> {
        if !self.reach(index, own) {
            return Ok(None);
        }
        match kept.0 {
            Some(Ok(kept)) => Ok(Some(kept)),
            Some(Err(detection)) => self.fail_by(index, detection, None, &|_| {}).map(|()| None),
            None => Ok(None),
        }
    }

    /// Judges a postcondition that has what it kept.
    ///
    /// # Errors
    ///
    /// The violation, where the condition is enforced.
    #[inline]
    pub fn post_of_kept(&mut self, index: usize, condition: Neighbours<'_>) -> Result<(), Stop> {
        match self.judge_one() {
            Ok(_judging) => self.judge_at(index, 0, condition),
            Err(NotJudged) => Ok(()),
        }
    }
}

/// Lets a postcondition look at the result.
#[inline]
pub fn look<T: ?Sized, R>(value: &T, at: impl Fn(&T) -> R) -> R {
    at(value)
}

/// What a parameter must be that a postcondition looks at after the body has had it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is moved into the body and read after it, so it must be `Clone`",
    label = "a copy is kept for the postcondition",
    note = "write `old(..)` around what the postcondition needs of it, such as `old(x.len())`"
)]
pub trait Keep: Clone {}

#[diagnostic::do_not_recommend]
impl<T: Clone> Keep for T {}

/// Copies a parameter before the body has it.
pub fn keep<T: Keep>(value: &T) -> T {
    value.clone()
}
