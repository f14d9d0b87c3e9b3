//! Converts what a body returns, by its type. The methods of [`Type`] that choose have no bounds; those that then convert have them.

#![allow(
    clippy::unused_self,
    clippy::unnecessary_wraps,
    reason = "generated code calls methods of one name that the compiler picks by the type"
)]

use std::convert::Infallible;
use std::fmt::Display;
use std::mem::forget;

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

impl<T, E> Type<Result<T, E>> {
    /// Returns the value, unless the function failed. Postconditions see it.
    #[must_use]
    pub fn success_of<'a>(&self, result: &'a Result<T, E>) -> Option<&'a T> {
        result.as_ref().ok()
    }

    /// Chooses the form of a function that can fail.
    pub const fn split(&self, result: Result<T, E>) -> FallibleResult<T, E> {
        FallibleResult(result)
    }

    /// Returns the type of the `Ok` value.
    #[must_use]
    pub const fn success(&self) -> Type<T> {
        Type::NEW
    }
}

impl<T> OtherType<T> {
    #[must_use]
    pub const fn success_of<'a>(&self, result: &'a T) -> Option<&'a T> {
        Some(result)
    }

    pub const fn split(&self, result: T) -> FallibleResult<T, Infallible> {
        FallibleResult(Ok(result))
    }

    #[must_use]
    pub const fn success(&self) -> Type<T> {
        Type::NEW
    }

    pub const fn form(&self, value: T) -> Json<T> {
        Json(value)
    }

    pub const fn schema(&self) -> Option<Describe> {
        None
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

pub struct FallibleResult<T, E>(Result<T, E>);

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

impl Type<()> {
    /// Writes nothing for the unit type.
    #[must_use]
    pub fn form(&self, (): ()) -> Encoded {
        Encoded(Content::default())
    }
}

impl Type<Content> {
    /// Keeps content as it is.
    #[must_use]
    pub fn form(&self, content: Content) -> Encoded {
        Encoded(content)
    }
}

pub struct Encoded(Content);

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

impl<T: JsonSchema> Type<T> {
    /// Returns the schema of the type, which another type may not have.
    pub fn schema(&self) -> Option<Describe> {
        Some(SchemaGenerator::subschema_for::<T>)
    }
}

impl<T> Type<T> {
    /// Returns the schema of the type, which it must have.
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
