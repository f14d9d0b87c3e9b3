//! A coding agent in two halves, in one process or apart.
//!
//! `cargo run -p codegen -- "create an endpoint"` shows both at work on a throw-away project, with a recorded conversation
//! unless the environment names a provider; `expected.txt` is what that looks like. `codegen backend` and `codegen executor`
//! are the halves.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use codegen::{demo, halves};

/// A coding agent whose tools stay where the files are.
#[derive(Parser)]
#[command(
    version,
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true
)]
struct Arguments {
    #[command(flatten)]
    demo: demo::Demo,
    #[command(subcommand)]
    half: Option<Half>,
}

/// One half.
#[derive(Subcommand)]
enum Half {
    /// Serves chats, and a page that shows them; waits for an executor to dial in.
    Backend(halves::Backend),
    /// Dials in to a backend, and lends it the tools over one folder.
    Executor(halves::Executor),
}

fn main() -> ExitCode {
    // Before any thread is there: this program is the helper of its sandbox too.
    toolkit::enter();
    let arguments = Arguments::parse();
    let runtime = match tokio::runtime::Runtime::new() {
        Ok(runtime) => runtime,
        Err(error) => {
            eprintln!("codegen: {error}");
            return ExitCode::FAILURE;
        }
    };
    let ended = runtime.block_on(async {
        match arguments.half {
            None => demo::run(arguments.demo).await,
            Some(Half::Backend(half)) => half.run().await,
            Some(Half::Executor(half)) => half.run().await,
        }
    });
    // A body that is no future may still be at work; nobody waits for it.
    runtime.shutdown_background();
    ended.unwrap_or_else(|error| {
        eprintln!("codegen: {error}");
        ExitCode::FAILURE
    })
}
