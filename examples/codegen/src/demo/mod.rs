//! The demo: backend and executor in one process, over a real connection, on a copy of a sample project.
//!
//! | file | holds |
//! |---|---|
//! | `sample` | the temporary copy of the project |
//! | `show` | events printed to the terminal |

mod sample;
mod show;

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use contract_manifest::ToManifest as _;
use contract_remote::store::EmbeddedStore;
use contract_remote::{Backend, Executor, Journal};
use contract_runtime::Registry;
use sample::Sample;
use show::Show;

use crate::contract::RunState;
use crate::model::Models;
use crate::roles::{Failure, interrupted};
use crate::runs::{Engine, RunStore};
use crate::tools;

/// What a shell reports of a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// What the demonstration is asked for.
#[derive(Debug, clap::Args)]
pub struct Demo {
    /// The task, such as `create an endpoint`.
    task: Option<String>,
    /// The folder of recorded conversations, used when the environment names no provider.
    #[arg(long, value_name = "FOLDER", default_value = RECORDINGS)]
    recordings: PathBuf,
    /// Records what the provider says into a new file.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
}

/// The conversations that are shipped.
pub(crate) const RECORDINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/recordings");

/// Lets the model do a task, shows what happens, and then what has changed.
///
/// # Errors
///
/// When something that is needed is not there, such as a folder for the copy.
pub async fn run(arguments: Demo) -> Result<ExitCode, Failure> {
    let sample = Sample::copy()?;
    let mut models = Models::choose(&arguments.recordings)?;
    if let Some(file) = arguments.record {
        models = models.recording(file)?;
    }
    let store = Arc::new(EmbeddedStore::open(sample.beside("store.redb"))?);
    let backend = Backend::new(Registry::builder().build()?.manifest())
        .store(store.clone())
        .bind("127.0.0.1:0")
        .await?;
    let (task, token) = backend.task().await?;
    let executor = Executor::new(tools::registry(sample.root())?)
        .custom()
        .journal(Journal::open(sample.beside("journal.redb"))?)
        .connect(task.address(), token);
    let engine = Engine::open(RunStore::new(store, "demo"), models, task).await?;

    let run = engine.begin(&arguments.task.unwrap_or_default()).await?;
    let mut news = run.news();
    let mut show = Show::new();
    let mut interrupt = std::pin::pin!(interrupted());
    let mut after = 0;
    loop {
        let rests = run.rests();
        for event in run.after(after) {
            after = event.sequence;
            show.event(&event.what)?;
        }
        if rests {
            break;
        }
        tokio::select! {
            _ = news.changed() => {}
            () = &mut interrupt => {
                engine.cancel(run.id()).await?;
                eprintln!("\nstopped");
                return Ok(ExitCode::from(INTERRUPTED));
            }
        }
    }
    drop(executor);
    Ok(match run.state() {
        RunState::Completed | RunState::WaitingInput => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    })
}
