//! What a registry knows about its tools, and all of them in one format.

use std::any::TypeId;
use std::borrow::Cow;
use std::fmt;
use std::sync::OnceLock;
use std::time::Duration;

use serde_json::Value;

use super::Registry;
use super::entry::Entry;
use super::findings;
use crate::contract::condition::Condition;
use crate::schema::dialects::{self, inline};
use crate::schema::{
    Definitions, Dialect, Hints, PublishedCondition, Renames, StoredSchema, ToolDescription,
};
use crate::tool::IdempotencyKey;
use crate::tool::context_params::Need;

/// A tool in a registry, and everything that is published about it.
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
#[derive(Clone, Copy)]
pub struct ToolInfo<'r> {
    pub(super) entry: &'r Entry,
}

impl fmt::Debug for ToolInfo<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ToolInfo").field(&self.name()).finish()
    }
}

impl<'r> ToolInfo<'r> {
    /// Returns the name by which a model calls the tool.
    #[must_use]
    pub fn name(&self) -> &'r str {
        &self.entry.tool.name
    }

    /// Returns the name for people, if the tool has one.
    #[must_use]
    pub fn title(&self) -> Option<&'r str> {
        self.entry.tool.title.as_deref()
    }

    /// Returns the description, by which a model chooses the tool.
    #[must_use]
    pub fn description(&self) -> &'r str {
        &self.entry.tool.description
    }

    /// Returns the JSON Schema (2020-12) of the arguments: their types, and every condition that a keyword can express
    /// and that [ends calls](PublishedCondition::policy).
    ///
    /// Arguments that it refuses are refused by a call, by their types or by a condition; some that it accepts are still
    /// refused by a condition: see [`conditions`](Self::conditions).
    #[must_use]
    pub fn input_schema(&self) -> &'r Value {
        self.entry.input()
    }

    /// Returns the schema of [`input_schema`](Self::input_schema) as it is stored or sent: a parameter whose values must be shown
    /// nowhere is `writeOnly` (JSON Schema Validation 2020-12, section 9.4).
    #[must_use]
    pub fn input_schema_to_store(&self) -> Value {
        let mut schema = self.entry.input().clone();
        self.entry.inputs.schema.mark_secrets(&mut schema);
        schema
    }

    /// Returns the JSON Schema (2020-12) of the result, if the type of the result describes itself.
    #[must_use]
    pub fn output_schema(&self) -> Option<&'r Value> {
        self.entry.output.as_ref().map(|schema| schema.value())
    }

    /// Returns the hints about the tool's effects.
    #[must_use]
    pub fn hints(&self) -> Hints {
        self.entry.tool.hints
    }

    /// Returns `Some` if a call that is made again has no further effect: always, or under its [`IdempotencyKey`].
    ///
    /// The text says [where it is recorded](crate::dynamic::Backing::record), and is empty if the tool itself sees to it. A call is made
    /// again only if the text is what it was when the call began.
    #[must_use]
    pub fn repeatable(&self) -> Option<&'r str> {
        let is_key = |need: &Need| need.of == TypeId::of::<IdempotencyKey>() && !need.optional;
        let hints = self.hints();
        let is_repeatable = [hints.idempotent, hints.read_only].contains(&Some(true))
            || self.entry.needs.iter().any(is_key);
        is_repeatable
            .then_some("")
            .or_else(|| self.entry.tool.shim.record())
    }

    /// Returns the conditions in source order, each with how it is shown to a model.
    #[must_use]
    pub fn conditions(&self) -> &'r [PublishedCondition] {
        self.entry.published()
    }

    /// Returns the preconditions that could be removed, each with those from which it follows: none of one that holds for every
    /// value of its types. What cannot be proved is not among them.
    #[must_use]
    pub fn superfluous(&self) -> Vec<(&'r PublishedCondition, Vec<&'r PublishedCondition>)> {
        let (found, all) = (findings::superfluous(self.entry), self.conditions());
        let found = found.into_iter().filter_map(|(index, from)| {
            Some((all.get(index)?, findings::members(all, from).collect()))
        });
        found.collect()
    }

    /// Returns the parameters whose constants satisfied this condition when the registry was built: one, with its default and
    /// its examples, or several, with their defaults; none, if no constant was judged.
    #[must_use]
    pub fn judged_constants(&self, condition: &PublishedCondition) -> Vec<&'r str> {
        let judged = findings::judged_constants(self.entry, condition.condition());
        judged.into_iter().map(|one| one.name.as_ref()).collect()
    }

    /// Returns the names of the types that stay behind a `$ref` in every export, because the schema would be too long with
    /// their definitions in place; those that contain themselves are not among them.
    #[must_use]
    pub fn references(&self) -> Vec<String> {
        inline::too_long(self.input_schema())
    }

    /// Returns the parameters that accept no value, because they are maps whose keys JSON cannot express.
    pub fn unreadable(&self) -> impl Iterator<Item = &'r str> {
        let all = self.entry.inputs.schema.parameters().iter();
        all.filter(|one| one.unreadable_keys)
            .map(|one| one.name.as_ref())
    }

    /// Returns the tool as a provider's format is written from it, with other names for the properties whose names `accepts`
    /// refuses; a call is understood by both names. [`Dialect::accepts`](crate::Dialect::accepts) knows some providers' rules.
    #[must_use]
    pub fn describe(
        self,
        definitions: Definitions,
        accepts: impl Fn(&str) -> bool,
    ) -> ToolDescription<'r> {
        let description = ToolDescription {
            name: self.name(),
            title: self.title(),
            author_text: self.entry.described(),
            conditions: self.conditions(),
            narrowed: self.entry.narrowed().map(Cow::Borrowed),
            renames: Renames::default(),
            enforced: &self.entry.inputs.schema,
            types: OnceLock::new(),
            output: self.exported_output().map(Cow::Borrowed),
            hints: self.hints(),
            confirms: self.confirms(),
        };
        description.prepared(definitions, accepts)
    }

    /// The schema of the result, but not that of a plain text for which the author asked none: to a client it says nothing, and
    /// makes servers send the text twice.
    fn exported_output(self) -> Option<&'r StoredSchema> {
        const PLAIN_TEXTS: [&str; 2] = [
            r#"{"type":"string"}"#,
            r#"{"type":"string","minLength":1,"maxLength":1}"#,
        ];
        let is_wanted = self.entry.tool.spec().is_none_or(|spec| spec.output_schema);
        let output = self.entry.output.as_deref()?;
        (is_wanted || !PLAIN_TEXTS.contains(&output.text())).then_some(output)
    }

    /// Returns whether a person is asked about every call, whatever the conditions say.
    #[must_use]
    pub fn confirms(&self) -> bool {
        self.entry.asks.confirm
    }

    /// Returns what a person is asked about every call, with its placeholders unfilled, if the author wrote a question.
    #[must_use]
    pub fn question(&self) -> Option<&'static str> {
        self.entry.tool.spec()?.confirm
    }

    /// Returns whether a person may be asked about a call: about each one, or where a condition that asks does not hold.
    #[must_use]
    pub fn asks(&self) -> bool {
        self.entry.asks.any()
    }

    /// Returns how long a call may take, if that is limited.
    #[must_use]
    pub fn timeout(&self) -> Option<Duration> {
        self.entry.timeout
    }

    /// Returns whether the values of this argument must be shown nowhere.
    #[must_use]
    pub fn is_secret(self, argument: &str) -> bool {
        self.entry.inputs.schema.is_secret(argument)
    }

    /// Returns whether one of its arguments is secret.
    #[must_use]
    pub fn has_secrets(self) -> bool {
        self.entry.inputs.schema.secrets().next().is_some()
    }

    /// Returns whether one of its conditions asks the [`history`](crate::history()) of a run, so that it is refused outside of
    /// one.
    ///
    /// A condition that asks only inside a function of its own is not known here.
    #[must_use]
    pub fn asks_history(&self) -> bool {
        let conditions = self.entry.tool.conditions();
        conditions.iter().any(Condition::asks_history)
    }

    /// Returns whether a call of it must be the only one of its turn.
    #[must_use]
    pub fn is_alone(&self) -> bool {
        self.entry.tool.alone
    }

    /// Returns whether arguments are corrected, as [`Builder::coerce`](crate::Builder::coerce) says.
    #[must_use]
    pub fn coerces(&self) -> bool {
        self.entry.inputs.coerce
    }

    /// Returns where the tool is defined, as `file:line:column`, or the [source](crate::DynamicSpec::source) of a dynamic tool.
    #[must_use]
    pub fn location(&self) -> &'r str {
        &self.entry.tool.location
    }

    /// Returns where one of its conditions is defined, as `file:line:column`.
    #[must_use]
    pub fn location_of(&self, condition: &PublishedCondition) -> String {
        findings::place(self.entry, condition.condition())
    }

    /// Returns the package that the tool comes from; empty for a dynamic tool.
    #[must_use]
    pub fn package(&self) -> &'r str {
        self.entry.tool.package
    }
}

impl Registry {
    /// Returns its tools, sorted by name in byte order.
    #[must_use]
    pub fn tools(&self) -> impl ExactSizeIterator<Item = ToolInfo<'_>> {
        let (entries, view) = (&self.inner.entries, self.view.as_deref());
        let count = view.map_or(entries.len(), |view| view.places.len());
        (0..count).map(move |index| ToolInfo {
            entry: &entries[view.map_or(index, |view| view.places[index])],
        })
    }

    /// Returns one of its tools.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<ToolInfo<'_>> {
        let place = self.inner.position(name)?;
        let view = self.view.as_deref();
        let is_listed = view.is_none_or(|view| view.places.contains(&place));
        is_listed.then(|| ToolInfo {
            entry: &self.inner.entries[place],
        })
    }

    /// Returns the name and version of the program that offers the tools, if [`registry!`](crate::registry) set them.
    #[must_use]
    pub fn program(&self) -> Option<super::Program> {
        self.inner.program
    }

    /// Returns the length up to which arguments are read, in bytes; see [`Builder::max_argument_bytes`](crate::Builder::max_argument_bytes).
    #[must_use]
    pub fn max_argument_bytes(&self) -> usize {
        self.inner.limits.argument_bytes
    }
}

impl Registry {
    /// Exports its tools as a JSON array in one provider's format; it is made at the first call and cached.
    ///
    /// Every schema accepts at least what the tool accepts. What has no keyword stands in a description: nothing of a contract
    /// is lost. The strict formats, and those that can express less, are in the crate
    /// [`contract-dialects`](https://docs.rs/contract-dialects).
    ///
    /// ```
    /// use contract_runtime::{Dialect, prelude::*};
    /// use serde_json::json;
    ///
    /// /// Cut a text.
    /// #[tool]
    /// #[pre(length >= 1 && length <= 80)]
    /// fn cut(
    ///     /// What to cut.
    ///     text: String,
    ///     /// Where.
    ///     #[arg(default = 40)]
    ///     length: u16,
    /// ) -> String {
    ///     text.chars().take(length.into()).collect()
    /// }
    ///
    /// let registry = Registry::builder().tool(cut).build()?;
    /// let tools = registry.export(Dialect::Anthropic);
    /// assert_eq!(
    ///     tools[0]["input_schema"]["properties"]["length"],
    ///     json!({"type": "integer", "description": "Where.", "default": 40, "minimum": 1, "maximum": 80}),
    /// );
    /// # Ok::<(), BuildError>(())
    /// ```
    #[must_use]
    pub fn export(&self, dialect: Dialect) -> &Value {
        self.exported(dialect).value()
    }

    /// Exports its tools as [`export`](Self::export) does, as JSON text, which every request to a model needs.
    ///
    /// ```
    /// use contract_runtime::{Dialect, prelude::*};
    ///
    /// /// Add two numbers.
    /// #[tool]
    /// fn add(a: i32, b: i32) -> Option<i32> {
    ///     a.checked_add(b)
    /// }
    ///
    /// let registry = Registry::builder().tool(add).build()?;
    /// let tools = registry.export_text(Dialect::Neutral);
    /// assert!(tools.starts_with(r#"[{"name":"add","description":"Add two numbers.""#));
    /// # Ok::<(), BuildError>(())
    /// ```
    #[must_use]
    pub fn export_text(&self, dialect: Dialect) -> &str {
        self.exported(dialect).text()
    }

    fn exported(&self, dialect: Dialect) -> &StoredSchema {
        let place = Dialect::ALL.iter().position(|one| *one == dialect);
        let view = self.view.as_deref();
        let exports = view.map_or(&self.inner.exports, |view| &view.exports);
        exports[place.unwrap_or_default()].get_or_init(|| {
            let accepts = |name: &str| dialect.accepts(name);
            let tools = self.tools();
            let tools = tools.map(|tool| tool.describe(Definitions::Inlined, accepts));
            StoredSchema::new(dialects::export(tools, dialect))
        })
    }
}
