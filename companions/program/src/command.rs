//! The subcommands of the command line, and how they are parsed and run.

use std::ffi::OsString;
use std::path::Path;
use std::process::ExitCode;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Subcommand};
use contract_runtime::Builder;

#[cfg(feature = "inspect")]
use super::inspect;
#[cfg(feature = "serve")]
use super::serve;
#[cfg(feature = "verify")]
use super::verify;
use super::{CommandError, Output};
use super::{call, check, completions, diff, list, manifest, schema, show};

/// The commands of a registry, as subcommands for a parser made with clap 4.
///
/// ```no_run
/// use std::process::ExitCode;
///
/// use clap::Parser;
/// use contract_runtime::prelude::*;
///
/// #[derive(Parser)]
/// struct Options {
///     /// Where the notes are kept.
///     #[arg(long, global = true)]
///     folder: Option<String>,
///     #[command(subcommand)]
///     command: contract_program::Command,
/// }
///
/// fn main() -> ExitCode {
///     let options = Options::parse();
///     let tools = registry!().context(options.folder);
///     options.command.within::<Options>().run(tools)
/// }
/// ```
///
/// It adds the option `--json`, so the parser must not have one, too. An invalid command line is reported by your parser: `clap`
/// prints text, even with `--json`, and exits with 2. Beside commands of your own, write
/// `#[command(flatten)] Tools(contract_program::Command)`.
#[derive(Debug)]
pub struct Command {
    /// Boxed, because both are large and users put this type into enums.
    action: Box<Action>,
    parser: Option<Box<clap::Command>>,
    /// The word that started the program.
    word: Option<OsString>,
    json: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
enum Action {
    /// List the tools.
    List(list::List),
    /// Show all of one tool's contract, in its four forms.
    Show(show::Show),
    /// Export the tools in the format of a provider.
    Schema(schema::Schema),
    /// Call a tool, as a model does.
    Call(call::Call),
    /// Find conditions that have no effect, and tools that a provider does not accept.
    Check(check::Check),
    /// Print the contracts of all tools as a document that can be stored and compared.
    Manifest(manifest::Manifest),
    /// Say what has changed since a manifest was stored.
    Diff(diff::Diff),
    /// Serve the tools to a client of the Model Context Protocol.
    #[cfg(feature = "serve")]
    Serve(serve::Serve),
    /// Prove the contracts: try inputs around every bound, and run the bodies that may be run.
    #[cfg(feature = "verify")]
    Verify(verify::Verify),
    /// Show the tools on a page in the browser, try them there, and follow calls as they happen.
    #[cfg(feature = "inspect")]
    Inspect(inspect::Inspect),
    /// Print a script with which a shell completes commands, options, names of tools and their arguments.
    Completions(completions::Completions),
}

impl Command {
    /// Sets the parser that the command is part of, so that completions know all its options.
    #[must_use]
    pub fn within<P: CommandFactory>(self) -> Self {
        self.parsed_by(P::command())
    }

    /// Builds the registry and runs the command.
    ///
    /// Returns the [exit code](super#exit-codes). Like [`run`](super::run), it may be called inside an async runtime.
    #[must_use]
    pub fn run(self, tools: Builder) -> ExitCode {
        let mut output = Output::new(self.json || self.action.asks_for_json());
        let done = self
            .execute(tools, &mut output)
            .and_then(|code| Ok(output.flush().map(|()| code)?));
        match done {
            Ok(code) => ExitCode::from(code),
            Err(error) => output.error(&error),
        }
    }

    fn execute(self, tools: Builder, output: &mut Output) -> Result<u8, CommandError> {
        let package = tools.program_names().map(|names| names.name);
        let program = &name(self.word, package);
        let registry = &tools.build()?;
        match *self.action {
            Action::List(list) => list.run(registry, output),
            Action::Show(show) => show.run(registry, output),
            Action::Schema(schema) => schema.run(registry, output),
            Action::Call(call) => call.run(program, registry, output),
            Action::Check(check) => check.run(registry, output),
            Action::Manifest(manifest) => manifest.run(registry, output),
            Action::Diff(diff) => diff.run(registry, output),
            #[cfg(feature = "serve")]
            Action::Serve(serve) => serve.run(registry, output),
            #[cfg(feature = "verify")]
            Action::Verify(verify) => verify.run(registry, output),
            #[cfg(feature = "inspect")]
            Action::Inspect(inspect) => inspect.run(registry, output),
            Action::Completions(completions) => {
                let parser = match self.parser {
                    Some(parser) => *parser,
                    None => Self::augment_subcommands(clap::Command::new("program")),
                };
                completions.run(parser, program, registry, output)
            }
        }
    }

    pub(super) fn parsed_by(mut self, parser: clap::Command) -> Self {
        self.parser = Some(Box::new(parser));
        self
    }

    /// The name under which the program was started.
    pub(super) fn called(mut self, word: Option<&OsString>) -> Self {
        self.word = word.cloned();
        self
    }
}

impl Action {
    fn asks_for_json(&self) -> bool {
        matches!(self, Self::Call(call) if call.asks_for_json())
    }
}

/// The name under which the program was started, or else that of its package.
fn name(word: Option<OsString>, package: Option<&str>) -> String {
    let word = word.or_else(|| std::env::args_os().next());
    let file = word
        .as_deref()
        .and_then(|word| Path::new(word).file_name()?.to_str());
    let suffix = std::env::consts::EXE_SUFFIX;
    let stem = file.map(|file| file.strip_suffix(suffix).unwrap_or(file));
    stem.or(package).unwrap_or("program").to_owned()
}

/// The commands, and the option that all of them share.
fn extend(parser: clap::Command, add: fn(clap::Command) -> clap::Command) -> clap::Command {
    add(parser.arg(call::json_option()))
}

impl Subcommand for Command {
    fn augment_subcommands(parser: clap::Command) -> clap::Command {
        extend(parser, Action::augment_subcommands)
    }

    fn augment_subcommands_for_update(parser: clap::Command) -> clap::Command {
        extend(parser, Action::augment_subcommands_for_update)
    }

    fn has_subcommand(name: &str) -> bool {
        Action::has_subcommand(name)
    }
}

impl FromArgMatches for Command {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            action: Box::new(Action::from_arg_matches(matches)?),
            json: json(matches),
            parser: None,
            word: None,
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.json |= json(matches);
        self.action.update_from_arg_matches(matches)
    }
}

fn json(matches: &ArgMatches) -> bool {
    matches!(matches.try_get_one::<bool>("json"), Ok(Some(true)))
}
