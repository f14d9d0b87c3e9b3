//! What postconditions kept from before the body, and their judging.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Checked, Details, Detection, FrameOf, Stop};

/// What a postcondition kept from before the body; nothing when it will not be judged.
#[derive(Debug)]
pub struct Kept<S>(pub(super) Option<Result<S, Detection>>);

impl Kept<()> {
    /// For a postcondition that looks at the result alone.
    #[must_use]
    pub const fn nothing() -> Self {
        Self(Some(Ok(())))
    }
}

/// Judges one postcondition with everything it may look at.
#[derive(Debug)]
pub struct Judge<'f, 'c> {
    pub(super) frame: &'f mut FrameOf<'c>,
    pub(super) index: usize,
}

impl Judge<'_, '_> {
    /// Evaluates the condition on what was kept, and reports it where it does not hold.
    ///
    /// # Errors
    ///
    /// The violation, where the condition is enforced.
    #[inline]
    pub fn judge<T: ?Sized>(
        &mut self,
        value: &T,
        holds: impl Fn(&T) -> Checked,
        details: impl Fn(&mut Details<'_>, &T),
    ) -> Result<(), Stop> {
        let details = |seen: &mut Details<'_>| details(seen, value);
        match catch_unwind(AssertUnwindSafe(|| holds(value))) {
            Ok(Checked::Holds) => Ok(()),
            Ok(Checked::Fails(why)) => self.frame.fail(self.index, why, &details),
            Err(payload) => self.frame.fail_by_panic(self.index, payload, &details),
        }
    }
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
