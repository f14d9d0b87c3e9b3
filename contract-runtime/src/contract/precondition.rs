//! What a precondition may be in generated code: a closure that only looks at what it names.

use std::panic::{AssertUnwindSafe, catch_unwind};

use super::condition_result::Checked;
use super::details::Details;
use super::frame::{FrameOf, Stop};
use super::policy::Policy;

/// A trait of its own instead of a bound of `FrameOf::pre`: the compiler then says in one sentence that a condition moves or
/// changes something, where it would report a closure that does not implement `Fn`, and then each use of what was moved.
#[diagnostic::on_unimplemented(
    message = "a condition looks at what it names, and this one moves or changes it",
    label = "moves or changes a variable",
    note = "borrow it, as in `is_valid(&name)` and `name.as_deref()`, or give away a `.clone()`"
)]
pub trait Precondition {
    /// Judges a precondition.
    ///
    /// # Errors
    ///
    /// Why the body does not run.
    fn pre(
        self,
        frame: &mut FrameOf<'_>,
        index: usize,
        own: Option<Policy>,
        details: impl Fn(&mut Details<'_>),
    ) -> Result<(), Stop>;

    /// Judges a precondition that asks a person.
    ///
    /// # Errors
    ///
    /// Why the body does not run.
    fn pre_or_ask(
        self,
        frame: &mut FrameOf<'_>,
        index: usize,
        own: Option<Policy>,
        details: impl Fn(&mut Details<'_>),
    ) -> Result<(), Stop>;

    /// Judges a precondition that asks the history.
    ///
    /// # Errors
    ///
    /// Why the body does not run.
    fn pre_over_history(
        self,
        frame: &mut FrameOf<'_>,
        index: usize,
        own: Option<Policy>,
        details: impl Fn(&mut Details<'_>),
    ) -> Result<(), Stop>;
}

#[diagnostic::do_not_recommend]
impl<F: Fn() -> Checked> Precondition for F {
    #[inline]
    fn pre(
        self,
        frame: &mut FrameOf<'_>,
        index: usize,
        own: Option<Policy>,
        details: impl Fn(&mut Details<'_>),
    ) -> Result<(), Stop> {
        // Written here, because each further step would be compiled again for each condition.
        if !frame.reach(index, own) {
            return Ok(());
        }
        match catch_unwind(AssertUnwindSafe(self)) {
            Ok(Checked::Holds) => Ok(()),
            // Taken apart, so that nothing is left to drop where a condition holds.
            Ok(Checked::Fails(why)) => frame.fail(index, why, &details),
            Err(payload) => frame.fail_by_panic(index, payload, &details),
        }
    }

    #[inline]
    fn pre_or_ask(
        self,
        frame: &mut FrameOf<'_>,
        index: usize,
        own: Option<Policy>,
        details: impl Fn(&mut Details<'_>),
    ) -> Result<(), Stop> {
        frame.pre_or_ask(index, own, self, details)
    }

    #[inline]
    fn pre_over_history(
        self,
        frame: &mut FrameOf<'_>,
        index: usize,
        own: Option<Policy>,
        details: impl Fn(&mut Details<'_>),
    ) -> Result<(), Stop> {
        frame.pre_over_history(index, own, self, details)
    }
}
