use std::time::Duration;

use serde_json::Value;

use super::Registry;
use super::entry::Entry;
use crate::contract::policy::{Policy, PolicyOrigin, Resolved};
use crate::schema::PublishedCondition;
use crate::schema::dialects::Neutral;
use crate::tool::Hints;

/// What a registry knows about one of its tools.
///
/// ```
/// use contract_runtime::prelude::*;
/// use serde_json::json;
///
/// /// Add two numbers.
/// #[tool(read_only)]
/// fn add(a: i8, b: i8) -> i16 {
///     i16::from(a) + i16::from(b)
/// }
///
/// let registry = Registry::builder().tool(add).build()?;
/// let tool = registry.tool("add").unwrap();
/// assert_eq!(tool.description(), "Add two numbers.");
/// assert_eq!(tool.input_schema()["required"], json!(["a", "b"]));
/// assert_eq!(
///     tool.output_schema(),
///     Some(&json!({"type": "integer", "minimum": -32768, "maximum": 32767})),
/// );
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Copy, Debug)]
pub struct ToolInfo<'r> {
    pub(super) entry: &'r Entry,
    pub(super) registry: Option<Policy>,
}

impl<'r> ToolInfo<'r> {
    /// The name by which a model calls it.
    #[must_use]
    pub fn name(&self) -> &'r str {
        &self.entry.tool.name
    }

    /// The name for people, if it has one.
    #[must_use]
    pub fn title(&self) -> Option<&'r str> {
        self.entry.tool.title.as_deref()
    }

    /// What it does, for a model to choose it by.
    #[must_use]
    pub fn description(&self) -> &'r str {
        &self.entry.tool.description
    }

    /// The JSON Schema (2020-12) of its arguments: the types, and every condition for which there is a keyword.
    ///
    /// Arguments that it refuses are refused by a call, by their types or by a condition; some that it accepts are still
    /// refused by a condition: see [`conditions`](Self::conditions).
    #[must_use]
    pub fn input_schema(&self) -> &'r Value {
        &self.entry.published.input
    }

    /// The JSON Schema (2020-12) of its result, if the type of the result describes itself.
    #[must_use]
    pub fn output_schema(&self) -> Option<&'r Value> {
        self.entry.output.as_ref()
    }

    /// What it says about its effects.
    #[must_use]
    pub fn hints(&self) -> Hints {
        self.entry.tool.hints
    }

    /// Its conditions, in source order, and how each is shown to a model.
    #[must_use]
    pub fn conditions(&self) -> &'r [PublishedCondition] {
        &self.entry.published.conditions
    }

    pub(super) fn neutral(&self) -> Neutral<'r> {
        Neutral {
            name: self.name(),
            title: self.title(),
            description: self.description(),
            conditions: self.conditions(),
            input: self.input_schema(),
            types: self.entry.inputs.schema.json(),
            enforced: &self.entry.inputs.schema,
            output: self.output_schema(),
            hints: self.hints(),
            dialect: self.entry.inputs.schema.dialect(),
        }
    }

    /// The policy of its conditions outside any run, before their own settings.
    pub(crate) fn policy(&self) -> Resolved {
        let registry = self.registry.map(|policy| Resolved {
            policy,
            origin: PolicyOrigin::Registry,
        });
        let set = self.entry.policy.or(registry);
        set.unwrap_or_else(Resolved::process)
    }

    /// How long a call may take, if that is limited.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.entry.timeout
    }

    /// Whether the values of this argument must be shown nowhere.
    #[cfg(feature = "cli")]
    pub(crate) fn is_secret(&self, argument: &str) -> bool {
        self.entry.inputs.schema.is_secret(argument)
    }

    /// Whether one of its arguments is secret.
    #[cfg(feature = "cli")]
    pub(crate) fn has_secrets(&self) -> bool {
        self.entry.inputs.schema.secrets().next().is_some()
    }

    /// Where it is written, as `file:line:column`.
    #[must_use]
    pub fn location(&self) -> &'r str {
        &self.entry.tool.location
    }

    /// The package it comes from; empty for a tool made by hand.
    #[must_use]
    pub fn package(&self) -> &'r str {
        &self.entry.tool.package
    }
}

impl Registry {
    /// Its tools, by name in the order of their bytes.
    #[must_use]
    pub fn tools(&self) -> impl ExactSizeIterator<Item = ToolInfo<'_>> {
        self.inner.entries.iter().map(|entry| self.info(entry))
    }

    /// One of its tools.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<ToolInfo<'_>> {
        self.inner.find(name).map(|entry| self.info(entry))
    }

    /// Who offers them, if `registry!` said so.
    #[cfg(feature = "mcp")]
    pub(crate) fn program(&self) -> Option<super::inner::Program> {
        self.inner.program
    }

    /// The longest arguments that are read at all, in bytes.
    #[cfg(feature = "cli")]
    pub(crate) fn argument_bytes(&self) -> usize {
        self.inner.limits.argument_bytes
    }

    fn info<'r>(&'r self, entry: &'r Entry) -> ToolInfo<'r> {
        ToolInfo {
            entry,
            registry: self.inner.authority.policy,
        }
    }
}
