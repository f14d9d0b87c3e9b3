//! What generated code demands of an author's values: of conditions, of what a given looks up, and of what is kept for a postcondition.

use std::fmt::Display;

use super::details::bounded;
use super::frame::Stop;

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

/// What `else ".."` opens.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an `Option`",
    label = "an `else` with a sentence opens an `Option`",
    note = "a bare `else` opens a `Result`, whose error is the sentence"
)]
pub trait Present {
    /// What is there.
    type Value;

    /// Returns what is there, if anything is.
    fn present(self) -> Option<Self::Value>;
}

#[diagnostic::do_not_recommend]
impl<T> Present for Option<T> {
    type Value = T;

    #[inline]
    fn present(self) -> Self {
        self
    }
}

/// What a bare `else` opens.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a `Result` whose error can be displayed",
    label = "a bare `else` opens a `Result`, whose error is the sentence",
    note = "an `Option` needs a sentence; write `else \"..\"`"
)]
pub trait Opened {
    /// The `Ok` value.
    type Value;

    /// The value, or what the error says.
    ///
    /// # Errors
    ///
    /// The sentence of the error.
    fn opened(self) -> Result<Self::Value, String>;
}

#[diagnostic::do_not_recommend]
impl<T, E: Display> Opened for Result<T, E> {
    type Value = T;

    #[inline]
    fn opened(self) -> Result<T, String> {
        self.map_err(|error| bounded(&format_args!("{error}")))
    }
}

/// What the judged form of such a function returns: its own error, so that `?` does, and in `Ok` the value or the end.
pub type JudgedForm<F> = Result<Result<<F as Fallible>::Value, Stop>, <F as Fallible>::Error>;

/// What a function returns whose givens return its own error with `?`.
#[diagnostic::on_unimplemented(
    message = "a given returns its error with `?`, and `{Self}` is not a `Result`",
    label = "this function cannot return an error",
    note = "return a `Result`, or open the value with `else`"
)]
pub trait Fallible: Sized {
    /// The `Ok` value.
    type Value;
    /// The function's own error.
    type Error;

    /// The value where `?` leaves the error alone.
    ///
    /// # Errors
    ///
    /// The function's own error.
    fn judged(self) -> JudgedForm<Self>;

    /// What the function returns, from all that its judged form can return.
    ///
    /// # Errors
    ///
    /// Why a contracted function gave no result.
    fn flatten(judged: JudgedForm<Self>) -> Result<Self, Stop>;
}

#[diagnostic::do_not_recommend]
impl<T, E> Fallible for Result<T, E> {
    type Value = T;
    type Error = E;

    #[inline]
    fn judged(self) -> Result<Result<T, Stop>, E> {
        self.map(Ok)
    }

    #[inline]
    fn flatten(judged: Result<Result<T, Stop>, E>) -> Result<Self, Stop> {
        match judged {
            Ok(Ok(value)) => Ok(Ok(value)),
            Ok(Err(stop)) => Err(stop),
            Err(error) => Ok(Err(error)),
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
