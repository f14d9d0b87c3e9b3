#![doc = include_str!("../README.md")]
#![cfg_attr(docsrs, feature(doc_cfg))]

// | file | holds |
// |---|---|
// | `command` | the subcommands, and how they are parsed and run |
// | `list`, `show`, `schema`, `call`, `check`, `manifest`, `diff`, `serve`, `verify`, `completions` | one command each |
// | `arguments` | the arguments of `call`: their parser, made of the schema of the tool, and how the schema reads them |
// | `explain` | each condition of a call |
// | `approval` | what a call asks, its id on the command line, and the prompt |
// | `outcome`, `artifacts` | the output of `call`, and the files that it writes |
// | `client_config` | the settings of clients of `serve` |
// | `inspect` | the page |
// | `error`, `exit` | the errors of commands, and the exit codes |
// | `input` | reads bounded input |
// | `output`, `terminal_escape` | standard output and standard error, and escapes for terminals |
// | `runtime` | waiting for async code from a plain `main`, and for Ctrl-C |

mod approval;
mod arguments;
mod artifacts;
mod call;
mod check;
#[cfg(feature = "serve")]
mod client_config;
mod command;
mod completions;
mod diff;
mod error;
mod exit;
mod explain;
mod input;
#[cfg(feature = "inspect")]
mod inspect;
mod list;
mod manifest;
mod outcome;
mod output;
mod runtime;
mod schema;
#[cfg(feature = "serve")]
mod serve;
mod show;
mod terminal_escape;
#[cfg(feature = "verify")]
mod verify;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _, Parser};
use contract_runtime::__family::methods;
use contract_runtime::{Builder, Policy, Registry};

pub use command::Command;
use error::CommandError;
use output::Output;

// No doc comment: clap would show it. The whole command line of a program that has no options of its own.
#[derive(Debug, Parser)]
#[command(
    arg_required_else_help = true,
    about = "Contracted tools, from the command line"
)]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// Runs the program: reads the command line, builds the registry and runs the command.
///
/// Name and version are those of the package that calls [`registry!`](contract_runtime::registry). It may be called inside an async
/// runtime and blocks its thread; tools run in a runtime of their own.
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
///     contract_program::run(registry!())
/// }
/// ```
///
/// Returns the [exit code](self#exit-codes).
#[must_use]
pub fn run(tools: Builder) -> ExitCode {
    run_from(tools, std::env::args_os())
}

/// Runs the program like [`run`], with the given command line; its first word is the name of the program.
///
/// ```
/// use std::process::ExitCode;
///
/// use contract_runtime::prelude::*;
///
/// /// Say hello.
/// #[tool]
/// fn hello() -> &'static str {
///     "hello"
/// }
///
/// let tools = || Registry::builder().tool(hello);
/// assert_eq!(contract_program::run_from(tools(), ["greeter", "call", "hello"]), ExitCode::SUCCESS);
/// assert_eq!(contract_program::run_from(tools(), ["greeter", "call", "hullo"]), ExitCode::from(4));
/// ```
#[must_use]
pub fn run_from<W: Into<OsString>>(tools: Builder, words: impl IntoIterator<Item = W>) -> ExitCode {
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    let mut parser = CommandLine::command();
    if let Some(program) = tools.program_names() {
        let about = format!("The tools of {}, from the command line", program.name);
        parser = parser
            .name(program.name)
            .version(program.version)
            .about(about);
    }
    let line = parser
        .clone()
        .try_get_matches_from(&words)
        .and_then(|matches| CommandLine::from_arg_matches(&matches));
    match line {
        Ok(line) => line
            .command
            .called(words.first())
            .parsed_by(parser)
            .run(tools),
        Err(error) => Output::new(output::asks_for_json(&words)).error(&CommandError::Usage(error)),
    }
}

/// Runs the program with the functions of one linked package, as `cargo contract` does; the first word names the package.
///
/// Ends with 64 if no function of the package is a tool. Unstable: both are released together.
#[doc(hidden)]
#[must_use]
pub fn __run_package() -> ExitCode {
    let mut words = std::env::args_os();
    let program = words.next().unwrap_or_default();
    let package = words.next().unwrap_or_default();
    let package = package.to_string_lossy();
    let methods = methods::of_package(&package);
    if !methods.is_empty() {
        let all: Vec<String> = methods.iter().map(ToString::to_string).collect();
        let all = methods::joined(&all);
        eprintln!(
            "left out: {all}, because methods come with their state; test them with a registry of your own"
        );
    }
    let words: Vec<OsString> = words.collect();
    let is_incomplete = !methods.is_empty() && words.iter().any(|word| word == "--strict");
    // As `assert_frozen!` does.
    let mut tools = Registry::builder()
        .without_contexts()
        .policy(Policy::Enforce);
    if !tools.add_package(&package) {
        return ExitCode::from(64);
    }
    let code = run_from(tools, std::iter::once(program).chain(words));
    if is_incomplete && code == ExitCode::SUCCESS {
        return ExitCode::from(exit::FAILED);
    }
    code
}
