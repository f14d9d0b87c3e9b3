use std::io::{self, Write as _};
use std::process::ExitCode;

use crate::Registry;

#[derive(Debug, clap::Args)]
pub struct List {
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

impl List {
    pub(super) fn run(self, registry: &Registry) -> io::Result<ExitCode> {
        let width = registry.tools().map(|tool| tool.name().len()).max();
        let width = width.unwrap_or_default();
        let mut out = io::stdout().lock();
        if self.json {
            let names: Vec<_> = registry.tools().map(|tool| tool.name()).collect();
            writeln!(out, "{}", serde_json::json!(names))?;
            return Ok(ExitCode::SUCCESS);
        }
        for tool in registry.tools() {
            let line = tool.description().lines().next().unwrap_or_default();
            writeln!(out, "{:width$}  {line}", tool.name())?;
        }
        Ok(ExitCode::SUCCESS)
    }
}
