use std::path::PathBuf;

use serde_json::json;

use super::screen::{BOLD, Screen};
use super::{Fault, exit};
use crate::Registry;
use crate::verify::Verifier;

#[derive(Debug, clap::Args)]
pub(super) struct Verify {
    /// The names of the tools; all of them where none is named.
    #[arg(id = super::completions::TOOL, value_name = "NAME")]
    names: Vec<String>,
    /// How many inputs are made by chance for each tool, beside those at every bound.
    #[arg(long, value_name = "NUMBER")]
    cases: Option<u32>,
    /// Makes the same inputs as the run that named this number.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// Keep inputs that failed here, a JSON file or a folder, and try them first.
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    regressions: Option<PathBuf>,
}

impl Verify {
    /// Bodies run only of tools that say that they change nothing, or that their author has let run.
    pub(super) fn run(self, registry: &Registry, screen: &mut Screen) -> Result<u8, Fault> {
        let mut verifier = Verifier::new(registry.clone());
        for name in self.names {
            if registry.tool(&name).is_none() {
                return Err(Fault::no_such_tool(name, registry));
            }
            verifier = verifier.tool(name);
        }
        if let Some(cases) = self.cases {
            verifier = verifier.cases(cases);
        }
        if let Some(seed) = self.seed {
            verifier = verifier.seed(seed);
        }
        if let Some(path) = self.regressions {
            verifier = verifier.regressions(path);
        }
        let report = verifier.run();
        if screen.json() {
            let mut data = json!(report);
            data["ok"] = report.is_ok().into();
            screen.data(&data)?;
        } else {
            screen.titled(&report.to_string(), |_| BOLD)?;
        }
        Ok(if report.is_ok() {
            exit::DONE
        } else {
            exit::FAILED
        })
    }
}
