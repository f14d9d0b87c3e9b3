#![allow(
    missing_docs,
    clippy::missing_errors_doc,
    clippy::unused_self,
    clippy::must_use_candidate,
    clippy::unnecessary_wraps,
    reason = "most of it is the hidden interface of generated code"
)]

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::finite;
use super::form::Form;
use crate::contract::condition::Contract;
use crate::registry::Builder;

/// What a tool says about its own effects; advice for the caller, enforced by nobody but [`call_all`].
///
/// The four are those of the Model Context Protocol (tool annotations, revision 2025-11-25); `None` is "not said".
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Say what time zone the host is in.
/// #[tool(read_only, open_world = false)]
/// fn time_zone() -> &'static str {
///     "UTC"
/// }
///
/// let registry = Registry::builder().tool(time_zone).build()?;
/// let hints = registry.tool("time_zone").unwrap().hints();
/// assert_eq!(hints.read_only, Some(true));
/// assert_eq!(hints.destructive, None);
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
///
/// [`call_all`]: crate::Registry::call_all
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Hints {
    /// It changes nothing, so calls may run side by side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub read_only: Option<bool>,
    /// It may remove or overwrite something.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub destructive: Option<bool>,
    /// The same call again has no further effect.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idempotent: Option<bool>,
    /// It reaches outside a closed world, such as the network.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open_world: Option<bool>,
}

impl Hints {
    #[doc(hidden)]
    #[must_use]
    pub const fn new(
        read_only: Option<bool>,
        destructive: Option<bool>,
        idempotent: Option<bool>,
        open_world: Option<bool>,
    ) -> Self {
        Self {
            read_only,
            destructive,
            idempotent,
            open_world,
        }
    }
}

/// A tool as generated code states it.
#[derive(Debug)]
pub struct Spec {
    pub contract: Contract,
    pub title: Option<&'static str>,
    pub description: &'static str,
    pub hints: Hints,
    pub is_async: bool,
    pub blocking: bool,
    pub coerce: bool,
    /// In milliseconds.
    pub timeout: Option<u64>,
    pub parameters: &'static [Parameter],
    pub verify: Option<Verify>,
    pub package: &'static str,
    pub position: (u32, u32),
}

/// What `#[verify(..)]` says of running a body; without the feature nothing is kept of it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Verify {
    #[cfg(feature = "verify")]
    pub(crate) run: Option<bool>,
    #[cfg(feature = "verify")]
    pub(crate) setup: Option<Setup>,
}

/// Gives a builder what the runs of a tool need.
#[cfg(feature = "verify")]
pub(crate) type Setup = fn(Builder) -> Builder;

#[cfg_attr(
    not(feature = "verify"),
    allow(unused_variables, unused_mut, reason = "nothing is kept of it")
)]
impl Verify {
    #[must_use]
    pub const fn new(run: Option<bool>) -> Self {
        Self {
            #[cfg(feature = "verify")]
            run,
            #[cfg(feature = "verify")]
            setup: None,
        }
    }

    #[must_use]
    pub const fn setup(mut self, setup: fn(Builder) -> Builder) -> Self {
        #[cfg(feature = "verify")]
        {
            self.setup = Some(setup);
        }
        self
    }
}

/// A parameter that the model sees.
#[derive(Debug)]
pub struct Parameter {
    pub name: &'static str,
    pub description: &'static str,
    pub default: Option<Constant>,
    pub examples: &'static [Constant],
    pub secret: bool,
    /// What is known of its type, where a portable condition names it.
    pub form: Form,
}

/// A constant in an attribute, on its way into the schema.
#[derive(Debug)]
pub enum Constant {
    /// A literal, as JSON text.
    Text(&'static str),
    /// Any other expression.
    Code(fn() -> Option<Value>),
}

impl Constant {
    pub(crate) fn json(&self) -> Option<Value> {
        match self {
            Self::Text(text) => serde_json::from_str(text).ok(),
            Self::Code(value) => crate::contract::panics::guard(value).ok().flatten(),
        }
    }
}

/// The JSON form of a constant expression.
pub fn constant<T: Shown>(value: &T) -> Option<Value> {
    finite::check(value).ok()?;
    serde_json::to_value(value).ok()
}

/// What the type of a default or an example must be.
#[diagnostic::on_unimplemented(
    message = "a default or an example of `{Self}` cannot be shown to the model",
    label = "not writable as JSON",
    note = "derive `Serialize` for it, or give a literal"
)]
pub trait Shown: Serialize {}

#[diagnostic::do_not_recommend]
impl<T: Serialize + ?Sized> Shown for T {}

/// A default given as text, for a parameter whose type is made of text.
pub fn text<'a, T: MadeOfText<'a>>(text: &'a str) -> T {
    T::from(text)
}

/// What the type of a parameter must be whose default is a text.
#[diagnostic::on_unimplemented(
    message = "a text cannot be the default of `{Self}`",
    label = "write a value of `{Self}`"
)]
pub trait MadeOfText<'a>: From<&'a str> {}

#[diagnostic::do_not_recommend]
impl<'a, T: From<&'a str>> MadeOfText<'a> for T {}
