//! What a precondition may be in generated code: a closure that only looks at what it names.

use super::condition_result::Checked;

/// A trait of its own instead of the bound `Fn`: the compiler then says in one sentence that a condition moves or changes
/// something, where it would report a closure that does not implement `Fn`, and then each use of what was moved.
#[diagnostic::on_unimplemented(
    message = "a condition looks at what it names, and this one moves or changes it",
    label = "moves or changes a variable",
    note = "borrow it, as in `is_valid(&name)` and `name.as_deref()`, or give away a `.clone()`"
)]
pub trait Precondition {
    /// Asks for the trait, in code that never runs.
    fn looks(self);
}

#[diagnostic::do_not_recommend]
impl<F: Fn() -> Checked> Precondition for F {
    #[inline]
    fn looks(self) {}
}
