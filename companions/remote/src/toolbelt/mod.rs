//! The tools of an executor as its backend took them: nothing else can be seen or called.
//!
//! | file | holds |
//! |---|---|
//! | `limits` | how many, how large, how deep |
//! | `judge` | whether one tool is taken, and why not |
//! | `refusals` | what is not taken, no longer than somebody reads |
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
mod refusals;
mod rules;
mod schema;
#[cfg(test)]
mod tests;
mod text;
mod walk;

use std::collections::{BTreeMap, HashMap};

use serde_json::Value;

pub use limits::Limits;
pub(crate) use rules::Rules;
pub(crate) use text::{shown, told};
pub(crate) use walk::depth;

/// Whether a rule that this crate wrote is one that it takes from others.
#[cfg(test)]
pub(crate) fn reads_rule(rule: &str) -> bool {
    expression::read(rule).is_some()
}

use self::refusals::Refusals;
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
        let mut refusals = Refusals::default();
        let known = known.tools.iter().map(|tool| (tool.name.as_str(), tool));
        let known: HashMap<_, _> = known.collect();
        for name in &handshake.known_tools {
            let taken = match (known.get(name.as_str()), belt.has_room(name, limits)) {
                (None, _) => Err("the backend knows no tool of that name".to_owned()),
                (Some(_), Err(reason)) => Err(reason),
                (Some(tool), Ok(())) => Ok((*tool).clone()),
            };
            belt.take_or(taken, name, &mut refusals);
        }
        let mut spent = judge::Spent::nothing(limits);
        for custom in &handshake.custom_tools {
            let name = custom.get("name").and_then(Value::as_str).unwrap_or("");
            let taken = if known.contains_key(name) {
                Err("the name belongs to a tool that the backend knows".to_owned())
            } else {
                let room = belt.has_room(name, limits);
                room.and_then(|()| judge::custom(custom, limits, &mut spent))
            };
            belt.take_or(taken, name, &mut refusals);
        }
        belt.refused = refusals.listed();
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

    fn take_or(
        &mut self,
        taken: Result<ToolManifest, String>,
        name: &str,
        refusals: &mut Refusals,
    ) {
        match taken {
            Ok(tool) => {
                self.tools.insert(tool.name.clone(), tool);
            }
            Err(reason) => refusals.note(name, reason),
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

    /// Whether a model sees the same: where a tool is written may change when an executor is built again.
    pub(crate) fn same_tools(&self, other: &Self) -> bool {
        let same = |(one, other): (&ToolManifest, &ToolManifest)| {
            let [mut one, mut other] = [one.clone(), other.clone()];
            one.drop_locations();
            other.drop_locations();
            one == other
        };
        let pairs = || self.tools.values().zip(other.tools.values());
        self.tools.len() == other.tools.len() && pairs().all(|pair| pair.0 == pair.1 || same(pair))
    }

    /// What was not taken, and why: the first hundred by name, each once; a last one without a name says how many more
    /// there are.
    #[must_use]
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }
}
