//! Opens the task the executor connects to, or reopens an earlier one.

use std::path::Path;

use contract_remote::protocol::TaskId;
use contract_remote::store::{Expect, Store};
use contract_remote::{BackendHandle, Task};

use super::{Failure, secret};
use crate::runs::RunStore;

/// The task for which the executor dials in: the one of before, if the store knows it and its token is still where it was
/// written, so that an executor that is at work comes back by itself.
pub(super) async fn open(
    backend: &BackendHandle,
    store: &dyn Store,
    name: &str,
    token_file: &Path,
) -> Result<Task, Failure> {
    let service = RunStore::service()?;
    let place = format!("codegen.workplace.{name}");
    let before = store.read(service, &place).await?;
    let before = before.and_then(|before| before.value.parse().ok());
    if let Some(id) = before
        && token_file.exists()
        && let Some(task) = backend.reopen(id).await?
    {
        // Written again, so that it does not outlive its time.
        keep(store, service, &place, id).await?;
        return Ok(task);
    }
    let (task, token) = backend.task().await?;
    secret::write(token_file, token.reveal())?;
    keep(store, service, &place, task.id()).await?;
    Ok(task)
}

async fn keep(store: &dyn Store, service: TaskId, place: &str, id: TaskId) -> Result<(), Failure> {
    let text = id.to_string();
    let written = store.write(service, place, &text, Expect::Any);
    written.await.map(|_| ()).map_err(Failure::from)
}
