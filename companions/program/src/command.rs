use std::ffi::OsString;
use std::process::ExitCode;

use clap::{Arg, ArgAction, ArgMatches, CommandFactory, FromArgMatches, Subcommand};

use super::completions::Program;
#[cfg(feature = "verify")]
use super::verify;
use super::{Fault, Screen};
use super::{call, check, completions, diff, inspect, list, manifest, schema, serve, show};
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
///     let tools = registry!().context(options.folder);
///     options.command.within::<Options>().run(tools)
/// }
/// ```
///
/// It brings the option `--json`, so the parser must not have one too. A command line that the parser cannot read is the
/// parser's to tell of: `clap` does so in text, also under `--json`, and ends the program with 2. Beside commands of your own it stands as
/// `#[command(flatten)] Tools(cli::Command)`.
#[derive(Debug)]
pub struct Command {
    /// Both are large, and this stands in enums of others.
    asked: Box<Asked>,
    program: Box<Program>,
    json: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
enum Asked {
    /// List the tools.
    List(list::List),
    /// Show all of one tool's contract, in its four forms.
    Show(show::Show),
    /// Export the tools in the manner of a provider.
    Schema(schema::Schema),
    /// Call a tool, as a model does.
    Call(call::Call),
    /// Find conditions that are there for nothing, and tools that a provider cannot take.
    Check(check::Check),
    /// Print the contracts of all tools as a document that can be stored and compared.
    Manifest(manifest::Manifest),
    /// Say what has changed since a manifest was stored.
    Diff(diff::Diff),
    /// Serve the tools to a client of the Model Context Protocol.
    Serve(serve::Serve),
    /// Prove the contracts: try inputs around every bound, and run the bodies that may be run.
    #[cfg(feature = "verify")]
    Verify(verify::Verify),
    /// Show the tools on a page in the browser, try them there, and follow calls as they happen.
    Inspect(inspect::Inspect),
    /// Print what lets a shell complete commands, options and names of tools.
    Completions(completions::Completions),
}

impl Command {
    /// Says which parser it is part of, so that completions know all its options.
    #[must_use]
    pub fn within<P: CommandFactory>(self) -> Self {
        self.parsed_by(P::command())
    }

    /// Builds the registry and does what was asked.
    ///
    /// The [exit code](super#exit-codes) says how it went. It may be called inside an async runtime, as
    /// [`run`](super::run) may.
    #[must_use]
    pub fn run(self, tools: Builder) -> ExitCode {
        let mut screen = Screen::new(self.json);
        let done = self
            .done(tools, &mut screen)
            .and_then(|code| Ok(screen.flush().map(|()| code)?));
        match done {
            Ok(code) => ExitCode::from(code),
            Err(fault) => screen.fault(&fault),
        }
    }

    fn done(self, tools: Builder, screen: &mut Screen) -> Result<u8, Fault> {
        let program = self.program.known_as(tools.names().map(|names| names.name));
        let registry = &tools.build()?;
        match *self.asked {
            Asked::List(list) => list.run(registry, screen),
            Asked::Show(show) => show.run(registry, screen),
            Asked::Schema(schema) => schema.run(registry, screen),
            Asked::Call(call) => call.run(registry, screen),
            Asked::Check(check) => check.run(registry, screen),
            Asked::Manifest(manifest) => manifest.run(registry, screen),
            Asked::Diff(diff) => diff.run(registry, screen),
            Asked::Serve(serve) => serve.run(registry, screen),
            #[cfg(feature = "verify")]
            Asked::Verify(verify) => verify.run(registry, screen),
            Asked::Inspect(inspect) => inspect.run(registry, screen),
            Asked::Completions(completions) => completions.run(&program, registry, screen),
        }
    }

    pub(super) fn parsed_by(mut self, parser: clap::Command) -> Self {
        self.program.parser = Some(parser);
        self
    }

    /// The word by which the program was started.
    pub(super) fn called(mut self, word: Option<&OsString>) -> Self {
        self.program.word = word.cloned();
        self
    }
}

const JSON: &str = "json";

/// The commands, and the one option that all of them have.
fn extend(parser: clap::Command, add: fn(clap::Command) -> clap::Command) -> clap::Command {
    let json = Arg::new(JSON)
        .long("json")
        .global(true)
        .action(ArgAction::SetTrue)
        .help("Give results and errors as JSON");
    add(parser.arg(json))
}

impl Subcommand for Command {
    fn augment_subcommands(parser: clap::Command) -> clap::Command {
        extend(parser, Asked::augment_subcommands)
    }

    fn augment_subcommands_for_update(parser: clap::Command) -> clap::Command {
        extend(parser, Asked::augment_subcommands_for_update)
    }

    fn has_subcommand(name: &str) -> bool {
        Asked::has_subcommand(name)
    }
}

impl FromArgMatches for Command {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self {
            asked: Box::new(Asked::from_arg_matches(matches)?),
            json: json(matches),
            program: Box::default(),
        })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.json |= json(matches);
        self.asked.update_from_arg_matches(matches)
    }
}

fn json(matches: &ArgMatches) -> bool {
    matches!(matches.try_get_one::<bool>(JSON), Ok(Some(true)))
}
