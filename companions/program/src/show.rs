//! `show`: prints one tool with its contract.

use contract_manifest::{Inspect as _, ToManifest as _};
use contract_runtime::{PublishedCondition, Registry, ToolInfo};
use serde_json::{Value, json};

use super::output::{BOLD, Output};
use super::{CommandError, exit};

#[derive(Debug, clap::Args)]
pub(super) struct Show {
    /// The name of the tool.
    #[arg(id = super::arguments::TOOL, value_name = "NAME")]
    name: String,
}

impl Show {
    pub(super) fn run(self, registry: &Registry, output: &mut Output) -> Result<u8, CommandError> {
        let Some(text) = registry.explain(&self.name) else {
            return Err(CommandError::no_such_tool(self.name, registry));
        };
        if output.json() {
            output.data(&data(registry, &self.name))?;
            return Ok(exit::DONE);
        }
        let text = match registry.tool(&self.name).and_then(history) {
            Some(history) => format!("{}\n\nhistory\n    {history}\n", text.trim_end()),
            None => text,
        };
        // The names of the forms are not indented.
        output.titled(&text, |_| BOLD)?;
        Ok(exit::DONE)
    }
}

/// What to know of a tool whose conditions ask for earlier calls.
pub(super) fn history(tool: ToolInfo<'_>) -> Option<String> {
    let name = tool.name();
    let told = format!(
        "`{name}` asks for earlier calls, and `call` remembers none, so it is refused here; a session of `serve` and an agent's run remember them"
    );
    tool.asks_history().then_some(told)
}

/// The tool as in a manifest, with its policies and the findings of the lint.
fn data(registry: &Registry, name: &str) -> Value {
    let manifest = registry.manifest();
    let mut data = json!(manifest.tool(name));
    let policies: Vec<_> = registry.tool(name).map_or_else(Vec::new, |tool| {
        let conditions = tool.conditions().iter();
        conditions.map(PublishedCondition::policy).collect()
    });
    if let Some(conditions) = data["conditions"].as_array_mut() {
        for (condition, policy) in conditions.iter_mut().zip(policies) {
            condition["policy"] = json!(policy);
        }
    }
    if let Some(approval) = registry.tool(name).and_then(super::list::approval) {
        data["approval"] = approval.into();
    }
    let findings = registry.lint().into_iter().filter(|one| one.tool == name);
    data["findings"] = findings.map(|one| super::check::finding(&one)).collect();
    data
}
