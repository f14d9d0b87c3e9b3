//! The toolkit as a program: what every registry has on a command line, and what the tools may touch.
//!
//! `toolkit --root . call read_file '{"path":"Cargo.toml"}'` calls a tool, `toolkit serve` serves all of them to an agent.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use contract_runtime::prelude::*;
use toolkit::{Sandbox, Workspace};

/// Files, search and a shell for language models, from the command line.
#[derive(Parser)]
#[command(version, arg_required_else_help = true)]
struct Arguments {
    /// A folder that the tools may touch; may be repeated; relative paths start at the first [default: the current folder, unless that is `/`].
    #[arg(long, global = true, value_name = "FOLDER")]
    root: Vec<PathBuf>,
    /// Let commands use the network.
    #[arg(long, global = true)]
    network: bool,
    /// Run commands without a sandbox, with all that this user may do.
    #[arg(long, global = true, conflicts_with = "network")]
    unsandboxed: bool,
    #[command(subcommand)]
    command: contract_program::Command,
}

fn main() -> ExitCode {
    // Before any thread is there: this program is the sandbox's helper too.
    toolkit::enter();
    let arguments = Arguments::parse();
    match workspace(&arguments) {
        Ok(workspace) => {
            // The tools are the library's, and name and version are the same for both.
            let tools = registry!().context(workspace);
            arguments.command.within::<Arguments>().run(tools)
        }
        Err(error) => {
            eprintln!("toolkit: {error}");
            // As for every other mistake on the command line.
            ExitCode::from(2)
        }
    }
}

/// The current folder, if it is one that somebody can have meant: where a client starts its servers in `/`, nobody chose to
/// lend the whole machine.
fn here() -> Result<PathBuf, Box<dyn Error>> {
    let here = std::env::current_dir()?;
    if here.parent().is_none() {
        let problem = "the current folder is `/`, which is the whole machine; give the folder that the tools may touch with \
                       `--root FOLDER`, or `--root /` if all of it is meant";
        return Err(problem.into());
    }
    Ok(here)
}

fn workspace(arguments: &Arguments) -> Result<Workspace, Box<dyn Error>> {
    let sandbox = if arguments.unsandboxed {
        Sandbox::unsandboxed()
    } else {
        Sandbox::confined().network(arguments.network)
    };
    let mut builder = Workspace::builder().sandbox(sandbox);
    if arguments.root.is_empty() {
        builder = builder.root(here()?);
    }
    for root in &arguments.root {
        builder = builder.root(root);
    }
    Ok(builder.build()?)
}
