//! The slot that one argument is decoded into, by the kind of its parameter.

#![allow(
    clippy::unused_self,
    clippy::unnecessary_wraps,
    reason = "generated code calls methods of one name that the compiler picks by the type"
)]

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Deserializer, Visitor};

use super::absent::Absent;
use super::failure::FailureKind;
use super::forgiving::Decoding;
use super::kind::{MaybeReference, Plain, Reference};
use crate::contract::condition_result::Checked;
use crate::schema::Describe;
use crate::schema::lexer::Lexer;

/// What an argument is read into.
pub trait Owned: DeserializeOwned + JsonSchema + Send {}

impl<T: DeserializeOwned + JsonSchema + Send> Owned for T {}

/// What an argument can be, or refer to.
pub trait Lend {
    type Owner<'c>: Send;
    fn read(text: &str, at: usize) -> Result<(Self::Owner<'_>, usize), serde_json::Error>;
    /// What an absent argument stands for: behind a reference to an `Option`, its `None`.
    fn absent<'c>() -> Option<Self::Owner<'c>> {
        None
    }
    fn lend<'s>(owner: &'s Self::Owner<'_>) -> &'s Self;
    fn decoding() -> Decoding {
        Decoding::AsDescribed
    }
    fn schema(generator: &mut SchemaGenerator) -> Schema;
    fn optional_schema(generator: &mut SchemaGenerator) -> Schema;
}

impl<T: ?Sized> Reference<T> {
    #[must_use]
    pub fn open<'c>(self) -> Borrowed<T::Owner<'c>, T>
    where
        T: Lend,
    {
        Borrowed {
            owner: T::absent(),
            is_read: false,
            lend: T::lend,
        }
    }
}

impl<T: ?Sized> MaybeReference<T> {
    #[must_use]
    pub fn open<'c>(self) -> MaybeBorrowed<T::Owner<'c>, T>
    where
        T: Lend,
    {
        MaybeBorrowed {
            owner: None,
            lend: T::lend,
        }
    }
}

impl<T> Plain<T> {
    #[must_use]
    pub fn open(self) -> Slot<T>
    where
        T: Owned,
    {
        Slot {
            value: None,
            absent: absent::<T>,
        }
    }
}

/// What the dispatcher does with an argument.
pub trait Argument<'c>: Send {
    /// Reads the value that begins at `at` and returns the place behind it; nothing, if it has one already.
    fn read(&mut self, text: &'c str, at: usize) -> Result<Option<usize>, serde_json::Error>;
    fn is_read(&self) -> bool;
    fn clear(&mut self);
    fn describe(&self) -> ArgumentType;
}

/// What a registry must know of the type of an argument.
#[derive(Debug)]
pub struct ArgumentType {
    pub(crate) describe: Describe,
    /// The argument may be absent.
    pub(crate) optional: bool,
    pub(crate) decoding: Decoding,
}

/// Reads the value that begins at `at`, and returns where it ends. The caller checks what follows.
fn read<'c, T: serde::Deserialize<'c>>(
    text: &'c str,
    at: usize,
) -> Result<(T, usize), serde_json::Error> {
    let mut json = serde_json::Deserializer::from_str(text.get(at..).unwrap_or_default());
    let value = T::deserialize(&mut json)?;
    // Only a stream of values tells its offset; nothing is read from this one.
    let length = json.into_iter::<serde::de::IgnoredAny>().byte_offset();
    Ok((value, at + length))
}

/// An owned argument.
///
/// What generated code does with a slot needs no bound: a type that is not an argument is reported where the slot is opened,
/// and not again.
#[derive(Debug)]
pub struct Slot<T> {
    value: Option<T>,
    absent: fn() -> Option<T>,
}

/// What an absent argument stands for: of an optional, its `None`.
fn absent<T: Owned>() -> Option<T> {
    T::deserialize(Absent).ok()
}

impl<T> Slot<T> {
    /// Takes the value; of an absent optional, its `None`.
    pub fn take(self) -> Result<T, FailureKind> {
        let value = self.value.or_else(self.absent);
        value.ok_or_else(FailureKind::unread)
    }

    pub fn take_or(self, default: impl FnOnce() -> T) -> Result<T, FailureKind> {
        Ok(self.value.unwrap_or_else(default))
    }
}

impl<'c, T: Owned> Argument<'c> for Slot<T> {
    fn read(&mut self, text: &'c str, at: usize) -> Result<Option<usize>, serde_json::Error> {
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
        ArgumentType {
            describe: SchemaGenerator::subschema_for::<T>,
            optional: absent::<T>().is_some(),
            decoding: Decoding::of::<T>(),
        }
    }
}

/// An argument read into its owner and lent to the body.
#[derive(Debug)]
pub struct Borrowed<O, T: ?Sized> {
    /// What was read, or what an absent argument stands for.
    owner: Option<O>,
    is_read: bool,
    lend: fn(&O) -> &T,
}

impl<O, T: ?Sized> Borrowed<O, T> {
    pub fn take(&self) -> Result<&T, FailureKind> {
        self.owner
            .as_ref()
            .map(self.lend)
            .ok_or_else(FailureKind::unread)
    }

    pub fn take_or<'s>(&'s self, default: impl FnOnce() -> &'s T) -> Result<&'s T, FailureKind> {
        let read = self.owner.as_ref().filter(|_| self.is_read);
        Ok(read.map_or_else(default, self.lend))
    }
}

impl<'c, T: ?Sized + Lend> Argument<'c> for Borrowed<T::Owner<'c>, T> {
    fn read(&mut self, text: &'c str, at: usize) -> Result<Option<usize>, serde_json::Error> {
        if self.is_read {
            return Ok(None);
        }
        let (owner, end) = T::read(text, at)?;
        self.owner = Some(owner);
        self.is_read = true;
        Ok(Some(end))
    }

    fn is_read(&self) -> bool {
        self.is_read
    }

    fn clear(&mut self) {
        self.owner = T::absent();
        self.is_read = false;
    }

    fn describe(&self) -> ArgumentType {
        ArgumentType {
            describe: T::schema,
            optional: T::absent().is_some(),
            decoding: T::decoding(),
        }
    }
}

/// An optional argument read into its owner and lent to the body.
#[derive(Debug)]
pub struct MaybeBorrowed<O, T: ?Sized> {
    /// Absent; or `null`; or a value.
    #[allow(
        clippy::option_option,
        reason = "absent, null and a value are three states"
    )]
    owner: Option<Option<O>>,
    lend: fn(&O) -> &T,
}

impl<O, T: ?Sized> MaybeBorrowed<O, T> {
    pub fn take(&self) -> Result<Option<&T>, FailureKind> {
        Ok(self.owner.as_ref().and_then(Option::as_ref).map(self.lend))
    }

    pub fn take_or<'s>(
        &'s self,
        default: impl FnOnce() -> Option<&'s T>,
    ) -> Result<Option<&'s T>, FailureKind> {
        Ok(match &self.owner {
            None => default(),
            Some(owner) => owner.as_ref().map(self.lend),
        })
    }
}

impl<'c, T: ?Sized + Lend> Argument<'c> for MaybeBorrowed<T::Owner<'c>, T> {
    fn read(&mut self, text: &'c str, at: usize) -> Result<Option<usize>, serde_json::Error> {
        if self.owner.is_some() {
            return Ok(None);
        }
        let (owner, end) = match Lexer::new(text).literal(at, "null") {
            Ok(end) => (None, end),
            Err(_) => T::read(text, at).map(|(owner, end)| (Some(owner), end))?,
        };
        self.owner = Some(owner);
        Ok(Some(end))
    }

    fn is_read(&self) -> bool {
        self.owner.is_some()
    }

    fn clear(&mut self) {
        self.owner = None;
    }

    fn describe(&self) -> ArgumentType {
        ArgumentType {
            describe: T::optional_schema,
            optional: true,
            decoding: T::decoding(),
        }
    }
}

impl Lend for str {
    type Owner<'c> = Cow<'c, str>;

    fn read(text: &str, at: usize) -> Result<(Cow<'_, str>, usize), serde_json::Error> {
        read::<Text<'_>>(text, at).map(|(Text(text), end)| (text, end))
    }

    fn lend<'s>(owner: &'s Cow<'_, str>) -> &'s str {
        owner
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<str>()
    }

    fn optional_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Option<String>>()
    }
}

impl Lend for Path {
    type Owner<'c> = PathBuf;

    fn read(text: &str, at: usize) -> Result<(PathBuf, usize), serde_json::Error> {
        read(text, at)
    }

    fn lend(owner: &PathBuf) -> &Path {
        owner
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<PathBuf>()
    }

    fn optional_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Option<PathBuf>>()
    }
}

impl<T: Owned> Lend for [T] {
    type Owner<'c> = Vec<T>;

    fn decoding() -> Decoding {
        Decoding::of::<Vec<T>>()
    }

    fn read(text: &str, at: usize) -> Result<(Vec<T>, usize), serde_json::Error> {
        read(text, at)
    }

    fn lend(owner: &Vec<T>) -> &[T] {
        owner
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Vec<T>>()
    }

    fn optional_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Option<Vec<T>>>()
    }
}

impl<T: Owned> Lend for T {
    type Owner<'c> = T;

    fn read(text: &str, at: usize) -> Result<(T, usize), serde_json::Error> {
        read(text, at)
    }

    fn absent<'c>() -> Option<Self::Owner<'c>> {
        absent::<T>()
    }

    fn lend(owner: &T) -> &T {
        owner
    }

    fn decoding() -> Decoding {
        Decoding::of::<T>()
    }

    fn schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<T>()
    }

    fn optional_schema(generator: &mut SchemaGenerator) -> Schema {
        generator.subschema_for::<Option<T>>()
    }
}

/// A string taken from the text itself where it has no escapes.
struct Text<'c>(Cow<'c, str>);

impl<'de> serde::Deserialize<'de> for Text<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Reader;
        impl<'de> Visitor<'de> for Reader {
            type Value = Text<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a string")
            }

            fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Borrowed(text)))
            }

            fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
                Ok(Text(Cow::Owned(text.to_owned())))
            }
        }
        deserializer.deserialize_str(Reader)
    }
}

/// Reads the whole text into the slot, or nothing.
#[must_use]
pub fn probe<'c>(text: &'c str, slot: &mut dyn Argument<'c>) -> Option<()> {
    let end = slot.read(text, 0).ok()??;
    (end == text.len()).then_some(())
}

/// Evaluates a predicate in a closure, as a check does, so that it means the same and is refused in the same words.
#[must_use]
pub fn asked(holds: impl FnOnce() -> Checked) -> Option<bool> {
    Some(holds() == Checked::Holds)
}
