//! `verify`: tests the contracts with generated inputs.

use std::path::PathBuf;

use contract_runtime::Registry;
use contract_verify::Verifier;
use serde_json::json;

use super::output::{BOLD, Output};
use super::{CommandError, exit};

#[derive(Debug, clap::Args)]
pub(super) struct Verify {
    /// The names of the tools; by default all of them.
    #[arg(id = super::arguments::TOOL, value_name = "NAME")]
    names: Vec<String>,
    /// How many random inputs to try for each tool, besides those at every bound.
    #[arg(long, value_name = "NUMBER")]
    cases: Option<u32>,
    /// The seed of the inputs, by default 1; `CONTRACT_VERIFY_SEED=random` takes a new one.
    #[arg(long, value_name = "NUMBER")]
    seed: Option<u64>,
    /// How many sequences of calls to try; by default as many as cases.
    #[arg(long, value_name = "NUMBER")]
    sequences: Option<u32>,
    /// Fail if something was left out that nobody decided to leave out.
    #[arg(long)]
    strict: bool,
    /// Keep inputs and sequences that failed here, a JSON file or a folder, and try them first.
    #[arg(long, value_name = "PATH", value_hint = clap::ValueHint::AnyPath)]
    regressions: Option<PathBuf>,
    /// Fail where a boundary is not the one that is recorded in this folder; `UPDATE_CONTRACTS=1` records them.
    #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    boundaries: Option<PathBuf>,
}

impl Verify {
    /// Bodies run only of tools that say that they change nothing, or that their author has let run.
    pub(super) fn run(self, registry: &Registry, output: &mut Output) -> Result<u8, CommandError> {
        let mut verifier = Verifier::new(registry.clone()).strict(self.strict);
        for name in self.names {
            if registry.tool(&name).is_none() {
                return Err(CommandError::no_such_tool(name, registry));
            }
            verifier = verifier.tool(name);
        }
        if let Some(cases) = self.cases {
            verifier = verifier.cases(cases);
        }
        if let Some(seed) = self.seed {
            verifier = verifier.seed(seed);
        }
        if let Some(sequences) = self.sequences {
            verifier = verifier.sequences(sequences);
        }
        if let Some(path) = self.regressions {
            verifier = verifier.regressions(path);
        }
        if let Some(path) = self.boundaries {
            verifier = verifier.boundaries(path);
        }
        let report = verifier.run();
        if output.json() {
            let mut data = json!(report);
            data["ok"] = report.is_ok().into();
            output.data(&data)?;
        } else {
            output.titled(&report.to_string(), |_| BOLD)?;
        }
        Ok(if report.is_ok() {
            exit::DONE
        } else {
            exit::FAILED
        })
    }
}
