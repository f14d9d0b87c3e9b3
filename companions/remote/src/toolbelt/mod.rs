//! The tools that a backend accepted from its executor: nothing else can be seen or called.
//!
//! | file | holds |
//! |---|---|
//! | `limits` | limits on number, size and depth |
//! | `custom_tool` | whether one tool is accepted, and why not |
//! | `refusals` | the bounded list of refused tools |
//! | `schema` | untrusted schemas: local references only, sanitised texts |
//! | `text` | removal of invisible characters |
//! | `rules` | portable rules, evaluated before a call is sent |
//! | `expression` | parsing one rule, restricted to the profile |
//! | `cost` | cost estimates of rules |
//! | `walk` | JSON values without recursion |

mod cost;
mod custom_tool;
mod expression;
mod limits;
mod refusals;
mod rules;
mod schema;
#[cfg(test)]
mod tests;
mod text;
mod walk;

use std::collections::HashMap;

use contract_manifest::{Manifest, ToolManifest};
use serde_json::Value;

pub use limits::Limits;
pub(crate) use rules::Rules;
pub(crate) use text::{sanitize, sanitize_prose};
pub(crate) use walk::depth;

use self::refusals::Refusals;
use super::protocol::{Handshake, Refusal};

/// The tools that a model may use with one executor.
#[derive(Clone, Debug, Default)]
pub struct Toolbelt {
    tools: Vec<ToolManifest>,
    refused: Vec<Refusal>,
}

impl Toolbelt {
    /// Accepts the tools known by name, and the custom tools within the limits; the others are listed as refused, by
    /// name.
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
            belt.insert_or_refuse(taken, name, &mut refusals);
        }
        let mut usage = custom_tool::Usage::none(limits);
        for custom in &handshake.custom_tools {
            let name = custom.get("name").and_then(Value::as_str).unwrap_or("");
            let taken = if known.contains_key(name) {
                Err("the name belongs to a tool that the backend knows".to_owned())
            } else {
                let room = belt.has_room(name, limits);
                room.and_then(|()| custom_tool::validate(custom, limits, &mut usage))
            };
            belt.insert_or_refuse(taken, name, &mut refusals);
        }
        belt.refused = refusals.into_list();
        belt
    }

    fn has_room(&self, name: &str, limits: &Limits) -> Result<(), String> {
        if self.get(name).is_some() {
            Err("the name is given twice; the first is kept".to_owned())
        } else if self.tools.len() >= limits.tools {
            Err(format!("{} tools are the limit", limits.tools))
        } else {
            Ok(())
        }
    }

    fn insert_or_refuse(
        &mut self,
        taken: Result<ToolManifest, String>,
        name: &str,
        refusals: &mut Refusals,
    ) {
        match taken {
            Ok(tool) => self.tools.push(tool),
            Err(reason) => refusals.add(name, reason),
        }
    }

    /// Returns the tools in the order in which the executor declared them: those that the backend knows, then the custom ones.
    ///
    /// The [registry](crate::Session::registry) lists them by name, as every registry does.
    #[must_use]
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolManifest> {
        self.tools.iter()
    }

    pub(crate) fn get(&self, name: &str) -> Option<&ToolManifest> {
        self.tools.iter().find(|tool| tool.name == name)
    }

    /// Returns their names, in the same order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.tools.iter().map(|tool| tool.name.clone()).collect()
    }

    /// Whether a model sees the same tools: their order and source locations may change when an executor is rebuilt.
    pub(crate) fn same_tools(&self, other: &Self) -> bool {
        let is_there = |tool: &ToolManifest| {
            let same = |other: &ToolManifest| {
                tool == other
                    || tool.clone().without_locations() == other.clone().without_locations()
            };
            other.get(&tool.name).is_some_and(same)
        };
        self.tools.len() == other.tools.len() && self.tools.iter().all(is_there)
    }

    /// Returns the tools that were refused, with the reason: the first hundred by name, each once; a last entry without a
    /// name says how many more there are.
    #[must_use]
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }
}
