//! The interface between a registry and a body, for every kind of tool.

use std::any::TypeId;
use std::sync::Arc;

use super::call::{Call, Running};
use super::dynamic::Tool;
use super::spec::Spec;
use crate::schema::Describe;

pub(crate) trait Shim: Send + Sync {
    fn call<'c>(&'c self, call: Call<'c>) -> Running<'c>;

    fn output(&self) -> Option<Describe>;

    /// Whether its calls share something that only a program can give.
    fn has_state(&self) -> bool {
        false
    }

    /// See [`Backing::record`](super::backed::Backing::record).
    fn record(&self) -> Option<&str> {
        None
    }
}

/// A tool made of a free function, as it registers itself.
pub struct Registered {
    /// What the author says of it.
    pub spec: &'static Spec,
    /// Reads the arguments and runs the body.
    pub call: for<'c> fn(Call<'c>) -> Running<'c>,
    /// Describes the type of its result, if it has a schema.
    pub output: fn() -> Option<Describe>,
    /// The type of the function, by which a builder recognises it.
    pub function: fn() -> TypeId,
}

inventory::collect!(Registered);

/// Returns the free functions that are linked into the program.
pub(crate) fn linked() -> impl Iterator<Item = &'static Registered> {
    inventory::iter::<Registered>.into_iter()
}

/// An `impl` block under `#[tool]`, as it registers itself: its tools come with a state, which only a program can give.
#[derive(Debug)]
pub struct RegisteredSet {
    /// The package that it stands in.
    pub package: &'static str,
    /// The type, as written.
    pub state: &'static str,
    /// The names of its tools.
    pub tools: &'static [&'static str],
    /// The source file, as the compiler names it.
    pub file: &'static str,
    /// Line and column in the file.
    pub position: (u32, u32),
}

inventory::collect!(RegisteredSet);

impl Shim for &'static Registered {
    fn call<'c>(&'c self, call: Call<'c>) -> Running<'c> {
        (self.call)(call)
    }

    fn output(&self) -> Option<Describe> {
        (self.output)()
    }
}

/// Returns the type of a function item, by which a builder recognises it.
#[must_use]
pub fn type_of<F: 'static>(_: &F) -> TypeId {
    TypeId::of::<F>()
}

/// Tools that share a state, ready to be registered: an `impl` block under `#[tool]`.
///
/// ```
/// use contract_runtime::prelude::*;
/// use std::sync::atomic::{AtomicU32, Ordering};
///
/// #[derive(Default)]
/// struct Counter(AtomicU32);
///
/// #[tool]
/// impl Counter {
///     /// Add to the counter and return its value.
///     #[tool]
///     #[pre(by > 0)]
///     fn add(&self, by: u32) -> u32 {
///         self.0.fetch_add(by, Ordering::Relaxed) + by
///     }
/// }
///
/// let registry = Registry::builder().with(Counter::default()).build()?;
/// let outcome = registry.call(ToolCall::new("1", "add", r#"{"by":2}"#)).blocking();
/// assert_eq!(outcome.output(), Some("2"));
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
pub trait ToolSet {
    /// The tools of the set.
    fn into_tools(self) -> Vec<Tool>;
}

/// The half of [`ToolSet`] that the macro implements, for a state that is already shared.
pub trait SharedToolSet: Send + Sync + 'static {
    /// Makes the tools over a state.
    fn shared_tools(this: &Arc<Self>) -> Vec<Tool>;
}

impl<T: SharedToolSet> ToolSet for Arc<T> {
    fn into_tools(self) -> Vec<Tool> {
        T::shared_tools(&self)
    }
}

impl ToolSet for Tool {
    fn into_tools(self) -> Vec<Tool> {
        vec![self]
    }
}

impl ToolSet for Vec<Tool> {
    fn into_tools(self) -> Vec<Tool> {
        self
    }
}

struct Method<S> {
    state: Arc<S>,
    call: for<'c> fn(&'c S, Call<'c>) -> Running<'c>,
    output: fn() -> Option<Describe>,
}

impl<S: Send + Sync> Shim for Method<S> {
    fn call<'c>(&'c self, call: Call<'c>) -> Running<'c> {
        (self.call)(&self.state, call)
    }

    fn output(&self) -> Option<Describe> {
        (self.output)()
    }

    fn has_state(&self) -> bool {
        true
    }
}

/// Makes a tool of a method.
pub fn method<S: SharedToolSet>(
    state: &Arc<S>,
    spec: &'static Spec,
    function: TypeId,
    call: for<'c> fn(&'c S, Call<'c>) -> Running<'c>,
    output: fn() -> Option<Describe>,
) -> Tool {
    Tool::generated(
        spec,
        function,
        Arc::new(Method {
            state: Arc::clone(state),
            call,
            output,
        }),
    )
}

/// The package of generated code; a build without cargo names only the crate.
#[must_use]
pub const fn package(named: Option<&'static str>, module: &'static str) -> &'static str {
    if let Some(named) = named {
        return named;
    }
    let (mut rest, mut length) = (module.as_bytes(), 0);
    while let [first, others @ ..] = rest {
        if *first == b':' {
            break;
        }
        (rest, length) = (others, length + 1);
    }
    module.split_at(length).0
}

#[cfg(test)]
mod tests {
    use super::package;

    #[test]
    fn a_build_without_cargo_is_known_by_its_crate() {
        assert_eq!(package(Some("my-tools"), "my_tools::inner"), "my-tools");
        assert_eq!(package(None, "my_tools::inner"), "my_tools");
        assert_eq!(package(None, "my_tools"), "my_tools");
    }
}
