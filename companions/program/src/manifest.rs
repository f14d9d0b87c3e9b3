//! `manifest`: prints the manifest of the tools.

use contract_manifest::ToManifest as _;
use contract_runtime::Registry;

use super::output::Output;
use super::{CommandError, exit};

#[derive(Debug, clap::Args)]
pub(super) struct Manifest {
    /// Leave out the source locations of the tools, as frozen contracts do.
    #[arg(long)]
    without_locations: bool,
}

impl Manifest {
    pub(super) fn run(self, registry: &Registry, output: &mut Output) -> Result<u8, CommandError> {
        let mut manifest = registry.manifest();
        if self.without_locations {
            manifest = manifest.without_locations();
        }
        output.out.json(&manifest.to_json())?;
        Ok(exit::DONE)
    }
}
