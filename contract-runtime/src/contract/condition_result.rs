//! What a condition evaluates to: a `bool`, or a `Result` whose error says what is wrong.

use std::fmt::Display;

use super::details::bounded;

/// The answer of a condition.
#[doc(hidden)]
#[derive(Debug, PartialEq, Eq)]
pub enum Checked {
    Holds,
    /// With the sentence that the condition itself gave, if it gave one.
    #[allow(
        clippy::box_collection,
        reason = "so small, an answer stays in registers"
    )]
    Fails(Option<Box<String>>),
}

/// What a condition may be: a `bool`, or a `Result<(), E>` whose error is the sentence of the violation.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// fn in_stock(item: &str) -> Result<(), String> {
///     match item {
///         "lamp" => Ok(()),
///         other => Err(format!("{other} is sold out")),
///     }
/// }
///
/// #[pre(in_stock(item))]
/// fn order(item: &str) {}
///
/// let violation = contract_runtime::catch(|| order("chair")).unwrap_err();
/// assert_eq!(violation.message.as_deref(), Some("chair is sold out"));
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a condition",
    label = "expected `bool`, or a `Result<(), E>` whose error has `Display` and says what is wrong"
)]
pub trait ConditionResult {
    #[doc(hidden)]
    fn checked(self) -> Checked;
}

#[diagnostic::do_not_recommend]
impl ConditionResult for bool {
    #[inline]
    fn checked(self) -> Checked {
        if self {
            Checked::Holds
        } else {
            Checked::Fails(None)
        }
    }
}

#[diagnostic::do_not_recommend]
impl<E: Display> ConditionResult for Result<(), E> {
    #[inline]
    fn checked(self) -> Checked {
        match self {
            Ok(()) => Checked::Holds,
            Err(error) => Checked::fails(&error),
        }
    }
}

impl Checked {
    /// An error that says nothing is as good as `false`.
    #[cold]
    fn fails(error: &dyn Display) -> Self {
        let sentence = bounded(&format_args!("{error}"));
        Self::Fails((!sentence.trim().is_empty()).then(|| Box::new(sentence)))
    }
}

/// What a precondition may be in generated code: a closure that only looks at what it names.
///
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
