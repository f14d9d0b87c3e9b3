//! The tools of an executor as its backend took them: nothing else can be seen or called.
//!
//! | file | holds |
//! |---|---|
//! | `limits` | how many, how large, how deep |
//! | `judge` | whether one tool is taken, and why not |
//! | `rules` | portable rules, evaluated before a call travels |

mod judge;
mod limits;
mod rules;

use std::collections::BTreeMap;

use serde_json::Value;

pub use limits::Limits;
pub(crate) use rules::Rules;

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
        for custom in &handshake.custom_tools {
            let name = custom.get("name").and_then(Value::as_str).unwrap_or("");
            if known.tools.iter().any(|tool| tool.name == name) {
                belt.refuse(name, "the name belongs to a tool that the backend knows");
                continue;
            }
            match judge::custom(custom, limits) {
                Ok(tool) => belt.take(tool, limits),
                Err(reason) => belt.refuse(name, &reason),
            }
        }
        belt
    }

    fn take(&mut self, tool: ToolManifest, limits: &Limits) {
        if self.tools.contains_key(&tool.name) {
            self.refuse(&tool.name, "the name is given twice; the first stands");
        } else if self.tools.len() >= limits.tools {
            let reason = format!("{} tools are the limit", limits.tools);
            self.refuse(&tool.name, &reason);
        } else {
            self.tools.insert(tool.name.clone(), tool);
        }
    }

    fn refuse(&mut self, name: &str, reason: &str) {
        // A hostile handshake does not decide how long the answer is.
        if self.refused.len() < 1_000 {
            self.refused.push(Refusal {
                name: judge::plain(name).chars().take(64).collect(),
                reason: reason.to_owned(),
            });
        }
    }

    /// The tools, by name in the order of their bytes.
    #[must_use]
    pub fn tools(&self) -> impl ExactSizeIterator<Item = &ToolManifest> {
        self.tools.values()
    }

    /// What was not taken, and why.
    #[must_use]
    pub fn refused(&self) -> &[Refusal] {
        &self.refused
    }
}
