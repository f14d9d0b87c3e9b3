//! `man`: prints manual pages.

use std::fs;
use std::path::PathBuf;

use super::completions::Program;
use super::output::Output;
use super::words::without_hidden;
use super::{CommandError, exit};

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Without options, the page of the program goes to standard output:
  PROGRAM man > PROGRAM.1; man ./PROGRAM.1")]
pub(super) struct Man {
    /// Write the pages of the program and of each command into this folder, such as `/usr/local/share/man/man1`.
    #[arg(long, value_name = "FOLDER", value_hint = clap::ValueHint::DirPath)]
    out: Option<PathBuf>,
}

impl Man {
    pub(super) fn run(self, program: &Program, output: &mut Output) -> Result<u8, CommandError> {
        let mut parser = without_hidden(program.parser()).name(program.command());
        parser.build();
        let Some(folder) = self.out else {
            let mut page = Vec::new();
            clap_mangen::Man::new(parser).render(&mut page)?;
            output.out.text(&String::from_utf8_lossy(&page))?;
            return Ok(exit::DONE);
        };
        let written =
            fs::create_dir_all(&folder).and_then(|()| clap_mangen::generate_to(parser, &folder));
        written.map_err(|source| CommandError::Unwritten {
            path: folder,
            source,
        })?;
        Ok(exit::DONE)
    }
}
