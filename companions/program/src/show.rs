use serde_json::{Value, json};

use super::screen::{BOLD, Screen};
use super::{Fault, exit};
use crate::Registry;

#[derive(Debug, clap::Args)]
pub(super) struct Show {
    /// The name of the tool.
    #[arg(id = super::completions::TOOL, value_name = "NAME")]
    name: String,
}

impl Show {
    pub(super) fn run(self, registry: &Registry, screen: &mut Screen) -> Result<u8, Fault> {
        let Some(text) = registry.explain(&self.name) else {
            return Err(Fault::no_such_tool(self.name, registry));
        };
        if screen.json() {
            screen.data(&data(registry, &self.name))?;
            return Ok(exit::DONE);
        }
        // The forms have their names at the margin.
        screen.titled(&text, |_| BOLD)?;
        Ok(exit::DONE)
    }
}

/// The tool as a manifest has it, with what only this program knows: its policies and what the lint has found.
fn data(registry: &Registry, name: &str) -> Value {
    let manifest = registry.manifest();
    let mut data = json!(manifest.tool(name));
    let policies: Vec<_> = registry.tool(name).map_or_else(Vec::new, |tool| {
        let conditions = tool.conditions().iter();
        conditions
            .map(|one| tool.policy().of_condition(one.condition().policy()).policy)
            .collect()
    });
    if let Some(conditions) = data["conditions"].as_array_mut() {
        for (condition, policy) in conditions.iter_mut().zip(policies) {
            condition["policy"] = json!(policy);
        }
    }
    let findings = registry.lint().into_iter().filter(|one| one.tool == name);
    data["findings"] = findings.map(|one| super::check::finding(&one)).collect();
    data
}
