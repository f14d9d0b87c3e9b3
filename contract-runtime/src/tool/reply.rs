//! Converts what a body returns, by its type.

#![allow(
    clippy::unused_self,
    clippy::unnecessary_wraps,
    reason = "generated code calls methods of one name that the compiler picks by the type"
)]

use std::convert::Infallible;
use std::fmt::Display;
use std::marker::PhantomData;
use std::mem::forget;
use std::ops::Deref;

use schemars::{JsonSchema, SchemaGenerator};
use serde::Serialize;

use super::content::Content;
use super::encode;
use super::failure::FailureKind;
use super::kind::{OtherType, Type};
use crate::contract::scope::{Phase, PhaseOnUnwind};
use crate::schema::Describe;

/// The result of a call by name, or why there is none.
pub type Reply = Result<Content, FailureKind>;

/// Gives postconditions a reference to the result: to the `Ok` side of a `Result`, or to the whole of any other type.
#[derive(Debug)]
pub struct SuccessProbe<'a, T>(NotResult<'a, T>);

#[derive(Debug)]
pub struct NotResult<'a, T>(&'a T);

impl<'a, T> SuccessProbe<'a, T> {
    /// Wraps a result.
    pub const fn new(result: &'a T) -> Self {
        Self(NotResult(result))
    }
}

impl<'a, T> Deref for SuccessProbe<'a, T> {
    type Target = NotResult<'a, T>;
    fn deref(&self) -> &NotResult<'a, T> {
        &self.0
    }
}

impl<'a, T, E> SuccessProbe<'a, Result<T, E>> {
    /// Returns the value, unless the function failed.
    #[must_use]
    pub fn success(&self) -> Option<&'a T> {
        self.0.0.as_ref().ok()
    }
}

impl<'a, T> NotResult<'a, T> {
    #[must_use]
    pub const fn success(&self) -> Option<&'a T> {
        Some(self.0)
    }
}

/// What a function with an `err` postcondition must return.
#[diagnostic::on_unimplemented(
    message = "`#[post(err ..)]` needs a function that returns a `Result`, not `{Self}`",
    label = "this function cannot fail",
    note = "write `#[post(|result| ..)]` for the result itself"
)]
pub trait Fallible {
    /// The error of the function.
    type Error;
    /// Returns the error, if the function failed.
    fn failure(&self) -> Option<&Self::Error>;
}

impl<T, E> Fallible for Result<T, E> {
    type Error = E;
    fn failure(&self) -> Option<&E> {
        self.as_ref().err()
    }
}

/// Returns the error of a function that failed.
pub fn failure<R: Fallible>(result: &R) -> Option<&R::Error> {
    result.failure()
}

/// The type of a result. `split` and `form` choose by the type without bounds; `value` and `reply` have the bounds.
#[derive(Debug)]
pub struct ResultProbe<T>(AnyResult<T>);

#[derive(Debug)]
pub struct AnyResult<T>(PhantomData<fn() -> T>);

impl<T> ResultProbe<T> {
    /// Creates the probe for the type of a result.
    #[must_use]
    pub const fn of(_: &T) -> Self {
        Self(AnyResult(PhantomData))
    }
}

impl<T> Deref for ResultProbe<T> {
    type Target = AnyResult<T>;
    fn deref(&self) -> &AnyResult<T> {
        &self.0
    }
}

#[derive(Debug)]
pub struct FallibleResult<T, E>(Result<T, E>);

impl<T, E> ResultProbe<Result<T, E>> {
    /// Chooses the form of a function that can fail.
    pub const fn split(&self, result: Result<T, E>) -> FallibleResult<T, E> {
        FallibleResult(result)
    }
}

impl<T> AnyResult<T> {
    pub const fn split(&self, result: T) -> FallibleResult<T, Infallible> {
        FallibleResult(Ok(result))
    }

    pub const fn form(&self, value: T) -> Json<T> {
        Json(value)
    }
}

/// What the error of a tool must be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "the model could not be told what went wrong",
    note = "implement `Display` for it, with a sentence that says what to do"
)]
pub trait ToolError: Display {}

#[diagnostic::do_not_recommend]
impl<E: Display + ?Sized> ToolError for E {}

impl<T, E> FallibleResult<T, E> {
    pub fn value(self) -> Result<T, FailureKind>
    where
        E: ToolError,
    {
        self.0
            .map_err(|error| FailureKind::Failed(error.to_string()))
    }
}

impl ResultProbe<()> {
    /// Writes nothing for the unit type.
    #[must_use]
    pub fn form(&self, (): ()) -> Encoded {
        Encoded(Content::default())
    }
}

impl ResultProbe<Content> {
    /// Keeps content as it is.
    #[must_use]
    pub fn form(&self, content: Content) -> Encoded {
        Encoded(content)
    }
}

#[derive(Debug)]
pub struct Encoded(Content);

#[derive(Debug)]
pub struct Json<T>(T);

/// What the result of a tool must be.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the result of a tool",
    label = "not writable as JSON",
    note = "derive `Serialize` for your own types; wrap a foreign type in a newtype and derive it there"
)]
pub trait ToolOutput: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> ToolOutput for T {}

impl Encoded {
    pub fn reply(self) -> Reply {
        Ok(self.0)
    }
}

impl<T> Json<T> {
    pub fn reply(self) -> Reply
    where
        T: ToolOutput,
    {
        let unwinds = PhaseOnUnwind(Phase::Result);
        let reply = encode::write(&self.0);
        drop(self);
        forget(unwinds);
        reply
    }
}

impl<T, E> Type<Result<T, E>> {
    /// Returns the type of the `Ok` value.
    #[must_use]
    pub const fn success(&self) -> ResultType<T> {
        ResultType(Undescribed(PhantomData))
    }
}

impl<T> OtherType<T> {
    #[must_use]
    pub const fn success(&self) -> ResultType<T> {
        ResultType(Undescribed(PhantomData))
    }
}

/// A probe for the schema of the type of a result.
#[derive(Debug)]
pub struct ResultType<T>(Undescribed<T>);

#[derive(Debug)]
pub struct Undescribed<T>(PhantomData<fn() -> T>);

impl<T> Deref for ResultType<T> {
    type Target = Undescribed<T>;
    fn deref(&self) -> &Undescribed<T> {
        &self.0
    }
}

impl<T: JsonSchema> ResultType<T> {
    pub fn schema(&self) -> Option<Describe> {
        Some(SchemaGenerator::subschema_for::<T>)
    }
}

impl<T> Undescribed<T> {
    pub const fn schema(&self) -> Option<Describe> {
        None
    }
}

impl<T> ResultType<T> {
    pub fn demanded_schema(&self) -> Option<Describe>
    where
        T: DescribedOutput,
    {
        Some(SchemaGenerator::subschema_for::<T>)
    }
}

/// What the result of a tool with `output_schema` must be.
#[diagnostic::on_unimplemented(
    message = "`output_schema` needs a result that describes its shape, and `{Self}` does not",
    label = "no schema",
    note = "derive `JsonSchema` for it"
)]
pub trait DescribedOutput: JsonSchema {}

#[diagnostic::do_not_recommend]
impl<T: JsonSchema> DescribedOutput for T {}
