//! `diff`: compares the tools with an earlier manifest.

use std::path::PathBuf;

use contract_manifest::{Manifest, ToManifest as _, Verdict};
use contract_runtime::Registry;

use super::input;
use super::output::{BAD, BOLD, GOOD, Output};
use super::{CommandError, exit};

/// The longest manifest that is read, in bytes; that of ten tools has some 20 KiB.
const LARGEST: usize = 64 << 20;

#[derive(Debug, clap::Args)]
pub(super) struct Diff {
    /// The manifest to compare with: a file that `manifest` or `assert_frozen!` wrote; `-` reads it from standard input.
    #[arg(value_name = "OLD", value_hint = clap::ValueHint::FilePath)]
    old: PathBuf,
}

impl Diff {
    pub(super) fn run(self, registry: &Registry, output: &mut Output) -> Result<u8, CommandError> {
        let path = self.old;
        let text = input::file(LARGEST, &path)?;
        let Some(text) = text else {
            return Err(CommandError::TooLong {
                path,
                limit: LARGEST,
            });
        };
        let old =
            Manifest::from_json(&text).map_err(|source| CommandError::Manifest { path, source })?;
        let diff = registry.manifest().diff(&old);
        if output.json() {
            output.data(&serde_json::json!({
                "breaking": diff.is_breaking(),
                "changes": diff.changes(),
            }))?;
        } else {
            output.titled(&diff.to_string(), |line| match line {
                "breaking" => BAD,
                "compatible" => GOOD,
                _ => BOLD,
            })?;
        }
        let breaking = diff
            .changes()
            .iter()
            .any(|one| one.verdict == Verdict::Breaking);
        Ok(if breaking { exit::FAILED } else { exit::DONE })
    }
}
