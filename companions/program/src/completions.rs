//! `completions`: prints a shell completion script.

use std::ffi::OsString;
use std::path::Path;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command, Subcommand as _};
use clap_complete::Shell;
use contract_runtime::Registry;

use super::output::Output;
use super::words::without_hidden;
use super::{CommandError, exit};

/// The id of every argument that is the name of a tool.
pub(super) const TOOL: &str = "name-of-a-tool";

#[derive(Debug, clap::Args)]
#[command(after_help = "\
Where it belongs:
  bash        source <(PROGRAM completions bash), in ~/.bashrc
  zsh         PROGRAM completions zsh > a folder of $fpath/_PROGRAM
  fish        PROGRAM completions fish > ~/.config/fish/completions/PROGRAM.fish
  elvish      eval (PROGRAM completions elvish | slurp), in ~/.config/elvish/rc.elv
  powershell  PROGRAM completions powershell | Out-String | Invoke-Expression, in $PROFILE")]
pub(super) struct Completions {
    /// The shell to complete for.
    shell: Shell,
}

/// The program that the commands are part of.
#[derive(Debug, Default)]
pub(super) struct Program {
    pub(super) parser: Option<Command>,
    /// The name under which it was started.
    pub(super) word: Option<OsString>,
    name: Option<&'static str>,
}

impl Program {
    pub(super) fn known_as(mut self, name: Option<&'static str>) -> Self {
        self.name = name;
        self
    }

    /// The command that starts it.
    pub(super) fn command(&self) -> String {
        let word = self.word.clone().or_else(|| std::env::args_os().next());
        let stem = word.as_deref().map(Path::new).and_then(|path| {
            let name = path.file_name()?.to_str()?;
            Some(
                name.strip_suffix(std::env::consts::EXE_SUFFIX)
                    .unwrap_or(name)
                    .to_owned(),
            )
        });
        stem.or_else(|| self.name.map(str::to_owned))
            .unwrap_or_else(|| "program".to_owned())
    }

    pub(super) fn parser(&self) -> Command {
        match &self.parser {
            Some(parser) => parser.clone(),
            None => super::Command::augment_subcommands(Command::new("program")),
        }
    }
}

impl Completions {
    pub(super) fn run(
        self,
        program: &Program,
        registry: &Registry,
        output: &mut Output,
    ) -> Result<u8, CommandError> {
        let names: Vec<String> = registry
            .tools()
            .map(|tool| tool.name().to_owned())
            .collect();
        let mut parser = naming(without_hidden(program.parser()), &names);
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut parser, program.command(), &mut script);
        // A script, which would be useless as JSON.
        output.out.text(&String::from_utf8_lossy(&script))?;
        Ok(exit::DONE)
    }
}

/// Adds the names of the tools as possible values of the arguments that name a tool.
fn naming(parser: Command, names: &[String]) -> Command {
    let name = |argument: Arg| {
        if argument.get_id() == TOOL && !names.is_empty() {
            argument.value_parser(PossibleValuesParser::new(names.iter().cloned()))
        } else {
            argument
        }
    };
    parser
        .mut_args(name)
        .mut_subcommands(|command| naming(command, names))
}
