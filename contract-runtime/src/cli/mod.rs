//! Tools as a program of their author's: everything one wants to ask of a registry, from a command line.
//!
//! ```no_run
//! use std::process::ExitCode;
//!
//! use contract_runtime::prelude::*;
//!
//! fn main() -> ExitCode {
//!     contract_runtime::cli::run(registry!())
//! }
//! ```
//!
//! A program with options of its own takes the commands into its own parser: see [`Command`].

mod call;
mod command;
mod list;
mod serve;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};

pub use command::Command;

use crate::registry::Builder;

/// The whole command line of a program that has no options of its own.
#[derive(Debug, Parser)]
#[command(arg_required_else_help = true)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

/// Runs the program: reads the command line, builds the registry, does what is asked.
///
/// The exit code says how it went.
#[must_use]
pub fn run(tools: Builder) -> ExitCode {
    run_from(tools, std::env::args_os())
}

/// [`run`] with a command line of the caller's; its first word is the name of the program.
#[must_use]
pub fn run_from<W: Into<OsString> + Clone>(
    tools: Builder,
    words: impl IntoIterator<Item = W>,
) -> ExitCode {
    let mut parser = Line::command();
    if let Some(program) = tools.names() {
        parser = parser.name(program.name).version(program.version);
    }
    let line = parser
        .try_get_matches_from(words)
        .and_then(|matches| Line::from_arg_matches(&matches));
    match line {
        Ok(line) => line.command.run(tools),
        Err(error) => {
            // Nobody is left to be told that it could not be printed.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
        }
    }
}
