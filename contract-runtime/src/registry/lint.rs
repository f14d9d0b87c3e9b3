//! Lints: conditions that have no effect, or of which models are told nothing.

use std::fmt;

use serde::Serialize;

use super::Registry;
use super::entry::Entry;
use super::findings::{Asked, members, place};
use crate::contract::condition::Condition;
use crate::contract::findings::AbstractState;
use crate::contract::findings::judge::{impossible, least, readable};
use crate::contract::policy::Policy;

/// A condition that could be removed, or of which a model is told nothing.
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
/// assert_eq!(findings[0].condition, "wait.pre[1]");
/// assert_eq!(findings[0].message, "`seconds < 3_600` already follows from `seconds < 60`; remove it");
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// The tool.
    pub tool: String,
    /// The id of the condition in violations, such as `wait.pre[1]`.
    pub condition: String,
    /// What is wrong.
    pub kind: FindingKind,
    /// The finding, as a sentence.
    pub message: String,
    /// Where the condition is defined, as `file:line:column`.
    pub location: String,
}

/// What is wrong with a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum FindingKind {
    /// Every value of the parameter types satisfies it.
    AlwaysTrue,
    /// The other conditions imply it.
    Implied,
    /// A precondition refuses calls, and a model is shown nothing of it.
    Unexplained,
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: {}", self.location, self.condition, self.message)
    }
}

impl Registry {
    /// Finds preconditions that could be removed, because they are always true for their types or implied by others, and
    /// those that refuse calls while a model is told nothing of them, because only the program can evaluate them and they
    /// have no text. None of them is an error.
    ///
    /// It knows what the published contract knows, and is silent where it cannot prove. In a test of a package:
    ///
    /// ```
    /// # use contract_runtime::prelude::*;
    /// # /// Halve an even number.
    /// # #[tool]
    /// # #[pre(number % 2 == 0)]
    /// # fn halve(number: i64) -> i64 { number / 2 }
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
                findings
            })
            .collect()
    }
}

fn unexplained(entry: &Entry) -> impl Iterator<Item = Finding> {
    let silent = entry.published.conditions.iter();
    let silent = silent.filter(|published| published.is_unexplained());
    silent.map(|published| {
        let condition = published.condition();
        Finding {
            tool: entry.tool.name.clone(),
            condition: published.id().to_owned(),
            kind: FindingKind::Unexplained,
            message: format!(
                "a model is shown nothing of `{}`; add a message, or `requires = \"..\"`",
                condition.predicate()
            ),
            location: place(entry, condition),
        }
    })
}

fn superfluous(entry: &Entry) -> Vec<Finding> {
    let asked = Asked::of(entry);
    let known = asked.known();
    let facts = asked.facts(entry, &known);
    let conditions = entry.tool.conditions();
    let mut left = readable(conditions);
    let mut findings = Vec::new();
    // Of two that say the same the later one goes.
    for index in (0..conditions.len().min(64)).rev() {
        let bit = 1 << index;
        let Some(condition) = conditions.get(index).filter(|_| left & bit != 0) else {
            continue;
        };
        let others = left & !bit & enforced(conditions, condition);
        if let Some((kind, message)) = judge(&facts, conditions, condition, bit, others) {
            left &= !bit;
            let id = entry.published.conditions.get(index);
            findings.push(Finding {
                tool: entry.tool.name.clone(),
                condition: id.map_or_else(String::new, |one| one.id().to_owned()),
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
    facts: &AbstractState<'_>,
    conditions: &[Condition],
    condition: &Condition,
    bit: u64,
    others: u64,
) -> Option<(FindingKind, String)> {
    let predicate = condition.predicate();
    if impossible(*facts, conditions, 0, bit) {
        let message = format!("`{predicate}` holds for every value of its type; remove it");
        return Some((FindingKind::AlwaysTrue, message));
    }
    if !impossible(*facts, conditions, others, bit) {
        return None;
    }
    let from = members(conditions, least(facts, conditions, others, bit));
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
