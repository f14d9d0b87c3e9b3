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

use std::collections::{BTreeMap, HashMap};

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
    tools: BTreeMap<String, ToolManifest>,
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
        if self.tools.contains_key(name) {
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
            Ok(tool) => {
                self.tools.insert(tool.name.clone(), tool);
            }
            Err(reason) => refusals.add(name, reason),
        }
    }

    /// Returns the tools, sorted by name in byte order.
    #[must_use]
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolManifest> {
        self.tools.values()
    }

    /// Returns their names, in the same order.
    pub(crate) fn names(&self) -> Vec<String> {
        self.tools.keys().cloned().collect()
    }

    /// Whether a model sees the same tools: their source locations may change when an executor is rebuilt.
    pub(crate) fn same_tools(&self, other: &Self) -> bool {
        let same = |(one, other): (&ToolManifest, &ToolManifest)| {
            one.clone().without_locations() == other.clone().without_locations()
        };
        let pairs = || self.tools.values().zip(other.tools.values());
        self.tools.len() == other.tools.len() && pairs().all(|pair| pair.0 == pair.1 || same(pair))
    }

    /// Returns the tools that were refused, with the reason: the first hundred by name, each once; a last entry without a
    /// name says how many more there are.
    #[must_use]
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }
}
