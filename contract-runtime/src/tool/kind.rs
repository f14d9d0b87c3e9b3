//! Finds the kind of a parameter by its type, which the compiler knows, and not by how the type is spelled.

#![allow(
    clippy::unused_self,
    reason = "generated code calls methods of one name that the compiler picks by the type"
)]

use std::marker::PhantomData;
use std::ops::Deref;
use std::sync::Arc;

use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;

use super::call::Call;
use super::context_params::{ContextValue, Given, Held, Need, Sources};
use super::failure::FailureKind;
use super::forgiving::Decoding;
use super::slot::{Argument, ArgumentType, Lend};

/// A probe for the kind of a type.
///
/// `Type::<T>::NEW.kind()` sorts without any bound: the methods of `Type` are for references, and where none of them
/// fits, the compiler goes on to what a `Type` dereferences to.
pub struct Type<T>(OtherType<T>);

pub struct OtherType<T>(PhantomData<fn() -> T>);

impl<T> Type<T> {
    /// The only value of the probe.
    pub const NEW: Self = Self(OtherType(PhantomData));

    /// Returns the probe for the type of a value.
    #[must_use]
    pub const fn of(_: &T) -> Self {
        Self::NEW
    }
}

impl<T> Deref for Type<T> {
    type Target = OtherType<T>;
    fn deref(&self) -> &OtherType<T> {
        &self.0
    }
}

impl<T: ?Sized> Type<&T> {
    /// Chooses the kind of a reference.
    #[must_use]
    pub const fn kind(&self) -> Kind<T, Reference> {
        Kind::NEW
    }
}

impl<T: ?Sized> Type<Option<&T>> {
    /// Chooses the kind of an optional reference.
    #[must_use]
    pub const fn kind(&self) -> Kind<T, MaybeReference> {
        Kind::NEW
    }
}

impl<T> OtherType<T> {
    #[must_use]
    pub const fn kind(&self) -> Kind<T, Plain> {
        Kind::NEW
    }
}

pub enum Reference {}
pub enum MaybeReference {}
pub enum Plain {}

/// An argument of one kind whose type will do.
pub struct Fit<T: ?Sized, K>(PhantomData<fn() -> PhantomData<T>>, PhantomData<fn() -> K>);

/// A parameter of one kind, before anything is asked of the type `T` in it.
///
/// Where the type will do, `argument` and `context` are found here, and ask for nothing more. Where it will not, they are
/// found behind one of the dereferences: each of those asks for the one trait whose absence is to be reported, and gives
/// a stand-in, so that nothing else is reported.
pub struct Kind<T: ?Sized, K>(WithoutSchema<T>, PhantomData<fn() -> K>);
pub struct WithoutSchema<T: ?Sized>(Unfit<T>);
pub struct Unfit<T: ?Sized>(PhantomData<fn() -> PhantomData<T>>);

impl<T: ?Sized, K> Kind<T, K> {
    const NEW: Self = Self(WithoutSchema(Unfit(PhantomData)), PhantomData);
}

impl<T: ?Sized, K> Deref for Kind<T, K> {
    type Target = WithoutSchema<T>;
    fn deref(&self) -> &WithoutSchema<T> {
        &self.0
    }
}

impl<T: ?Sized> Deref for WithoutSchema<T> {
    type Target = Unfit<T>;
    fn deref(&self) -> &Unfit<T> {
        &self.0
    }
}

/// What is still to be asked for: `of`, of a trait, takes what it is asked of from here.
pub struct Asked<G, T: ?Sized>(G, PhantomData<fn() -> PhantomData<T>>);

impl<G, T: ?Sized> Asked<G, T> {
    const fn new(given: G) -> Self {
        Self(given, PhantomData)
    }
}

/// A parameter needs two traits. Each probe asks for one of them, so that at most one is reported as missing.
type AskedTwice<G, T, S> = Asked<Asked<G, T>, S>;

impl<T: ?Sized + ToolArgument, K> Kind<T, K> {
    pub const fn argument(&self) -> AskedTwice<Fit<T, K>, (), ()> {
        Asked::new(Asked::new(Fit(PhantomData, PhantomData)))
    }
}

impl<T: ?Sized + Readable> WithoutSchema<T> {
    pub const fn argument(&self) -> AskedTwice<Refused, (), T> {
        Asked::new(Asked::new(Refused))
    }
}

impl<T: ?Sized> Unfit<T> {
    pub const fn argument(&self) -> AskedTwice<Refused, T, ()> {
        Asked::new(Asked::new(Refused))
    }
}

/// A type that any `#[context]` parameter can have.
type AnyHeld = Arc<()>;

impl<T: Send + Sync + 'static> Kind<T, Reference> {
    pub fn context<'c>(&self) -> AskedTwice<Given<'c, &'c T>, AnyHeld, ()> {
        let given = Given::new(|call| call.sources()?.find(), Need::of::<T>(false));
        Asked::new(Asked::new(given))
    }
}

impl<T: Send + Sync + 'static> Kind<T, MaybeReference> {
    pub fn context<'c>(&self) -> AskedTwice<Given<'c, Option<&'c T>>, AnyHeld, ()> {
        let find = |call: &Call<'c>| Some(call.sources().and_then(Sources::find));
        Asked::new(Asked::new(Given::new(find, Need::of::<T>(true))))
    }
}

impl<T: Held> Kind<T, Plain> {
    pub fn context<'c>(&self) -> AskedTwice<Given<'c, T>, AnyHeld, ()> {
        Asked::new(Asked::new(Given::new(T::find, T::need())))
    }
}

impl<T: ?Sized + Send + Sync> WithoutSchema<T> {
    pub const fn context(&self) -> AskedTwice<Refused, T, ()> {
        Asked::new(Asked::new(Refused))
    }
}

impl<T: ?Sized> Unfit<T> {
    pub const fn context(&self) -> AskedTwice<Refused, AnyHeld, T> {
        Asked::new(Asked::new(Refused))
    }
}

// A trait is asked for by a function of its own, because then the compiler points at the author's type and at nothing of ours:
// of a bound it says where it stands.

/// What the type of an argument must be; of a reference, what it refers to.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument",
    label = "not readable from JSON",
    note = "derive `Deserialize` and `JsonSchema` for your own types; wrap a foreign type in a newtype and derive them there",
    note = "for the derives, Cargo.toml needs `schemars = \"1\"` and `serde = {{ version = \"1\", features = [\"derive\"] }}`",
    note = "if the program gives the value, and not the model, write `#[context]` before the parameter"
)]
pub trait ToolArgument {
    /// Returns the probe with its bound checked.
    fn of<G>(asked: Asked<G, Self>) -> G {
        asked.0
    }
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + Lend> ToolArgument for T {}

/// What is asked of a type that is read from JSON.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a tool argument, because a model cannot be told what it is",
    label = "has no JSON Schema",
    note = "derive `JsonSchema` for your own types, beside `Deserialize`; wrap a foreign type in a newtype and derive both there",
    note = "if the program gives the value, and not the model, write `#[context]` before the parameter"
)]
pub trait Described {
    /// Returns the probe with its bound checked.
    fn of<G>(asked: Asked<G, Self>) -> G {
        asked.0
    }
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + JsonSchema> Described for T {}

/// What is read from JSON, whether or not it has a schema.
pub trait Readable {}

impl<T: DeserializeOwned + Send> Readable for T {}
impl<T: DeserializeOwned + Send> Readable for [T] {}

/// What is asked of the type of every `#[context]` parameter; of a reference, of what it refers to.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be given to a `#[context]` parameter, because calls on several threads share it",
    label = "must be `Send` and `Sync`",
    note = "write `Arc` for `Rc`, `Mutex` for `RefCell`, an atomic or a `Mutex` for `Cell`, and `dyn Trait + Send + Sync` for `dyn Trait`"
)]
pub trait SharedContext {
    /// Returns the probe with its bound checked.
    fn of<G>(asked: Asked<G, Self>) -> G {
        asked.0
    }
}

#[diagnostic::do_not_recommend]
impl<T: ?Sized + Send + Sync> SharedContext for T {}

/// What the type of a `#[context]` parameter must be that is not a reference.
#[diagnostic::on_unimplemented(
    message = "a `#[context]` parameter cannot take `{Self}` by value, because calls share it",
    label = "write `&{Self}`, or `Arc<{Self}>` to keep it",
    note = "for a value that may be missing, write `Option<&T>` or `Option<Arc<T>>`"
)]
pub trait ContextParameter {
    /// Returns the probe with its bound checked.
    fn of<G>(asked: Asked<G, Self>) -> G {
        asked.0
    }
}

#[diagnostic::do_not_recommend]
impl<T: Held> ContextParameter for T {}

/// Stands in for a parameter whose type cannot be used, so that the compiler reports nothing else.
#[derive(Clone, Copy)]
pub struct Refused;

impl Refused {
    #[must_use]
    pub const fn open(self) -> Self {
        self
    }

    #[allow(clippy::missing_errors_doc, reason = "it is never called")]
    pub fn take<P>(self) -> Result<P, FailureKind> {
        Err(FailureKind::unread())
    }

    #[allow(clippy::missing_errors_doc, reason = "it is never called")]
    pub fn take_or<P>(self, _: impl FnOnce() -> P) -> Result<P, FailureKind> {
        Err(FailureKind::unread())
    }
}

impl Argument for Refused {
    fn read(&mut self, _: &str, _: usize) -> Result<Option<usize>, serde_json::Error> {
        Ok(None)
    }

    fn is_read(&self) -> bool {
        false
    }

    fn clear(&mut self) {}

    fn describe(&self) -> ArgumentType {
        ArgumentType {
            describe: |_| Schema::default(),
            optional: true,
            decoding: Decoding::AsDescribed,
        }
    }
}

impl<'c> ContextValue<'c> for Refused {
    fn find(&mut self, _: &Call<'c>) {}

    fn need(&self) -> Need {
        Need::of::<()>(true)
    }
}
