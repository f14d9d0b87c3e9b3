#![doc = include_str!("../README.md")]

#[doc(hidden)]
#[path = "freeze.rs"]
pub mod __private;
mod constants;
mod diff;
mod inspect;
mod json;
mod rules;
mod subsumption;
#[cfg(test)]
mod tests;
mod version;

use contract_runtime::{
    ConditionKind, Heading, Hints, Lowering, Policy, PublishedCondition, Registry, ToolInfo,
};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use diff::{Change, Diff, Verdict};
pub use inspect::{Finding, FindingKind, Inspect};
pub use json::ManifestError;
pub use rules::PortableRule;
pub use version::ManifestVersion;

/// Tests that the contracts of a package match a file that is committed with it.
///
/// It fails with a report of every change, breaking ones first, and passes when nothing has changed but places in the
/// source. `UPDATE_CONTRACTS=1 cargo test` writes the file instead, which is how a change is accepted. The path is relative
/// to the directory of the package's `Cargo.toml`.
///
/// Without a registry it takes the free functions of the calling package that are tools; the values of `#[context]` parameters
/// need not be given. Methods come with their state: if the package has some, the test says on standard error which ones it
/// leaves out, and passes. Give a registry that has them, or one that leaves them out on purpose.
///
/// ```no_run
/// // in tests/contracts.rs
/// use contract_runtime::prelude::*;
/// # mod toolkit {}
/// use toolkit as _; // so that the linker keeps the tools of the package under test
///
/// # fn main() {}
/// #[test]
/// fn contracts_are_frozen() {
///     contract_manifest::assert_frozen!("contracts.json");
/// }
///
/// #[test]
/// fn all_contracts_of_the_server_are_frozen() -> Result<(), BuildError> {
///     let registry = registry!().prefix("server_").build()?;
///     contract_manifest::assert_frozen!("tests/server.json", registry);
///     Ok(())
/// }
/// ```
///
/// # Panics
///
/// When the contracts differ from those in the file, and when the file is missing or is not a [`Manifest`].
#[macro_export]
macro_rules! assert_frozen {
    ($file:expr $(,)?) => {
        $crate::__private::assert_package_frozen(
            ::core::env!("CARGO_MANIFEST_DIR"),
            $file,
            ::core::env!("CARGO_PKG_NAME"),
        )
    };
    ($file:expr, $registry:expr $(,)?) => {
        $crate::__private::assert_frozen(::core::env!("CARGO_MANIFEST_DIR"), $file, &$registry)
    };
}

/// The contracts of all tools of a registry: schemas, hints and conditions, in a form that can be stored and sent.
///
/// It is what the registry publishes. A condition that ends no call under the policies that were known when the registry was
/// built has no keyword, no rule and no heading in it; its policy says why.
///
/// ```
/// use contract_manifest::{Manifest, ToManifest as _};
/// use contract_runtime::prelude::*;
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
///
/// ```
/// use contract_manifest::ToManifest as _;
/// use contract_runtime::prelude::*;
///
/// /// Book seats.
/// #[tool(destructive)]
/// #[pre(seats <= 9, "nine at most")]
/// fn book(seats: u32) {}
///
/// let manifest = Registry::builder().tool(book).build()?.manifest();
/// let book = manifest.tool("book").unwrap();
/// assert_eq!(book.description, "Book seats.");
/// assert_eq!(book.hints.destructive, Some(true));
/// assert_eq!(book.input_schema["properties"]["seats"]["maximum"], 9);
///
/// let condition = &book.conditions[0];
/// assert_eq!(condition.id, "book.pre[0]");
/// assert_eq!(condition.rule.as_ref().unwrap().rule, "int(args.seats) <= 9");
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ToolManifest {
    /// The name by which a model calls it.
    pub name: String,
    /// The name for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The description, as the author wrote it.
    pub description: String,
    /// The package that the tool comes from; empty for a dynamic tool.
    pub package: String,
    /// The hints about its effects.
    pub hints: Hints,
    /// The JSON Schema (2020-12) of its arguments: the types, and every condition for which there is a keyword and that ends calls. A
    /// parameter whose values must be shown nowhere is `writeOnly` (JSON Schema Validation 2020-12, section 9.4).
    pub input_schema: Value,
    /// The JSON Schema (2020-12) of its result, if the type of the result describes itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<Value>,
    /// How long a call may take, in milliseconds, if that is limited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout_ms: Option<u64>,
    /// A person is asked about every call.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub confirms: bool,
    /// Whether a call must be the only one of its turn.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// Whether arguments are corrected, as [`Builder::coerce`](contract_runtime::Builder::coerce) says.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub coerce: bool,
    /// Where the tool is defined, as `file:line:column`; left out of a frozen manifest.
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
    /// The id of the condition in violations, such as `divide.pre[0]`.
    pub id: String,
    /// Whether it is a condition on the arguments or on the result.
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
    /// Its policy outside of any run, as it was known when the registry was built; `enforce` is not written. Under `ignore`
    /// and `observe` a failure ends no call.
    #[serde(default, skip_serializing_if = "is_enforce")]
    pub policy: Policy,
    /// A person may let a call through that breaks it; no schema and no rule says it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub asks: bool,
    /// How much of the condition the schema of the arguments expresses.
    pub lowering: Lowering,
    /// The heading under which the description lists the sentence, if it does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heading: Option<Heading>,
    /// The condition in one line: the predicate, or under `possible_refusals` the quoted message.
    pub sentence: String,
    /// The condition as a rule that a peer without Rust can evaluate, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<PortableRule>,
    /// Where the condition is defined in the file of its tool; left out of a frozen manifest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub location: Option<Position>,
    /// Fields of a newer format.
    #[serde(flatten)]
    pub other: Map<String, Value>,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_enforce(policy: &Policy) -> bool {
    *policy == Policy::Enforce
}

/// A position in a source file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Position {
    /// The line, from 1.
    pub line: u32,
    /// The column, from 1.
    pub column: u32,
}

/// Gives a registry its [`Manifest`], where an example is.
pub trait ToManifest {
    /// Returns the manifest: everything that other programs need to know about its tools.
    #[must_use]
    fn manifest(&self) -> Manifest;
}

impl ToManifest for Registry {
    fn manifest(&self) -> Manifest {
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
        input_schema: tool.input_schema_to_store(),
        output_schema: tool.output_schema().cloned(),
        timeout_ms: tool
            .timeout()
            .map(|timeout| u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX)),
        confirms: tool.confirms(),
        alone: tool.is_alone(),
        coerce: tool.coerces(),
        location: Some(tool.location().to_owned()),
        conditions: tool.conditions().iter().map(condition).collect(),
        other: Map::new(),
    }
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
        policy: published.policy(),
        asks: condition.asks(),
        lowering: published.lowering(),
        heading: published.heading(),
        sentence: published.sentence().to_owned(),
        rule: PortableRule::of(published),
        location: Some(Position { line, column }),
        other: Map::new(),
    }
}

impl ToolManifest {
    /// Returns the entry without positions in source files.
    #[must_use]
    pub fn without_locations(mut self) -> Self {
        self.location = None;
        for condition in &mut self.conditions {
            condition.location = None;
        }
        self
    }
}

impl Manifest {
    /// Returns the manifest without positions in source files, so that moving code changes nothing.
    #[must_use]
    pub fn without_locations(mut self) -> Self {
        let tools = self.tools.into_iter();
        self.tools = tools.map(ToolManifest::without_locations).collect();
        self
    }

    /// Returns one of its tools.
    #[must_use]
    pub fn tool(&self, name: &str) -> Option<&ToolManifest> {
        self.tools.iter().find(|tool| tool.name == name)
    }
}
