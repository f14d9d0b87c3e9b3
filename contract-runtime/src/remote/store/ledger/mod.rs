//! What of a task is kept under which name.
//!
//! | name | what |
//! |---|---|
//! | `token` | the hash of what its executor shows |
//! | `owner` | the backend that its executor is attached to, and the epoch |
//! | `home` | the backend that makes its calls |
//! | `finished` | how the task ended |
//! | `handshake` | what the executor brought last |
//! | `call.ID.ATTEMPT` | a call that was opened |
//! | `ending.ID.ATTEMPT` | how it ended, written once |
//! | `history.INDEX` | what model and tools have said, written once each |
//! | `run` | how far the run is |
//! | log `events` | what happened, for those who watch |

mod calls;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub(crate) use self::calls::{CallRecord, Ending};
use super::{Expect, Store, StoreError, Tail, Written};
use crate::remote::protocol::{Finished, Handshake, JournalId, TaskId};

/// What a backend keeps of one task.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    store: Arc<dyn Store>,
    task: TaskId,
}

/// To whom a task belongs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Holder {
    /// The backend.
    pub(crate) owner: String,
    /// Counts those who attached, from 1; 0 when nobody has.
    pub(crate) epoch: u64,
    /// Of the executor that is attached, or was last.
    pub(crate) journal: JournalId,
}

const EVENTS: &str = "events";

impl Ledger {
    pub(crate) fn new(store: Arc<dyn Store>, task: TaskId) -> Self {
        Self { store, task }
    }

    pub(crate) fn task(&self) -> TaskId {
        self.task
    }

    /// Keeps the hash of the token, once: a task is not opened again with another.
    pub(crate) async fn open_task(&self, token_hash: [u8; 32]) -> Result<(), StoreError> {
        self.keep_once("token", &token_hash).await
    }

    /// The hash of the token; none when there is no such task.
    pub(crate) async fn token_hash(&self) -> Result<Option<[u8; 32]>, StoreError> {
        self.get("token").await
    }

    /// Takes a task over for the executor that attaches here, and gives its new epoch.
    ///
    /// `last_epoch` is what that executor was told last: 0 from one that is new, which takes over from whoever there is.
    /// One that was there before comes back as long as no other journal has taken over; its last epoch may be an earlier
    /// one, as the answer that told it may have been lost. Of those who race for an epoch exactly one gets it.
    pub(crate) async fn claim(
        &self,
        backend: &str,
        journal: JournalId,
        last_epoch: u64,
    ) -> Result<Option<u64>, StoreError> {
        loop {
            let there = self.store.read(self.task, "owner").await?;
            let (held, expect) = match &there {
                Some(there) => {
                    let held: Holder = from_text("owner", &there.value)?;
                    (Some(held), Expect::Version(there.version))
                }
                None => (None, Expect::Absent),
            };
            let same = held.as_ref().is_some_and(|held| held.journal == journal);
            if last_epoch != 0 && !same {
                return Ok(None);
            }
            let epoch = held.map_or(0, |held| held.epoch).saturating_add(1);
            let owner = Holder {
                owner: backend.to_owned(),
                epoch,
                journal,
            };
            let text = to_text("owner", &owner)?;
            if let Written::Done { .. } = self.write("owner", &text, expect).await? {
                return Ok(Some(epoch));
            }
        }
    }

    /// To whom the task belongs now.
    pub(crate) async fn owner(&self) -> Result<Option<Holder>, StoreError> {
        self.get("owner").await
    }

    /// The backend that makes the calls of the task.
    #[cfg(feature = "redis")]
    pub(crate) async fn set_home(&self, backend: &str) -> Result<(), StoreError> {
        let text = to_text("home", &backend)?;
        self.put("home", &text).await
    }

    /// The backend that makes the calls of the task; none where several never shared it.
    #[cfg(feature = "redis")]
    pub(crate) async fn home(&self) -> Result<Option<String>, StoreError> {
        self.get("home").await
    }

    /// Keeps that the task is over.
    pub(crate) async fn finish(&self, finished: &Finished) -> Result<(), StoreError> {
        let text = to_text("finished", finished)?;
        self.put("finished", &text).await
    }

    /// How the task ended; none as long as it has not.
    pub(crate) async fn finished(&self) -> Result<Option<Finished>, StoreError> {
        self.get("finished").await
    }

    /// Keeps what the executor brought.
    pub(crate) async fn keep_handshake(&self, handshake: &Handshake) -> Result<(), StoreError> {
        let text = to_text("handshake", handshake)?;
        self.put("handshake", &text).await
    }

    /// What the executor brought last.
    pub(crate) async fn handshake(&self) -> Result<Option<Handshake>, StoreError> {
        self.get("handshake").await
    }

    /// Adds an event to the log, and gives its number; an id that the log holds is not added again.
    pub(crate) async fn log(&self, id: &str, event: &Value) -> Result<u64, StoreError> {
        let text = to_text(EVENTS, event)?;
        self.store.append(self.task, EVENTS, id, &text).await
    }

    /// The events after a number, at most so many; their values are JSON.
    pub(crate) async fn log_after(&self, sequence: u64, most: usize) -> Result<Tail, StoreError> {
        self.store.tail(self.task, EVENTS, sequence, most).await
    }

    /// Keeps one entry of the history, once: the same again is harmless, another is a
    /// [`Conflict`](StoreError::Conflict).
    pub(crate) async fn history_push(&self, index: u64, entry: &Value) -> Result<(), StoreError> {
        // Wide enough for every `u64`, so that names sort as numbers.
        self.keep_once(&format!("history.{index:020}"), entry).await
    }

    /// The history, in order.
    pub(crate) async fn history(&self) -> Result<Vec<Value>, StoreError> {
        let there = self.store.list(self.task, "history.").await?;
        let entries = there.iter();
        entries
            .map(|(name, entry)| from_text(name, &entry.value))
            .collect()
    }

    /// How far the run is, and the version to build the next step on.
    pub(crate) async fn run_state<T: DeserializeOwned>(
        &self,
    ) -> Result<Option<(u64, T)>, StoreError> {
        let there = self.store.read(self.task, "run").await?;
        let state = there.map(|there| Ok((there.version, from_text("run", &there.value)?)));
        state.transpose()
    }

    /// Takes a step of the run, and gives the version it made; none when somebody else took one meanwhile.
    pub(crate) async fn set_run_state<T: Serialize>(
        &self,
        expect: Expect,
        state: &T,
    ) -> Result<Option<u64>, StoreError> {
        let text = to_text("run", state)?;
        Ok(match self.write("run", &text, expect).await? {
            Written::Done { version } => Some(version),
            Written::Conflict { .. } => None,
        })
    }

    /// Drops all that is kept of the task.
    pub(crate) async fn forget(&self) -> Result<(), StoreError> {
        self.store.forget(self.task).await
    }

    async fn write(&self, name: &str, text: &str, expect: Expect) -> Result<Written, StoreError> {
        self.store.write(self.task, name, text, expect).await
    }

    /// Writes over what is there. Each write is built on what it found: an older one that is still on its way cannot undo
    /// this one.
    async fn put(&self, name: &str, text: &str) -> Result<(), StoreError> {
        let mut expect = Expect::Absent;
        loop {
            match self.write(name, text, expect).await? {
                Written::Done { .. } => return Ok(()),
                Written::Conflict { there: Some(there) } if there.value == text => return Ok(()),
                Written::Conflict { there } => {
                    expect = there.map_or(Expect::Absent, |there| Expect::Version(there.version));
                }
            }
        }
    }

    async fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StoreError> {
        let there = self.store.read(self.task, name).await?;
        there.map(|there| from_text(name, &there.value)).transpose()
    }

    async fn keep_once<T: Serialize>(&self, name: &str, value: &T) -> Result<(), StoreError> {
        let text = to_text(name, value)?;
        match self.write(name, &text, Expect::Absent).await? {
            Written::Conflict { there }
                if there.as_ref().is_none_or(|there| there.value != text) =>
            {
                let name = name.to_owned();
                Err(StoreError::Conflict { name })
            }
            _ => Ok(()),
        }
    }
}

fn to_text<T: Serialize>(name: &str, value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| damaged(name, &error))
}

fn from_text<T: DeserializeOwned>(name: &str, text: &str) -> Result<T, StoreError> {
    serde_json::from_str(text).map_err(|error| damaged(name, &error))
}

/// Where it is wrong, and nothing of what it says: it may hold a secret.
fn damaged(name: &str, error: &serde_json::Error) -> StoreError {
    StoreError::Damaged {
        what: name.to_owned(),
        reason: format!(
            "it does not read as what is kept there, at line {}, column {}",
            error.line(),
            error.column()
        ),
    }
}
