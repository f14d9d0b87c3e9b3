//! A coding agent, as one process or as a backend and an executor.
//!
//! `cargo run -p codegen -- "create an endpoint"` runs both on a temporary project, with a recorded conversation unless
//! the environment names a provider; `expected.txt` shows the output.

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use codegen::{demo, roles};

/// A coding agent whose tools stay where the files are.
#[derive(Parser)]
#[command(
    version,
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true
)]
struct Arguments {
    /// The task, such as `create an endpoint`.
    task: Option<String>,
    #[command(subcommand)]
    half: Option<Half>,
}

#[derive(Subcommand)]
enum Half {
    /// Serves chats, and a page that shows them; waits for an executor to dial in.
    Backend(Box<roles::Backend>),
    /// Dials in to a backend, and offers it the tools over one folder.
    Executor(roles::Executor),
}

fn main() -> ExitCode {
    // Before any thread is there: this program is the helper of its sandbox too.
    toolkit::enter();
    let arguments = Arguments::parse();
    let ended = tokio::runtime::Runtime::new().map_err(Into::into);
    let ended = ended.and_then(|runtime| {
        let ended = runtime.block_on(async {
            match arguments.half {
                None => demo::run(&arguments.task.unwrap_or_default()).await,
                Some(Half::Backend(half)) => half.run().await,
                Some(Half::Executor(half)) => half.run().await,
            }
        });
        // A body that is not a future may still be at work; the process does not wait for it.
        runtime.shutdown_background();
        ended
    });
    ended.unwrap_or_else(|error: roles::Failure| {
        eprintln!("codegen: {error}");
        ExitCode::FAILURE
    })
}
