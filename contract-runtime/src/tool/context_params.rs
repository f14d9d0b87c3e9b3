//! Resolves `#[context]` parameters by their type.

use std::any::{Any, TypeId};
use std::sync::Arc;

use super::failure::FailureKind;

/// Everything a call can be asked for by type.
pub(crate) struct Sources<'c> {
    pub(crate) context: &'c super::context::Context,
    pub(crate) shared: &'c super::context::Shared,
    /// The call itself, its cancellation, deadline, progress and log.
    pub(crate) own: &'c CallExtensions,
}

#[derive(Debug)]
pub(crate) struct CallExtensions {
    pub(crate) info: super::context::CallInfo,
    pub(crate) cancellation: super::cancellation::CancellationToken,
    pub(crate) deadline: super::context::Deadline,
    pub(crate) progress: super::progress::Progress,
    pub(crate) log: super::log::Log,
}

impl CallExtensions {
    /// Whether every registry can give this type.
    pub(crate) fn has(of: TypeId) -> bool {
        [
            TypeId::of::<super::context::CallInfo>(),
            TypeId::of::<super::cancellation::CancellationToken>(),
            TypeId::of::<super::context::Deadline>(),
            TypeId::of::<super::progress::Progress>(),
            TypeId::of::<super::log::Log>(),
        ]
        .contains(&of)
    }
}

impl<'c> Sources<'c> {
    fn find<T: 'static>(&self) -> Option<&'c T> {
        let of = TypeId::of::<T>();
        let own: [&'c (dyn Any + Send + Sync); 5] = [
            &self.own.info,
            &self.own.cancellation,
            &self.own.deadline,
            &self.own.progress,
            &self.own.log,
        ];
        own.into_iter()
            .find_map(|value| value.downcast_ref())
            .or_else(|| self.context.value(of)?.downcast_ref())
            .or_else(|| self.shared.value(of)?.downcast_ref())
    }

    fn find_shared<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let of = TypeId::of::<T>();
        let found = self.context.shared(of).or_else(|| self.shared.shared(of))?;
        found.downcast().ok()
    }
}

/// A type that a tool asks for.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Need {
    pub(crate) of: TypeId,
    pub(crate) name: &'static str,
    pub(crate) optional: bool,
}

/// What the dispatcher does with a `#[context]` parameter.
pub trait ContextValue<'c>: Send {
    #[doc(hidden)]
    fn find(&mut self, call: &super::call::Call<'c>);
    #[doc(hidden)]
    fn need(&self) -> NeedOf;
}

/// A [`Need`] that generated code can carry without seeing it.
#[derive(Debug)]
pub struct NeedOf(pub(crate) Need);

pub(super) fn need<T: 'static>(optional: bool) -> NeedOf {
    NeedOf(Need {
        of: TypeId::of::<T>(),
        name: std::any::type_name::<T>(),
        optional,
    })
}

fn missing<T>() -> FailureKind {
    FailureKind::Failed(format!(
        "the tool needs a `{}`, which neither the registry nor the call gives",
        std::any::type_name::<T>()
    ))
}

/// `#[context] value: &T`
pub struct Lent<'c, T>(Option<&'c T>);
/// `#[context] value: Option<&T>`
pub struct MaybeLent<'c, T>(Option<&'c T>);
/// `#[context] value: T`
pub struct Copied<F, T> {
    found: Option<F>,
    take: fn(Option<F>) -> Result<T, FailureKind>,
}

impl<T> Lent<'_, T> {
    pub(super) const fn new() -> Self {
        Self(None)
    }
}

impl<T> MaybeLent<'_, T> {
    pub(super) const fn new() -> Self {
        Self(None)
    }
}

impl<T: Held> Copied<T::Found<'_>, T> {
    pub(super) fn new() -> Self {
        Self {
            found: None,
            take: T::take,
        }
    }
}

impl<'c, T: Send + Sync + 'static> ContextValue<'c> for Lent<'c, T> {
    fn find(&mut self, call: &super::call::Call<'c>) {
        self.0 = call.sources().and_then(Sources::find);
    }
    fn need(&self) -> NeedOf {
        need::<T>(false)
    }
}

impl<'c, T> Lent<'c, T> {
    pub fn take(&self) -> Result<&'c T, FailureKind> {
        self.0.ok_or_else(missing::<T>)
    }
}

impl<'c, T: Send + Sync + 'static> ContextValue<'c> for MaybeLent<'c, T> {
    fn find(&mut self, call: &super::call::Call<'c>) {
        self.0 = call.sources().and_then(Sources::find);
    }
    fn need(&self) -> NeedOf {
        need::<T>(true)
    }
}

impl<'c, T> MaybeLent<'c, T> {
    #[allow(
        clippy::unnecessary_wraps,
        reason = "it stands in for the method of a value that must be there"
    )]
    pub fn take(&self) -> Result<Option<&'c T>, FailureKind> {
        Ok(self.0)
    }
}

/// What an owned `#[context]` parameter may be: `Arc<T>`, or an `Option` of it.
pub trait Held: Sized {
    type Found<'c>: Send;
    #[doc(hidden)]
    fn find<'c>(call: &super::call::Call<'c>) -> Option<Self::Found<'c>>;
    #[doc(hidden)]
    fn need() -> NeedOf;
    #[doc(hidden)]
    fn take(found: Option<Self::Found<'_>>) -> Result<Self, FailureKind>;
}

impl<T: Send + Sync + 'static> Held for Arc<T> {
    type Found<'c> = Self;
    fn find(call: &super::call::Call<'_>) -> Option<Self> {
        call.sources().and_then(Sources::find_shared)
    }
    fn need() -> NeedOf {
        need::<T>(false)
    }
    fn take(found: Option<Self>) -> Result<Self, FailureKind> {
        found.ok_or_else(missing::<T>)
    }
}

impl<T: Send + Sync + 'static> Held for Option<Arc<T>> {
    type Found<'c> = Arc<T>;
    fn find(call: &super::call::Call<'_>) -> Option<Arc<T>> {
        call.sources().and_then(Sources::find_shared)
    }
    fn need() -> NeedOf {
        need::<T>(true)
    }
    fn take(found: Option<Arc<T>>) -> Result<Self, FailureKind> {
        Ok(found)
    }
}

/// The values of a call itself are also given by value.
macro_rules! own {
    ($($type:ty)*) => {
        $(impl Held for $type {
            type Found<'c> = Self;
            fn find(call: &super::call::Call<'_>) -> Option<Self> {
                call.sources().and_then(|sources| sources.find::<Self>().cloned())
            }
            fn need() -> NeedOf {
                need::<Self>(false)
            }
            fn take(found: Option<Self>) -> Result<Self, FailureKind> {
                found.ok_or_else(missing::<Self>)
            }
        })*
    };
}

own! {
    super::context::CallInfo
    super::cancellation::CancellationToken
    super::context::Deadline
    super::progress::Progress
    super::log::Log
}

impl<'c, T: Held> ContextValue<'c> for Copied<T::Found<'c>, T> {
    fn find(&mut self, call: &super::call::Call<'c>) {
        self.found = T::find(call);
    }
    fn need(&self) -> NeedOf {
        T::need()
    }
}

impl<F, T> Copied<F, T> {
    pub fn take(&mut self) -> Result<T, FailureKind> {
        (self.take)(self.found.take())
    }
}
