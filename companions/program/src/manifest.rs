use super::screen::Screen;
use super::{Fault, exit};
use crate::Registry;

#[derive(Debug, clap::Args)]
pub(super) struct Manifest {
    /// Leave out where the tools are written, as frozen contracts do.
    #[arg(long)]
    without_locations: bool,
}

impl Manifest {
    pub(super) fn run(self, registry: &Registry, screen: &mut Screen) -> Result<u8, Fault> {
        let mut manifest = registry.manifest();
        if self.without_locations {
            manifest = manifest.without_locations();
        }
        screen.out.json(&manifest.to_json())?;
        Ok(exit::DONE)
    }
}
