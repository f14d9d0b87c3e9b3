//! Reads arguments: the whole object into slots, and one value into the slot of its parameter, by the kind of that.

#![allow(
    clippy::unused_self,
    clippy::unnecessary_wraps,
    reason = "generated code calls methods of one name that the compiler picks by the type"
)]

use std::borrow::Borrow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use schemars::{JsonSchema, SchemaGenerator};
use serde::de::{DeserializeOwned, IgnoredAny};

use super::dynamic_contract::DynamicContract;
use super::failure::FailureKind;
use super::forgiving::{Decoding, Refusing};
use super::kind::{Fit, MaybeReference, Plain, Reference};
use crate::contract::bounds::Checked;
use crate::schema::arguments::{ErrorPosition, end_of_admitted, locate, rejected, with_formats};
use crate::schema::lexer::{Lexer, Unread};
use crate::schema::{Describe, InputSchema, Parameter};

/// What an argument is read into.
pub trait Owned: DeserializeOwned + JsonSchema + Send {}

impl<T: DeserializeOwned + JsonSchema + Send> Owned for T {}

/// What an argument can be, or refer to.
pub trait Lend {
    /// What it is read into.
    type Owned: Owned + Borrow<Self>;
}

impl<T: ?Sized> Fit<T, Reference> {
    #[must_use]
    pub fn open(self) -> Slot<T::Owned, Lender<T::Owned, T>>
    where
        T: Lend,
    {
        Slot::new(Borrow::borrow)
    }
}

impl<T: ?Sized> Fit<T, MaybeReference> {
    #[must_use]
    pub fn open(self) -> Slot<Option<T::Owned>, Lender<T::Owned, T>>
    where
        T: Lend,
    {
        Slot::new(Borrow::borrow)
    }
}

impl<T> Fit<T, Plain> {
    #[must_use]
    pub fn open(self) -> Slot<T, ()>
    where
        T: Owned,
    {
        Slot::new(())
    }
}

/// What the dispatcher does with an argument.
pub trait Argument: Send {
    /// Reads the value that begins at `at` and returns the place behind it; nothing, if it has one already.
    fn read(&mut self, text: &str, at: usize) -> Result<Option<usize>, serde_json::Error>;
    fn is_read(&self) -> bool;
    fn clear(&mut self);
    fn describe(&self) -> ArgumentType;
}

/// What a registry must know of the type of an argument.
pub struct ArgumentType {
    pub(crate) describe: Describe,
    /// The argument may be absent.
    pub(crate) optional: bool,
    pub(crate) decoding: Decoding,
}

/// Reads the value that begins at `at`, and returns where it ends. The caller checks what follows.
fn read<T: Owned>(text: &str, at: usize) -> Result<(T, usize), serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text.get(at..).unwrap_or_default());
    let value = T::deserialize(&mut json)?;
    // Only a stream of values tells its offset; nothing is read from this one.
    let length = json.into_iter::<IgnoredAny>().byte_offset();
    Ok((value, at + length))
}

/// An argument, which is given to the body, or lent to it by a [`Lender`].
///
/// What generated code does with a slot needs no bound: a type that is not an argument is reported where the slot is opened,
/// and not again.
pub struct Slot<O, L> {
    value: Option<O>,
    absent: fn() -> Option<O>,
    describe: fn() -> ArgumentType,
    lend: L,
}

type Lender<O, T> = fn(&O) -> &T;

/// What an absent argument stands for: of an optional, its `None`.
///
/// This is what a derived `Deserialize` does with an absent field, so an alias of `Option` is as optional as `Option`.
fn absent<T: Owned>() -> Option<T> {
    T::deserialize(Refusing::Absent).ok()
}

fn described<T: Owned>() -> ArgumentType {
    ArgumentType {
        describe: SchemaGenerator::subschema_for::<T>,
        optional: absent::<T>().is_some(),
        decoding: Decoding::of::<T>(),
    }
}

impl<O, L> Slot<O, L> {
    fn new(lend: L) -> Self
    where
        O: Owned,
    {
        Self {
            value: None,
            absent: absent::<O>,
            describe: described::<O>,
            lend,
        }
    }
}

impl<T> Slot<T, ()> {
    pub fn take(self) -> Result<T, FailureKind> {
        let value = self.value.or_else(self.absent);
        value.ok_or_else(FailureKind::unread)
    }

    pub fn take_or(self, default: impl FnOnce() -> T) -> Result<T, FailureKind> {
        Ok(self.value.unwrap_or_else(default))
    }
}

impl<O, T: ?Sized> Slot<O, Lender<O, T>> {
    pub fn take(&mut self) -> Result<&T, FailureKind> {
        self.value = self.value.take().or_else(self.absent);
        let value = self.value.as_ref().map(self.lend);
        value.ok_or_else(FailureKind::unread)
    }

    pub fn take_or<'s>(&'s self, default: impl FnOnce() -> &'s T) -> Result<&'s T, FailureKind> {
        Ok(self.value.as_ref().map_or_else(default, self.lend))
    }
}

/// Absent; or `null`; or a value.
impl<O, T: ?Sized> Slot<Option<O>, Lender<O, T>> {
    pub fn take(&self) -> Result<Option<&T>, FailureKind> {
        self.take_or(|| None)
    }

    pub fn take_or<'s>(
        &'s self,
        default: impl FnOnce() -> Option<&'s T>,
    ) -> Result<Option<&'s T>, FailureKind> {
        let lent = |owner: &'s Option<O>| owner.as_ref().map(self.lend);
        Ok(self.value.as_ref().map_or_else(default, lent))
    }
}

impl<O: Owned, L: Send> Argument for Slot<O, L> {
    fn read(&mut self, text: &str, at: usize) -> Result<Option<usize>, serde_json::Error> {
        if self.value.is_some() {
            return Ok(None);
        }
        let (value, end) = read(text, at)?;
        self.value = Some(value);
        Ok(Some(end))
    }

    fn is_read(&self) -> bool {
        self.value.is_some()
    }

    fn clear(&mut self) {
        self.value = None;
    }

    fn describe(&self) -> ArgumentType {
        (self.describe)()
    }
}

impl Lend for str {
    type Owned = String;
}

impl Lend for Path {
    type Owned = PathBuf;
}

impl<T: Owned> Lend for [T] {
    type Owned = Vec<T>;
}

impl<T: Owned> Lend for T {
    type Owned = T;
}

/// Reads the whole text into the slot, or nothing.
#[must_use]
pub fn probe(text: &str, slot: &mut dyn Argument) -> Option<()> {
    let end = slot.read(text, 0).ok()??;
    (end == text.len()).then_some(())
}

/// Evaluates a predicate in a closure, as a check does, so that it means the same and is refused in the same words.
#[must_use]
pub fn asked(holds: impl FnOnce() -> Checked) -> Option<bool> {
    Some(holds() == Checked::Holds)
}

/// What the dispatcher must know to read the arguments of one tool.
pub(crate) struct Inputs {
    pub(crate) schema: InputSchema,
    pub(crate) coerce: bool,
    /// The conditions of a tool that no macro made.
    pub(crate) stated: Option<Arc<DynamicContract>>,
}

/// The text is not plainly a legal set of arguments.
pub(crate) enum FallBack {
    Text,
    /// The type of this parameter refused its value, which begins there.
    Value(usize, usize, serde_json::Error),
    /// The type of this parameter took only a part of its value.
    Tail(usize),
}

impl From<Unread> for FallBack {
    fn from(_: Unread) -> Self {
        Self::Text
    }
}

impl FallBack {
    /// What is wrong, of a text that has already been put right: a type that refuses what its schema admits.
    #[cold]
    pub(crate) fn refuse(self, text: &str, inputs: &Inputs) -> FailureKind {
        let (index, begins, error) = match self {
            Self::Value(index, begins, error) => (index, begins, Some(error)),
            Self::Tail(index) => (index, 0, None),
            Self::Text => return FailureKind::unread(),
        };
        let Some(input) = inputs.schema.parameters().get(index) else {
            return FailureKind::unread();
        };
        // The text of a type's own error may repeat the value, and a key is a part of it.
        let error = error.filter(|_| !input.secret);
        let found = error.as_ref().and_then(|error| {
            let value = text.get(begins..)?;
            locate(value, error.line(), error.column())
        });
        let (below, is_key) =
            found.map_or_else(Default::default, |found| (found.pointer, found.is_key));
        let message = error.map(|error| without_place(&error.to_string()));
        let place = ErrorPosition {
            pointer: format!("/{}{below}", input.name),
            is_key,
        };
        let refusal = rejected(place, message.as_deref());
        FailureKind::InvalidArguments(Box::new(with_formats(text, &inputs.schema, refusal)))
    }
}

/// What serde says of a value, without a place that counts from somewhere inside the text.
fn without_place(message: &str) -> String {
    let end = message.rfind(" at line ").unwrap_or(message.len());
    message.get(..end).unwrap_or_default().to_owned()
}

/// Whether a text has been judged by the schema.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Judged {
    Before,
    /// Each argument just before its type reads it, where that type accepts too much.
    OnTheWay,
}

/// Reads an object's members into the slots of the same names, and returns how many there were.
///
/// It reads only what is plainly well-formed. Anything else is a [`FallBack`], and the whole text is judged anew. So it may refuse a
/// legal text, but never accept an illegal one.
pub(crate) fn fill(
    text: &str,
    inputs: &Inputs,
    slots: &mut [&mut dyn Argument],
    judged: Judged,
) -> Result<usize, FallBack> {
    let schema = &inputs.schema;
    let inputs = schema.parameters();
    let lexer = Lexer::new(text);
    let mut at = lexer.behind_space(lexer.behind(0, b'{')?);
    let mut filled = 0;
    if lexer.byte(at) == b'}' {
        return end(&lexer, at + 1).map(|()| filled);
    }
    loop {
        // Most callers keep the order of the schema.
        let expected = inputs.get(filled);
        let behind = expected.and_then(|next| lexer.behind_key(at, &next.name));
        let index;
        (index, at) = match behind {
            Some(behind) => (filled, behind),
            None => named(&lexer, at, inputs)?,
        };
        let (Some(slot), Some(input)) = (slots.get_mut(index), inputs.get(index)) else {
            return Err(FallBack::Text);
        };
        let admitted = if input.is_exact || judged == Judged::Before {
            None
        } else {
            let end = |(rules, rule)| end_of_admitted(text, at, rules, rule);
            Some(schema.rule_of(index).and_then(end).ok_or(FallBack::Text)?)
        };
        let begins = at;
        at = slot
            .read(text, at)
            .map_err(|error| FallBack::Value(index, at, error))?
            .ok_or(FallBack::Text)?;
        if judged == Judged::Before && !is_value(text, begins, at) {
            return Err(FallBack::Tail(index));
        }
        if admitted.is_some_and(|end| end != at) {
            return Err(FallBack::Text);
        }
        filled += 1;
        at = lexer.behind_space(at);
        match lexer.byte(at) {
            b',' => at = lexer.behind_space(at + 1),
            b'}' => return end(&lexer, at + 1).map(|()| filled),
            _ => return Err(FallBack::Tail(index)),
        }
    }
}

/// Whether a type has read its value to the end. One that stops at a comma within would leave members of it for arguments.
#[cold]
fn is_value(text: &str, begins: usize, end: usize) -> bool {
    let value = text.get(begins..end).unwrap_or_default();
    serde_json::from_str::<IgnoredAny>(value).is_ok()
}

/// The place among the parameters of the key whose quote stands here, and the place of its value.
#[inline(never)]
fn named(
    lexer: &Lexer<'_>,
    quote: usize,
    inputs: &[Parameter],
) -> Result<(usize, usize), FallBack> {
    if lexer.byte(quote) != b'"' {
        return Err(FallBack::Text);
    }
    let key = lexer.string(quote)?;
    let name = key.text()?;
    let found = inputs.iter().position(|input| input.name == *name);
    let index = found.ok_or(FallBack::Text)?;
    Ok((index, lexer.behind_space(lexer.behind(key.end, b':')?)))
}

fn end(lexer: &Lexer<'_>, at: usize) -> Result<(), FallBack> {
    if lexer.ends(at) {
        return Ok(());
    }
    Err(FallBack::Text)
}
