//! The demo: backend and executor in one process, over a real connection, on a copy of a sample project.

mod show;

use std::fs;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;

use contract_manifest::ToManifest as _;
use contract_remote::store::EmbeddedStore;
use contract_remote::{Backend, Executor, Journal};
use contract_runtime::Registry;

use crate::contract::RunState;
use crate::model::Models;
use crate::roles::{Failure, interrupted};
use crate::runs::Engine;
use crate::tools;

/// The exit code with which a shell reports a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// The conversations that are shipped.
pub(crate) const RECORDINGS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/recordings");

/// The project that is shipped.
const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/sample");

/// Lets the model do a task, and prints what happens.
///
/// # Errors
///
/// Something that is needed is missing, such as a folder for the copy.
pub async fn run(task: &str) -> Result<ExitCode, Failure> {
    let folder = tempfile::Builder::new().prefix("codegen-").tempdir()?;
    let root = folder.path().join("shop");
    copy(Path::new(SAMPLE), &root)?;
    let models = Models::choose(Path::new(RECORDINGS))?;
    let store = Arc::new(EmbeddedStore::open(folder.path().join("store.redb"))?);
    let backend = Backend::new(Registry::builder().build()?.manifest())
        .store(store.clone())
        .bind("127.0.0.1:0")
        .await?;
    let (executors, token) = backend.task().await?;
    let executor = Executor::new(tools::registry(&root)?)
        .custom()
        .journal(Journal::open(folder.path().join("journal.redb"))?)
        .connect(executors.address(), token);
    let engine = Engine::open(store, models, executors).await?;

    let run = engine.begin(task).await?;
    let mut news = run.news();
    let mut show = show::Show::default();
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

/// Copies a project without the folder of its builds.
fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        if !from.is_dir() {
            fs::copy(&from, &to)?;
        } else if entry.file_name() != "target" {
            copy(&from, &to)?;
        }
    }
    Ok(())
}
