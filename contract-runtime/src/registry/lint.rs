//! Lints: conditions that have no effect, and conditions or parameters that no model is informed about.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::Registry;
use super::entry::Entry;
use super::findings::{Asked, members, place};
use crate::contract::condition::Condition;
use crate::contract::findings::judge::reading;
use crate::contract::findings::solver::Solver;
use crate::contract::policy::Policy;
use crate::schema::dialects::inline;

/// A condition that could be removed, or a condition or parameter that no model is informed about.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Wait.
/// #[tool]
/// #[pre(seconds < 60)]
/// #[pre(seconds < 3_600, "at most an hour")]
/// fn wait(seconds: u32) {}
///
/// let registry = Registry::builder().tool(wait).build()?;
/// let findings = registry.lint();
/// assert_eq!(findings[0].subject, "wait.pre[1]");
/// assert_eq!(findings[0].message, "`seconds < 3_600` already follows from `seconds < 60`; remove it");
/// assert_eq!(findings[1].subject, "wait(seconds)");
/// assert_eq!(findings[1].message, "`seconds` has no description for the model; write one with `///` above it");
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The tool.
    pub tool: String,
    /// The id of the condition in violations, such as `wait.pre[1]`; or tool and parameter, such as `wait(seconds)`.
    pub subject: String,
    /// What is wrong.
    pub kind: FindingKind,
    /// The finding, as a sentence.
    pub message: String,
    /// Where the condition or the tool is defined, as `file:line:column`.
    pub location: String,
}

/// What is wrong.
///
/// ```
/// use contract_runtime::FindingKind;
/// use contract_runtime::prelude::*;
///
/// /// Wait twice as carefully as needed.
/// #[tool]
/// #[pre(seconds < 60)]
/// #[pre(seconds < 3_600)]
/// fn wait(
///     /// How long.
///     seconds: u32,
/// ) {
/// }
///
/// let registry = Registry::builder().tool(wait).build()?;
/// let findings = registry.lint();
/// assert_eq!(findings[0].kind, FindingKind::Implied);
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// Every value of the parameter types satisfies it.
    AlwaysTrue,
    /// The other conditions imply it.
    Implied,
    /// A precondition or a lookup refuses calls, and a model is shown nothing of it.
    Unexplained,
    /// A parameter has no description, and neither has its type.
    Undescribed,
    /// A type stays behind a `$ref` in the published schema, because the schema would be too long without it.
    Referenced,
    /// A parameter is a map whose keys JSON cannot have, so that every value is refused.
    Unreadable,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.location, self.subject, self.message)
    }
}

impl Registry {
    /// Finds preconditions that could be removed, because they are always true for their types or implied by others, and
    /// those that refuse calls although no model is informed about them, because only the program can evaluate them and
    /// they have no text; parameters without a description; types that stay behind a reference; and maps that no call can give. None
    /// of them is an error.
    ///
    /// It knows what the published contract knows, and is silent where it cannot prove. In a test of a package:
    ///
    /// ```
    /// # use contract_runtime::prelude::*;
    /// # /// Halve an even number.
    /// # #[tool]
    /// # #[pre(number % 2 == 0)]
    /// # fn halve(
    /// #     /// An even number.
    /// #     number: i64,
    /// # ) -> i64 { number / 2 }
    /// # let registry = Registry::builder().tool(halve).build()?;
    /// let findings = registry.lint();
    /// assert!(findings.is_empty(), "{findings:#?}");
    /// # Ok::<(), contract_runtime::BuildError>(())
    /// ```
    #[must_use]
    pub fn lint(&self) -> Vec<Finding> {
        let entries = self.inner.entries.iter();
        entries
            .flat_map(|entry| {
                let mut findings = superfluous(entry);
                findings.extend(unexplained(entry));
                findings.extend(undescribed(entry));
                findings.extend(referenced(entry));
                findings.extend(unreadable(entry));
                findings
            })
            .collect()
    }
}

fn unexplained(entry: &Entry) -> impl Iterator<Item = Finding> {
    let silent = entry.published().iter();
    let silent = silent.filter(|published| published.is_unexplained());
    silent.map(|published| {
        let condition = published.condition();
        Finding {
            tool: entry.tool.name.to_string(),
            subject: published.id().to_owned(),
            kind: FindingKind::Unexplained,
            message: format!(
                "a model is shown nothing of `{}`; add a message, or `requires = \"..\"`",
                condition.predicate()
            ),
            location: place(entry, condition),
        }
    })
}

/// Of tools that a macro made: what others declare, nobody here can mend.
fn undescribed(entry: &Entry) -> Vec<Finding> {
    let Some(spec) = entry.tool.spec() else {
        return Vec::new();
    };
    let schema = entry.input();
    let silent = entry.inputs.schema.parameters().iter().filter(|input| {
        let property = &schema["properties"][input.name.as_ref()];
        !is_described(schema, property)
    });
    let (line, column) = spec.position;
    silent
        .map(|input| Finding {
            tool: entry.tool.name.to_string(),
            subject: format!("{}({})", spec.contract.name, input.name),
            kind: FindingKind::Undescribed,
            message: format!(
                "`{}` has no description for the model; write one with `///` above it",
                input.name
            ),
            location: format!("{}:{line}:{column}", spec.contract.file),
        })
        .collect()
}

/// Several clients drop what is behind a reference.
fn referenced(entry: &Entry) -> impl Iterator<Item = Finding> {
    let names = inline::too_long(entry.input()).into_iter();
    names.map(|name| Finding {
        tool: entry.tool.name.to_string(),
        subject: format!("{}({name})", entry.tool.name),
        kind: FindingKind::Referenced,
        message: format!(
            "`{name}` stays behind a `$ref`, which some clients drop, because the schema is too long without it; use it less often, or make it smaller"
        ),
        location: entry.tool.location.to_string(),
    })
}

fn unreadable(entry: &Entry) -> impl Iterator<Item = Finding> {
    let inputs = entry.inputs.schema.parameters().iter();
    let inputs = inputs.filter(|input| input.unreadable_keys);
    inputs.map(|input| Finding {
        tool: entry.tool.name.to_string(),
        subject: format!("{}({})", entry.tool.name, input.name),
        kind: FindingKind::Unreadable,
        message: format!(
            "every value of `{}` is refused, because its keys are not strings; use a list of keys with their values",
            input.name
        ),
        location: entry.tool.location.to_string(),
    })
}

/// Whether a schema has a description, or the only type that it refers to.
fn is_described(root: &Value, schema: &Value) -> bool {
    let target = schema["$ref"].as_str();
    let target = target.and_then(|target| root.pointer(target.strip_prefix('#')?));
    let of_type = target.is_some_and(|target| target["description"].is_string());
    let branches = schema["anyOf"].as_array().into_iter().flatten();
    schema["description"].is_string()
        || of_type
        || branches
            .into_iter()
            .any(|branch| is_described(root, branch))
}

fn superfluous(entry: &Entry) -> Vec<Finding> {
    let asked = Asked::of(entry);
    let known = asked.known();
    let solver = asked.solver(entry, &known);
    let conditions = entry.tool.conditions();
    let mut left = u64::MAX;
    let mut findings = Vec::new();
    // Of two that say the same the later one goes.
    let readable = conditions.iter().take(64).enumerate().rev();
    for (index, condition) in readable.filter(|(_, one)| reading(one).is_some()) {
        let bit = 1 << index;
        let others = left & !bit & enforced(conditions, condition);
        if let Some((kind, message)) = judge(&solver, conditions, condition, bit, others) {
            left &= !bit;
            let id = entry.published().get(index);
            findings.push(Finding {
                tool: entry.tool.name.to_string(),
                subject: id.map_or_else(String::new, |one| one.id().to_owned()),
                kind,
                message,
                location: place(entry, condition),
            });
        }
    }
    findings.reverse();
    findings
}

fn judge(
    solver: &Solver<'_>,
    conditions: &[Condition],
    condition: &Condition,
    bit: u64,
    others: u64,
) -> Option<(FindingKind, String)> {
    let predicate = condition.predicate();
    if solver.is_impossible(0, bit) {
        let message = format!("`{predicate}` holds for every value of its type; remove it");
        return Some((FindingKind::AlwaysTrue, message));
    }
    if !solver.is_impossible(others, bit) {
        return None;
    }
    let from = members(conditions, solver.least(others, bit));
    let from: Vec<String> = from.map(|one| format!("`{}`", one.predicate())).collect();
    let from = from.join(" and ");
    let message = format!("`{predicate}` already follows from {from}; remove it");
    Some((FindingKind::Implied, message))
}

/// Those that hold whenever this one is looked at: one that only observes stops no call.
fn enforced(conditions: &[Condition], condition: &Condition) -> u64 {
    let weak = |one: &Condition| matches!(one.policy(), Some(Policy::Ignore | Policy::Observe));
    let mut set = 0;
    for (index, other) in conditions.iter().take(64).enumerate() {
        if !weak(other) || other.policy() == condition.policy() {
            set |= 1 << index;
        }
    }
    set
}
