//! An agent that answers questions about a folder, with its task, its steps, its tools and its answer under contract.
//!
//! `cargo run -p agent -- "How many lines of Rust are in this repository?"` asks the model whose key is in the environment;
//! with `--replay FILE` it plays a recorded conversation, without a network.
//! `recordings/lines-of-rust.jsonl` is such a conversation about `sample`, over HTTP with a server that follows a script;
//! `expected.txt` is what it looks like.

mod choose;
mod show;
mod tools;

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::Parser;
use contract_agent::{Budget, ContractAgent, Event, Hook, Recovery, ToolCallingAgent};
use contract_runtime::prelude::*;

use show::Show;
use tools::Root;

/// Asks a language model about a folder; it may list folders and count lines, and every step is under contract.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// The question to ask.
    question: String,
    /// The folder that the agent looks at.
    #[arg(long, default_value = ".")]
    root: PathBuf,
    /// The model, such as `gpt-5-mini`; its name decides the provider, and the environment holds the key and the endpoint.
    #[arg(long)]
    model: Option<String>,
    /// Plays a recorded conversation instead of asking a model.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["model", "record"])]
    replay: Option<PathBuf>,
    /// Records the conversation.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// Prints each event as a line of JSON.
    #[arg(long)]
    json: bool,
}

/// What a shell reports of a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

#[tokio::main]
async fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match run(&arguments).await {
        Ok(code) => code,
        Err(error) => {
            eprintln!("agent: {error}");
            ExitCode::FAILURE
        }
    }
}

async fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let registry = registry!()
        .context(Root(arguments.root.canonicalize()?))
        .build()?;
    let inner = ToolCallingAgent::new(choose::model(arguments)?, registry).system(
        "You answer questions about a folder of files. Use the tools; never guess a number.",
    );
    let agent = ContractAgent::builder(inner)
        .task_pre(Hook::new("a question").message("ask something"), |task| {
            !task.trim().is_empty()
        })
        .budget(Budget::Iterations(20))
        .budget(Budget::Time(Duration::from_secs(5 * 60)))
        .answer_post(
            Hook::new("a number").message("the answer must hold a number"),
            |answer| answer.chars().any(|c| c.is_ascii_digit()),
        )
        .recovery(Recovery::retry(2))
        .build();

    let mut show = Show::new(arguments.json);
    let mut events = agent.run(&arguments.question).stream();
    let mut spinner = tokio::time::interval(Duration::from_millis(100));
    let mut interrupted = std::pin::pin!(tokio::signal::ctrl_c());
    let mut answered = false;
    loop {
        tokio::select! {
            // First, because its first poll installs the handler, and a request may be on its way after that of the events.
            biased;
            _ = &mut interrupted => {
                // Dropping the events stops the model and the tools.
                drop(events);
                show.still()?;
                eprintln!("\nstopped");
                return Ok(ExitCode::from(INTERRUPTED));
            }
            event = events.next() => match event {
                Some(event) => {
                    show.event(&event)?;
                    answered |= matches!(event, Event::Answer { .. });
                }
                None => break,
            },
            _ = spinner.tick() => show.wait()?,
        }
    }
    Ok(if answered {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
