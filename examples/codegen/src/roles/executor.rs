//! The executor as a process of its own.

use std::path::PathBuf;
use std::process::ExitCode;

use contract_remote::{ExecutorEvent, Journal};

use super::{DRAIN, Failure, interrupted, secret};
use crate::tools;

/// The half that acts.
#[derive(Debug, clap::Args)]
pub struct Executor {
    /// The address that the backend printed, as in `ws://127.0.0.1:7000/executor/…`.
    #[arg(long, value_name = "ADDRESS")]
    connect: String,
    /// The variable that holds the token.
    #[arg(long, value_name = "VARIABLE", conflicts_with = "token_file")]
    token_env: Option<String>,
    /// The file that holds the token, as the backend wrote it.
    #[arg(long, value_name = "FILE", required_unless_present = "token_env")]
    token_file: Option<PathBuf>,
    /// The file that records which calls ran; without it, a restart leaves calls in doubt.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// The folder that the tools may touch.
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    root: PathBuf,
}

impl Executor {
    /// Works until the task is over, the backend is gone for good, or somebody ends it.
    ///
    /// # Errors
    ///
    /// What kept it from working.
    pub async fn run(self) -> Result<ExitCode, Failure> {
        let token = secret::read(self.token_env.as_deref(), self.token_file.as_deref())?;
        let token = token.ok_or("give a token with `--token-file` or `--token-env`")?;
        let mut executor = contract_remote::Executor::new(tools::registry(&self.root)?)
            .custom()
            .on_event(|event| print_event(&event));
        if let Some(path) = &self.journal {
            executor = executor.journal(Journal::open(path)?);
        }
        let connected = executor.connect(self.connect, token);
        let leave = async {
            interrupted().await;
            eprintln!("takes no more calls, and ends when the running ones have ended, or in 10 s");
        };
        connected.ended_or_shutdown(leave, DRAIN).await?;
        Ok(ExitCode::SUCCESS)
    }
}

fn print_event(event: &ExecutorEvent) {
    match event {
        ExecutorEvent::Attached {
            toolbelt, refused, ..
        } => {
            eprintln!("attached, with {} tools", toolbelt.len());
            for one in refused {
                eprintln!("left out {}: {}", one.name, one.reason);
            }
        }
        ExecutorEvent::Lost { reason } => eprintln!("the connection broke: {reason}"),
        ExecutorEvent::Reconnecting { attempt, of, after } => {
            let seconds = after.as_secs_f32();
            let of = of.map_or_else(String::new, |of| format!(" of {of}"));
            eprintln!("dials again in {seconds:.1} s, attempt {attempt}{of}");
        }
        ExecutorEvent::JournalFailed { error } => {
            eprintln!("no call is run until the journal can be written: {error}");
        }
        ExecutorEvent::JournalReopened => eprintln!("the journal can be written again"),
        ExecutorEvent::Finished(finished) => eprintln!("over: {}", finished.message),
        _ => {}
    }
}
