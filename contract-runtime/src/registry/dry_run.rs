//! What tests of contracts need of a registry: its tools as their authors made them.

use std::time::Duration;

use serde_json::Value;

use super::Builder;
use super::Registry;
use super::build_error::BuildError;
use super::entry::Entry;
use crate::contract::condition::Condition;
use crate::schema::arguments;
use crate::tool::context_params::CallExtensions;
use crate::tool::spec::Parameter;

/// Gives a builder what the runs of a tool need.
pub type Setup = fn(Builder) -> Builder;

/// One tool of a registry, on trial.
#[derive(Clone, Copy)]
pub struct TriedTool<'r> {
    registry: &'r Registry,
    entry: &'r Entry,
}

impl<'r> TriedTool<'r> {
    /// Finds the tool of that name in the registry.
    #[must_use]
    pub fn new(registry: &'r Registry, name: &str) -> Option<Self> {
        let entry = registry.inner.find(name)?;
        Some(Self { registry, entry })
    }

    /// Returns what a macro wrote about its parameters; nothing for a dynamic tool.
    #[must_use]
    pub fn parameters(self) -> &'static [Parameter] {
        self.entry.tool.parameters()
    }

    /// Returns the schema of its arguments without its conditions.
    #[must_use]
    pub fn types(self) -> &'r Value {
        self.entry.inputs.schema.json()
    }

    /// Returns the schema of its arguments with this condition alone.
    #[must_use]
    pub fn types_with(self, condition: &Condition) -> Value {
        self.entry.input_with(condition)
    }

    /// Returns the arguments as the dispatcher reads them, if it accepts them.
    #[must_use]
    pub fn read(self, text: &str) -> Option<Value> {
        let inputs = &self.entry.inputs;
        let own = arguments::own_names(text, &inputs.schema);
        let text = own.as_deref().unwrap_or(text);
        let read = arguments::read(text, &inputs.schema, inputs.coerce).ok()?;
        serde_json::from_str(&read.text).ok()
    }

    /// Whether its body may be run, as far as `#[verify(..)]` above it says.
    #[must_use]
    pub fn may_run(self) -> Option<bool> {
        self.entry.tool.spec()?.verify?.run
    }

    /// Returns the function that `#[verify(setup = ..)]` above it names.
    #[must_use]
    pub fn setup(self) -> Option<Setup> {
        let setup = self.entry.tool.spec()?.verify?.setup?;
        setup.downcast_ref::<Setup>().copied()
    }

    /// Returns how long a call may take, if that is limited.
    #[must_use]
    pub fn timeout(self) -> Option<Duration> {
        self.entry.timeout
    }

    /// Whether it has a state: that of its method, or a value that a `#[context]` parameter takes.
    #[must_use]
    pub fn has_state(self) -> bool {
        let needs = &self.entry.needs;
        let taken = needs.iter().any(|need| !CallExtensions::has(need.of));
        taken || self.entry.tool.shim.has_state()
    }

    /// Builds a registry of these tools alone, with the values that their registry gives, or those of these functions.
    ///
    /// # Errors
    ///
    /// When it cannot be built, such as when a value is missing.
    pub fn together(
        tools: &[Self],
        setups: impl IntoIterator<Item = Setup>,
    ) -> Result<Registry, BuildError> {
        let entries: Vec<&Entry> = tools.iter().map(|tool| tool.entry).collect();
        let mut builder = Registry::builder();
        if let Some(tool) = tools.first() {
            builder = builder.sharing(&tool.registry.inner.shared);
        }
        let given = setups
            .into_iter()
            .fold(builder, |builder, setup| setup(builder));
        given.leaving(&entries).build()
    }
}
