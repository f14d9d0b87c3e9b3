//! The toolkit as a program: `list`, `show NAME`, `call NAME JSON`.
//!
//! A call prints what a model would read, to standard output if the call went well and to standard error otherwise.

use std::error::Error;
use std::io::{self, Read as _, Write as _};
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};
use contract_runtime::prelude::*;
use toolkit::{Sandbox, Workspace};

/// Files, search and a shell for language models, from the command line.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {
    /// A folder that the tools may touch, once for each; relative paths start at the first [default: the current folder].
    #[arg(long, global = true, value_name = "FOLDER")]
    root: Vec<PathBuf>,
    /// Let commands use the network.
    #[arg(long, global = true)]
    network: bool,
    /// Run commands without a sandbox, with all that this user may do.
    #[arg(long, global = true, conflicts_with = "network")]
    unsandboxed: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// List the tools.
    List,
    /// Show all of one tool's contract.
    Show {
        /// The name of the tool.
        name: String,
    },
    /// Call a tool, as a model does.
    Call {
        /// The name of the tool.
        name: String,
        /// Its arguments as a JSON object; `-` reads them from standard input.
        #[arg(default_value = "{}")]
        arguments: String,
    },
}

fn main() -> ExitCode {
    // Before any thread is there: this program is the sandbox's helper too.
    toolkit::enter();
    let arguments = Arguments::parse();
    match run(arguments) {
        Ok(code) => code,
        // Whoever reads the output has seen enough, as in `toolkit list | head -1`.
        Err(error) if is_broken_pipe(error.as_ref()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("toolkit: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let registry = Registry::builder()
        .package("toolkit")
        .context(workspace(&arguments)?)
        .build()?;
    match arguments.command {
        Command::List => list(&registry)?,
        Command::Show { name } => match registry.explain(&name) {
            Some(text) => writeln!(io::stdout(), "{text}")?,
            None => {
                return Err(format!("there is no tool `{name}`; `toolkit list` names all").into());
            }
        },
        Command::Call { name, arguments } => return call(&registry, name, arguments),
    }
    Ok(ExitCode::SUCCESS)
}

fn workspace(arguments: &Arguments) -> Result<Workspace, Box<dyn Error>> {
    let sandbox = if arguments.unsandboxed {
        Sandbox::unsandboxed()
    } else {
        Sandbox::confined().network(arguments.network)
    };
    let mut builder = Workspace::builder().sandbox(sandbox);
    if arguments.root.is_empty() {
        builder = builder.root(std::env::current_dir()?);
    }
    for root in &arguments.root {
        builder = builder.root(root);
    }
    Ok(builder.build()?)
}

fn list(registry: &Registry) -> io::Result<()> {
    let width = registry.tools().map(|tool| tool.name().len()).max();
    let width = width.unwrap_or_default();
    let mut out = io::stdout().lock();
    for tool in registry.tools() {
        let line = tool.description().lines().next().unwrap_or_default();
        // The first sentence, which stands alone.
        let sentence = line.split_once(". ").map_or(line, |(first, _)| first);
        let sentence = sentence.strip_suffix('.').unwrap_or(sentence);
        writeln!(out, "{:width$}  {sentence}", tool.name())?;
    }
    Ok(())
}

fn call(registry: &Registry, name: String, arguments: String) -> Result<ExitCode, Box<dyn Error>> {
    let arguments = if arguments == "-" {
        let mut text = String::new();
        io::stdin().lock().read_to_string(&mut text)?;
        text
    } else {
        arguments
    };
    let outcome = registry.call_blocking(ToolCall::new("1", name, arguments));
    let status = outcome.status();
    let result = outcome.into_result();
    if status == Status::Ok {
        writeln!(io::stdout(), "{}", result.text())?;
        return Ok(ExitCode::SUCCESS);
    }
    writeln!(io::stderr(), "{}: {}", status.name(), result.text())?;
    Ok(ExitCode::FAILURE)
}

fn is_broken_pipe(error: &(dyn Error + 'static)) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}
