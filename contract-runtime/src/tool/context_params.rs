//! Resolves `#[context]` parameters by their type.

use std::any::{Any, TypeId, type_name};
use std::sync::{Arc, OnceLock};

use super::call::Call;
use super::context::CancellationToken;
use super::context::{CallInfo, Context, Deadline, IdempotencyKey, Values};
use super::failure::FailureKind;
use super::log::{Log, Progress};

/// Everything a call can be asked for by type.
pub(crate) struct Sources<'c> {
    pub(crate) context: &'c Context,
    pub(crate) shared: &'c Values,
    /// The call itself, its cancellation, deadline, progress and log.
    pub(crate) own: &'c CallExtensions,
}

pub(crate) struct CallExtensions {
    pub(crate) info: CallInfo,
    pub(crate) cancellation: CancellationToken,
    pub(crate) deadline: Deadline,
    pub(crate) progress: Progress,
    pub(crate) log: Log,
    /// What the body is given; most do not ask for it.
    pub(crate) context: OnceLock<Context>,
}

impl<'c> Sources<'c> {
    pub(super) fn find<T: 'static>(&self) -> Option<&'c T> {
        let (of, own) = (TypeId::of::<T>(), self.own);
        if of == TypeId::of::<Context>() {
            let given = || {
                let (call, token) = (own.info.clone(), own.cancellation.clone());
                self.context.of_body(call, token, own.deadline)
            };
            let context: &dyn Any = own.context.get_or_init(given);
            return context.downcast_ref();
        }
        let (call, token, deadline) = (&own.info, &own.cancellation, &own.deadline);
        let own: [&'c dyn Any; 5] = [call, token, deadline, &own.progress, &own.log];
        own.into_iter()
            .find_map(|value| value.downcast_ref())
            .or_else(|| self.shared(of)?.downcast_ref())
    }

    /// Returns the value of this type that the context gives, or the registry.
    pub(super) fn shared(&self, of: TypeId) -> Option<&'c Arc<dyn Any + Send + Sync>> {
        self.context.value(of).or_else(|| self.shared.get(&of))
    }

    fn find_shared<T: Send + Sync + 'static>(&self) -> Option<Arc<T>> {
        let found = self.shared(TypeId::of::<T>())?;
        Arc::clone(found).downcast().ok()
    }
}

/// A type that a tool asks for.
#[derive(Clone, Copy, Debug)]
pub struct Need {
    pub(crate) of: TypeId,
    pub(crate) name: &'static str,
    pub(crate) optional: bool,
}

impl Need {
    pub(super) fn of<T: 'static>(optional: bool) -> Self {
        Self {
            of: TypeId::of::<T>(),
            name: type_name::<T>(),
            optional,
        }
    }
}

/// What the dispatcher does with a `#[context]` parameter.
pub trait ContextValue<'c>: Send {
    #[doc(hidden)]
    fn find(&mut self, call: &Call<'c>);
    #[doc(hidden)]
    fn need(&self) -> Need;
}

/// A `#[context]` parameter of the type `V`: `&T`, `Arc<T>` or an `Option` of one, or a value of the call itself.
pub struct Given<'c, V> {
    found: Option<V>,
    find: fn(&Call<'c>) -> Option<V>,
    need: Need,
}

impl<'c, V> Given<'c, V> {
    pub(super) fn new(find: fn(&Call<'c>) -> Option<V>, need: Need) -> Self {
        Self {
            found: None,
            find,
            need,
        }
    }

    pub fn take(&mut self) -> Result<V, FailureKind> {
        self.found.take().ok_or_else(|| {
            FailureKind::Failed(format!(
                "the tool needs a `{}`, which neither the registry nor the call gives",
                self.need.name
            ))
        })
    }
}

impl<'c, V: Send> ContextValue<'c> for Given<'c, V> {
    fn find(&mut self, call: &Call<'c>) {
        self.found = (self.find)(call);
    }

    fn need(&self) -> Need {
        self.need
    }
}

/// What an owned `#[context]` parameter may be: `Arc<T>`, an `Option` of it, or a value of the call itself.
pub trait Held: Send + Sized {
    #[doc(hidden)]
    fn find(call: &Call<'_>) -> Option<Self>;
    #[doc(hidden)]
    fn need() -> Need;
}

impl<T: Send + Sync + 'static> Held for Arc<T> {
    fn find(call: &Call<'_>) -> Option<Self> {
        call.sources()?.find_shared()
    }
    fn need() -> Need {
        Need::of::<T>(false)
    }
}

impl<T: Send + Sync + 'static> Held for Option<Arc<T>> {
    fn find(call: &Call<'_>) -> Option<Self> {
        Some(call.sources().and_then(Sources::find_shared))
    }
    fn need() -> Need {
        Need::of::<T>(true)
    }
}

macro_rules! own {
    ($($type:ty)*) => {
        $(impl Held for $type {
            fn find(call: &Call<'_>) -> Option<Self> {
                call.sources()?.find::<Self>().cloned()
            }
            fn need() -> Need {
                Need::of::<Self>(false)
            }
        })*

        impl CallExtensions {
            /// Whether every registry can give this type. Not every call has a key.
            pub(crate) fn has(of: TypeId) -> bool {
                [$(TypeId::of::<$type>()),*].contains(&of)
            }
        }
    };
}

own!(CallInfo CancellationToken Context Deadline IdempotencyKey Progress Log);
