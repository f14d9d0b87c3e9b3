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
//! | command | does |
//! |---|---|
//! | `list` | names the tools |
//! | `show NAME` | shows one contract in its four forms |
//! | `schema --for openai` | exports the tools in the manner of a provider |
//! | `call NAME JSON` | calls a tool, as a model does; `-` reads the arguments from standard input |
//! | `check` | finds conditions that are there for nothing, and tools that a provider cannot take |
//! | `manifest`, `diff OLD` | stores the contracts, and says what has changed since |
//! | `serve` | serves the tools to a client of the Model Context Protocol |
//! | `inspect` | shows the tools on a page in the browser |
//! | `verify` | proves the contracts, with the feature `verify` |
//! | `completions SHELL` | lets a shell complete commands, options and names of tools |
//!
//! `--json` gives every result and every error as JSON. Results go to standard output, everything else to standard error.
//! Colours and tables are for terminals (`NO_COLOR`, `CLICOLOR_FORCE` and `TERM=dumb` are respected), and there every
//! character that would move the cursor or hide others is shown as an escape; a pipe gets the bytes as they are.
//!
//! A program with options of its own takes the commands into its own parser: see [`Command`].
//!
//! # Exit codes
//!
//! | code | meaning |
//! |---|---|
//! | 0 | done; of `call`: the outcome is `ok` |
//! | 1 | something failed that is not a tool; `check` has findings, `diff` a breaking change, `verify` a problem |
//! | 2 | the command line, an input or the registry itself is wrong; nothing was done |
//! | 3 | of `call`: `invalid_arguments` |
//! | 4 | `unknown_tool`, also of `show` and `verify` |
//! | 5 | of `call`: `violation` |
//! | 6 | of `call`: `failed` |
//! | 7 | of `call`: `panicked` |
//! | 8 | of `call`: `timed_out` |
//! | 9 | of `call`: `cancelled`, as Ctrl-C does |
//! | 10 | of `call`: `overloaded` |
//!
//! | file | holds |
//! |---|---|
//! | `command` | the commands, as a parser has them, and where each is done |
//! | `list`, `show`, `schema`, `call`, `check`, `manifest`, `diff`, `serve`, `verify`, `completions` | one command each |
//! | `outcome`, `artifacts` | what `call` says of a call, and where it puts what came along |
//! | `inspect` | the page |
//! | `fault`, `exit` | what goes wrong here, and the exit codes |
//! | `input` | text that comes from outside, bounded |
//! | `screen`, `inert` | the two outputs, and text that does nothing to a terminal |
//! | `runtime` | waiting for async code from a plain `main`, and for Ctrl-C |

mod artifacts;
mod call;
mod check;
mod command;
mod completions;
mod diff;
mod exit;
mod fault;
mod inert;
mod input;
mod inspect;
mod list;
mod manifest;
mod outcome;
mod runtime;
mod schema;
mod screen;
mod serve;
mod show;
#[cfg(feature = "verify")]
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};

pub use command::Command;
use fault::Fault;
use screen::Screen;

use crate::registry::Builder;

// No doc comment: clap would show it. The whole command line of a program that has no options of its own.
#[derive(Debug, Parser)]
#[command(
    arg_required_else_help = true,
    about = "Contracted tools, from the command line"
)]
struct Line {
    #[command(subcommand)]
    command: Command,
}

/// Runs the program: reads the command line, builds the registry, does what is asked.
///
/// Name and version are those of the package that wrote [`registry!`](crate::registry). It may be called inside an async
/// runtime, whose thread then waits; tools run in a runtime of their own.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use contract_runtime::prelude::*;
///
/// /// Divide one number by another.
/// #[tool(read_only)]
/// #[pre(divisor != 0.0, "cannot divide by zero")]
/// fn divide(dividend: f64, divisor: f64) -> f64 {
///     dividend / divisor
/// }
///
/// fn main() -> ExitCode {
///     contract_runtime::cli::run(registry!())
/// }
/// ```
///
/// The [exit code](self#exit-codes) says how it went.
#[must_use]
pub fn run(tools: Builder) -> ExitCode {
    run_from(tools, std::env::args_os())
}

/// [`run`] with a command line of the caller's; its first word is the name of the program.
///
/// ```
/// use std::process::ExitCode;
///
/// use contract_runtime::{cli, prelude::*};
///
/// /// Say hello.
/// #[tool]
/// fn hello() -> &'static str {
///     "hello"
/// }
///
/// let tools = || Registry::builder().tool(hello);
/// assert_eq!(cli::run_from(tools(), ["greeter", "call", "hello"]), ExitCode::SUCCESS);
/// assert_eq!(cli::run_from(tools(), ["greeter", "call", "hullo"]), ExitCode::from(4));
/// ```
#[must_use]
pub fn run_from<W: Into<OsString>>(tools: Builder, words: impl IntoIterator<Item = W>) -> ExitCode {
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let mut parser = Line::command();
    if let Some(program) = tools.names() {
        let about = format!("The tools of {}, from the command line", program.name);
        parser = parser
            .name(program.name)
            .version(program.version)
            .about(about);
    }
    let line = parser
        .clone()
        .try_get_matches_from(&words)
        .and_then(|matches| Line::from_arg_matches(&matches));
    match line {
        Ok(line) => line
            .command
            .called(words.first())
            .parsed_by(parser)
            .run(tools),
        Err(error) if error.use_stderr() && asks_for_json(&words) => {
            Screen::new(true).fault(&Fault::Usage(error))
        }
        Err(error) => {
            // Nobody is left to be told that it could not be printed.
            let _ = error.print();
            ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(exit::USAGE))
        }
    }
}

/// Whether errors are to be JSON, though the command line could not be read.
fn asks_for_json(words: &[OsString]) -> bool {
    let options = words.iter().take_while(|word| *word != "--");
    options.into_iter().any(|word| word == "--json")
}
