//! What `#[given(..)]` looks up, and how it ends a call where there is nothing.

use std::fmt::Display;

use super::frame::Stop;

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
        self.map_err(|error| super::details::bounded(&format_args!("{error}")))
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
