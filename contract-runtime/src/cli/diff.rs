use std::fs;
use std::path::{Path, PathBuf};

use super::call::read_input;
use super::screen::{BAD, BOLD, GOOD, Screen};
use super::{Fault, exit};
use crate::{Manifest, Registry, Verdict};

#[derive(Debug, clap::Args)]
pub(super) struct Diff {
    /// The manifest to compare with: a file that `manifest` or `assert_frozen!` wrote; `-` reads it from standard input.
    #[arg(value_name = "OLD", value_hint = clap::ValueHint::FilePath)]
    old: PathBuf,
}

impl Diff {
    pub(super) fn run(self, registry: &Registry, screen: &mut Screen) -> Result<u8, Fault> {
        let path = self.old;
        let text = if path == Path::new("-") {
            read_input()?
        } else {
            fs::read_to_string(&path).map_err(|source| Fault::Unread {
                path: path.clone(),
                source,
            })?
        };
        let old = Manifest::from_json(&text).map_err(|source| Fault::Manifest { path, source })?;
        let diff = registry.manifest().diff(&old);
        if screen.json() {
            screen.data(&serde_json::json!({
                "breaking": diff.is_breaking(),
                "changes": diff.changes(),
            }))?;
        } else {
            screen.titled(&diff.to_string(), |line| match line {
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
