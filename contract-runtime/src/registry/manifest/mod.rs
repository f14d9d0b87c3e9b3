//! Everything a stranger needs to know about the tools of a registry, as one document.

mod constants;
mod covers;
mod diff;
pub(crate) mod freeze;
mod json;
#[cfg(test)]
mod tests;
mod version;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use diff::{Change, Diff, Verdict};
pub use json::ManifestError;
pub use version::ManifestVersion;

pub use freeze::{assert_frozen, own_registry};

use super::{Registry, ToolInfo};
use crate::contract::condition::ConditionKind;
use crate::schema::{Lowering, PortableRule, PublishedCondition};
use crate::tool::Hints;

/// The contracts of all tools of a registry: schemas, hints and conditions, in a form that can be stored and sent.
///
/// Policies are not in it. They say what a program does about a broken condition, not what the condition is: a caller has
/// to keep it under every policy.
///
/// ```
/// use contract_runtime::prelude::*;
/// use contract_runtime::Manifest;
///
/// /// Divide one number by another.
/// #[tool]
/// #[pre(divisor != 0.0, "cannot divide by zero")]
/// fn divide(dividend: f64, divisor: f64) -> f64 {
///     dividend / divisor
/// }
///
/// let manifest = Registry::builder().tool(divide).build()?.manifest();
/// assert_eq!(manifest.tools[0].conditions[0].predicate, "divisor != 0.0");
///
/// let text = manifest.to_json();
/// assert_eq!(Manifest::from_json(&text).unwrap(), manifest);
/// # Ok::<(), BuildError>(())
/// ```
///
/// # Versions
///
/// The first number of [`version`](Self::version) changes when an older reader would misunderstand the document, and such a
/// reader refuses it. The second changes when fields are added: an older reader keeps fields that it does not know in
/// `other`, writes them again, and takes a change of one for [`Breaking`](Verdict::Breaking), because it cannot know better.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Manifest {
    /// The version of the format.
    pub version: ManifestVersion,
    /// The version of the profile in which the portable rules are written.
    pub rules: u32,
    /// The tools, by name in the order of their bytes.
    pub tools: Vec<ToolManifest>,
    /// Fields of a newer format.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// One tool in a [`Manifest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolManifest {
    /// The name by which a model calls it.
    pub name: String,
    /// The name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it does, as its author wrote it.
    pub description: String,
    /// The package it comes from; empty for a tool made by hand.
    pub package: String,
    /// What it says about its effects.
    pub hints: Hints,
    /// The JSON Schema (2020-12) of its arguments: the types, and every condition for which there is a keyword. A
    /// parameter whose values must be shown nowhere is `writeOnly` (JSON Schema Validation 2020-12, section 9.4).
    pub input_schema: Value,
    /// The JSON Schema (2020-12) of its result, if the type of the result describes itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// How long a call may take, in milliseconds, if that is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// Where it is written, as `file:line:column`; left out of a frozen manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
    /// Its conditions, in source order.
    pub conditions: Vec<ConditionManifest>,
    /// Fields of a newer format.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// One precondition or postcondition in a [`Manifest`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ConditionManifest {
    /// What violations call it, such as `divide.pre[0]`.
    pub id: String,
    /// Whether it speaks of the arguments or of the result.
    pub kind: ConditionKind,
    /// The predicate as the author typed it.
    pub predicate: String,
    /// The author's message, with its `{parameter}` placeholders unfilled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The parameters the predicate names, as the model knows them.
    pub parameters: Vec<String>,
    /// The values of the literals and named constants in it, from left to right, as far as they are known: what tells two
    /// conditions of the same text apart. `null` stands for a value that has no JSON form.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constants: Vec<Value>,
    /// How much of it the schema of the arguments says.
    pub lowering: Lowering,
    /// It in one line, for a description.
    pub sentence: String,
    /// It as a rule that a peer without Rust can evaluate, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<PortableRule>,
    /// Where it is written in the file of its tool; left out of a frozen manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Position>,
    /// Fields of a newer format.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

/// A place in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Position {
    /// From 1.
    pub line: u32,
    /// From 1.
    pub column: u32,
}

impl Registry {
    /// Everything a stranger needs to know about its tools.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    ///
    /// /// Halve an even number.
    /// #[tool]
    /// #[pre(number % 2 == 0, "only even numbers can be halved")]
    /// fn halve(number: i64) -> i64 {
    ///     number / 2
    /// }
    ///
    /// let manifest = Registry::builder().tool(halve).build()?.manifest();
    /// assert_eq!(manifest.tools[0].name, "halve");
    /// assert!(manifest.to_json().contains("only even numbers can be halved"));
    /// # Ok::<(), BuildError>(())
    /// ```
    #[must_use]
    pub fn manifest(&self) -> Manifest {
        Manifest {
            version: ManifestVersion::CURRENT,
            rules: PortableRule::VERSION,
            tools: self.tools().map(tool).collect(),
            other: Map::new(),
        }
    }
}

fn tool(tool: ToolInfo<'_>) -> ToolManifest {
    ToolManifest {
        name: tool.name().to_owned(),
        title: tool.title().map(str::to_owned),
        description: tool.description().to_owned(),
        package: tool.package().to_owned(),
        hints: tool.hints(),
        input_schema: input(tool),
        output_schema: tool.output_schema().cloned(),
        timeout_ms: tool
            .timeout()
            .map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
        location: Some(tool.location().to_owned()),
        conditions: tool.conditions().iter().map(condition).collect(),
        other: Map::new(),
    }
}

/// A reader of the document shows no value of a secret either.
fn input(tool: ToolInfo<'_>) -> Value {
    let mut schema = tool.input_schema().clone();
    tool.entry.inputs.schema.mark_secrets(&mut schema);
    schema
}

fn condition(published: &PublishedCondition) -> ConditionManifest {
    let condition = published.condition();
    let (line, column) = condition.position();
    let parameters = condition.parameters().iter();
    ConditionManifest {
        id: published.id().to_owned(),
        kind: condition.kind(),
        predicate: condition.predicate().to_owned(),
        message: condition.message().map(str::to_owned),
        parameters: parameters.map(|name| (*name).to_owned()).collect(),
        constants: condition.expression().map_or_else(Vec::new, constants::of),
        lowering: published.lowering(),
        sentence: published.sentence().to_owned(),
        rule: published.rule().cloned(),
        location: Some(Position { line, column }),
        other: Map::new(),
    }
}

impl ToolManifest {
    pub(crate) fn drop_locations(&mut self) {
        self.location = None;
        for condition in &mut self.conditions {
            condition.location = None;
        }
    }
}

impl Manifest {
    /// The same without any place in a source file, so that moving code changes nothing.
    #[must_use]
    pub fn without_locations(mut self) -> Self {
        self.tools.iter_mut().for_each(ToolManifest::drop_locations);
        self
    }

    /// One of its tools.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&ToolManifest> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}
