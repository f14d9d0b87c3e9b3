use std::io;
use std::process::ExitCode;

use clap::Subcommand;

use super::{call, list, serve};
use crate::Registry;
use crate::registry::Builder;

/// What can be asked of a registry, as subcommands for a parser made with clap 4.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use clap::Parser;
/// use contract_runtime::{cli, prelude::*};
///
/// #[derive(Parser)]
/// struct Options {
///     /// Where the notes are kept.
///     #[arg(long, global = true)]
///     folder: Option<String>,
///     #[command(subcommand)]
///     command: cli::Command,
/// }
///
/// fn main() -> ExitCode {
///     let options = Options::parse();
///     options.command.run(registry!().context(options.folder))
/// }
/// ```
#[derive(Debug, Subcommand)]
#[non_exhaustive]
pub enum Command {
    /// List the tools.
    List(list::List),
    /// Call a tool, as a model does.
    Call(call::Call),
    /// Serve the tools to a client of the Model Context Protocol.
    Serve(serve::Serve),
}

impl Command {
    /// Builds the registry and does what was asked.
    #[must_use]
    pub fn run(self, tools: Builder) -> ExitCode {
        let registry = match tools.build() {
            Ok(registry) => registry,
            Err(error) => return failed(&error),
        };
        match self.on(&registry) {
            Ok(code) => code,
            // Whoever reads the output has seen enough, as in `list | head -1`.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
            Err(error) => failed(&error),
        }
    }

    fn on(self, registry: &Registry) -> io::Result<ExitCode> {
        match self {
            Self::List(list) => list.run(registry),
            Self::Call(call) => call.run(registry),
            Self::Serve(serve) => serve.run(registry),
        }
    }
}

fn failed(error: &dyn std::error::Error) -> ExitCode {
    eprintln!("error: {error}");
    ExitCode::FAILURE
}
