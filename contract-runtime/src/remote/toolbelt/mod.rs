//! The tools of an executor as its backend took them: nothing else can be seen or called.
//!
//! | file | holds |
//! |---|---|
//! | `limits` | how many, how large, how deep |
//! | `judge` | whether one tool is taken, and why not |
//! | `schema` | the schemas of a stranger: local, and with texts that show |
//! | `text` | texts without what does not show |
//! | `rules` | portable rules, evaluated before a call travels |
//! | `expression` | one rule, held to its profile |
//! | `cost` | how much a rule may cost |
//! | `walk` | JSON values without recursion |

mod cost;
mod expression;
mod judge;
mod limits;
mod rules;
mod schema;
#[cfg(test)]
mod tests;
mod text;
mod walk;

use std::collections::BTreeMap;

use serde_json::Value;

pub use limits::Limits;
pub(crate) use rules::Rules;
pub(crate) use text::shown;
pub(crate) use walk::depth;

/// Whether a rule that this crate wrote is one that it takes from others.
#[cfg(test)]
pub(crate) fn reads_rule(rule: &str) -> bool {
    expression::read(rule).is_some()
}

use super::protocol::{Handshake, Refusal};
use crate::registry::{Manifest, ToolManifest};

/// The tools that a model may use with one executor.
#[derive(Clone, Debug, Default)]
pub struct Toolbelt {
    tools: BTreeMap<String, ToolManifest>,
    refused: Vec<Refusal>,
}

impl Toolbelt {
    /// Takes what is known by name, and what describes itself within the limits; the rest is refused by name.
    #[must_use]
    pub fn of(handshake: &Handshake, known: &Manifest, limits: &Limits) -> Self {
        let mut belt = Self::default();
        for name in &handshake.known_tools {
            match known.tools.iter().find(|tool| tool.name == *name) {
                Some(tool) => belt.take(tool.clone(), limits),
                None => belt.refuse(name, "the backend knows no tool of that name"),
            }
        }
        let mut spent = judge::Spent::nothing(limits);
        for custom in &handshake.custom_tools {
            let name = custom.get("name").and_then(Value::as_str).unwrap_or("");
            if known.tools.iter().any(|tool| tool.name == name) {
                belt.refuse(name, "the name belongs to a tool that the backend knows");
            } else if let Err(reason) = belt.has_room(name, limits) {
                belt.refuse(name, &reason);
            } else {
                match judge::custom(custom, limits, &mut spent) {
                    Ok(tool) => belt.take(tool, limits),
                    Err(reason) => belt.refuse(name, &reason),
                }
            }
        }
        belt
    }

    fn has_room(&self, name: &str, limits: &Limits) -> Result<(), String> {
        if self.tools.contains_key(name) {
            Err("the name is given twice; the first stands".to_owned())
        } else if self.tools.len() >= limits.tools {
            Err(format!("{} tools are the limit", limits.tools))
        } else {
            Ok(())
        }
    }

    fn take(&mut self, tool: ToolManifest, limits: &Limits) {
        match self.has_room(&tool.name, limits) {
            Ok(()) => {
                self.tools.insert(tool.name.clone(), tool);
            }
            Err(reason) => self.refuse(&tool.name, &reason),
        }
    }

    fn refuse(&mut self, name: &str, reason: &str) {
        // A hostile handshake does not decide how long the answer is.
        if self.refused.len() < 1_000 {
            self.refused.push(Refusal {
                name: text::shown(name, 64),
                reason: reason.to_owned(),
            });
        }
    }

    /// The tools, by name in the order of their bytes.
    #[must_use]
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolManifest> {
        self.tools.values()
    }

    /// Their names, in the same order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.tools.keys().cloned().collect()
    }

    /// Whether a model sees the same.
    pub(crate) fn same_tools(&self, other: &Self) -> bool {
        self.tools == other.tools
    }

    /// What was not taken, and why.
    #[must_use]
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }
}
