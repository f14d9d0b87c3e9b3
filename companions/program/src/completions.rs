//! `completions`: prints a shell completion script.

use clap::builder::PossibleValuesParser;
use clap::{Arg, Command};
use clap_complete::Shell;
use contract_runtime::Registry;

use super::arguments::{Reader, TOOL};
use super::output::Output;
use super::{CommandError, call, exit};

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

impl Completions {
    pub(super) fn run(
        self,
        parser: clap::Command,
        program: &str,
        registry: &Registry,
        output: &mut Output,
    ) -> Result<u8, CommandError> {
        let mut parser = with_tools(parser, registry);
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut parser, program, &mut script);
        // A script, which would be useless as JSON.
        output.out.text(&String::from_utf8_lossy(&script))?;
        Ok(exit::DONE)
    }
}

/// Adds the names of the tools, and to `call` a command for each of them, with its arguments.
fn with_tools(parser: Command, registry: &Registry) -> Command {
    let parser = parser.mut_subcommands(|command| with_tools(command, registry));
    let tool = parser.get_arguments().find(|arg| arg.get_id() == TOOL);
    let takes_arguments = tool.map(Arg::is_trailing_var_arg_set);
    let names: Vec<_> = registry
        .tools()
        .map(|tool| tool.name().to_owned())
        .collect();
    match takes_arguments {
        Some(true) => {
            let tools = registry.tools().map(|tool| {
                Reader::new(tool).command(call::options().name(tool.name().to_owned()), &[])
            });
            // A command cannot lose an argument, so this one is made anew.
            let about = parser.get_about().cloned().unwrap_or_default();
            let command = call::options().disable_help_subcommand(true);
            command.about(about).subcommands(tools)
        }
        Some(false) if !names.is_empty() => parser.mut_arg(TOOL, |arg| {
            arg.value_parser(PossibleValuesParser::new(names))
        }),
        _ => parser,
    }
}
