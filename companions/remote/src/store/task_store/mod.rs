//! Typed access to the store: the names under which the state of a task is kept.
//!
//! | name | what |
//! |---|---|
//! | `token` | the hash of its executor's token |
//! | `owner` | the executor that is attached, and the epoch of its connection |
//! | `home` | the process that owns the task and makes its calls, where it is reached, and how many there were before it |
//! | `finished` | how the task ended |
//! | `handshake` | the pinned tools, as the first executor declared them |
//! | `call.ID.ATTEMPT` | a call |
//! | `ending.ID.ATTEMPT` | how it ended, written once |
//!
//! Programs keep their own beside these, as the page "Operating it" says: a new name here begins with `backend.`.

mod calls;
mod owner;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

pub use self::calls::CallRecord;
pub(crate) use self::calls::{EndedCall, Ending, StoredCall, StoredCalls};
pub(crate) use self::owner::Owner;
#[cfg(any(test, feature = "redis"))]
pub(crate) use self::owner::{Claim, Process};
use super::{Expect, Store, StoreError, Written};
use crate::protocol::{Finished, Handshake, JournalId, TaskId};

/// The stored state of one task.
#[derive(Clone, Debug)]
pub(crate) struct TaskStore {
    store: Arc<dyn Store>,
    pub(crate) task: TaskId,
    /// The ownership that this process has claimed; `None` if only one backend uses the store.
    claimed: Option<Arc<Owner>>,
}

/// The executor of a task that is attached, or was last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Attachment {
    /// Counts attachments, from 1.
    pub(crate) epoch: u64,
    /// The journal of the executor.
    pub(crate) journal: JournalId,
}

impl TaskStore {
    pub(crate) fn new(store: Arc<dyn Store>, task: TaskId) -> Self {
        Self {
            store,
            task,
            claimed: None,
        }
    }

    /// Stores the hash of the token, once: a task cannot be reopened with another one.
    pub(crate) async fn open_task(&self, token_hash: [u8; 32]) -> Result<(), StoreError> {
        self.write_once("token", &token_hash).await
    }

    /// Returns the hash of the token; `None` if there is no such task.
    pub(crate) async fn token_hash(&self) -> Result<Option<[u8; 32]>, StoreError> {
        self.get("token").await
    }

    /// Attaches an executor, and returns its new epoch; `None` if another executor is newer.
    ///
    /// `last_epoch` is the last epoch that the executor knows: 0 for a new one, which supersedes any other.
    /// An earlier one comes back unless another journal has superseded it; its last epoch may be outdated, because the
    /// answer with a later one may have been lost. Of several concurrent claims, exactly one gets an epoch.
    pub(crate) async fn claim(
        &self,
        journal: JournalId,
        last_epoch: u64,
    ) -> Result<Option<u64>, StoreError> {
        loop {
            let stored = self.store.read(self.task, "owner").await?;
            let (current, expect) = match &stored {
                Some(stored) => {
                    let current: Attachment = from_text("owner", &stored.value)?;
                    (Some(current), Expect::Version(stored.version))
                }
                None => (None, Expect::Absent),
            };
            let same = current
                .as_ref()
                .is_some_and(|current| current.journal == journal);
            if last_epoch != 0 && !same {
                return Ok(None);
            }
            let epoch = current.map_or(0, |current| current.epoch).saturating_add(1);
            let next = Attachment { epoch, journal };
            let text = to_text("owner", &next)?;
            if let Written::Done { .. } = self.write("owner", &text, expect).await? {
                return Ok(Some(epoch));
            }
        }
    }

    /// Returns the current attachment.
    #[cfg(test)]
    pub(crate) async fn attachment(&self) -> Result<Option<Attachment>, StoreError> {
        self.get("owner").await
    }

    /// Stores that the task is over.
    pub(crate) async fn finish(&self, finished: &Finished) -> Result<(), StoreError> {
        let text = to_text("finished", finished)?;
        self.put("finished", &text).await
    }

    /// Returns how the task ended; `None` before.
    pub(crate) async fn finished(&self) -> Result<Option<Finished>, StoreError> {
        self.get("finished").await
    }

    /// Pins the tools of the task with a handshake, once; returns the handshake that stands.
    pub(crate) async fn pin_handshake(
        &self,
        handshake: &Handshake,
    ) -> Result<Handshake, StoreError> {
        if let Some(current) = self.handshake().await? {
            return Ok(current);
        }
        let text = to_text("handshake", handshake)?;
        match self.write("handshake", &text, Expect::Absent).await? {
            Written::Conflict {
                current: Some(current),
            } => from_text("handshake", &current.value),
            _ => Ok(handshake.clone()),
        }
    }

    /// Returns the handshake that pins the tools; `None` before an executor was accepted.
    pub(crate) async fn handshake(&self) -> Result<Option<Handshake>, StoreError> {
        self.get("handshake").await
    }

    async fn write(&self, name: &str, text: &str, expect: Expect) -> Result<Written, StoreError> {
        self.store.write(self.task, name, text, expect).await
    }

    /// Overwrites a value. Each write names the version it replaces, so that an older write still in flight cannot undo
    /// this one.
    async fn put(&self, name: &str, text: &str) -> Result<(), StoreError> {
        let mut expect = Expect::Absent;
        loop {
            match self.write(name, text, expect).await? {
                Written::Done { .. } => return Ok(()),
                Written::Conflict {
                    current: Some(current),
                } if current.value == text => return Ok(()),
                Written::Conflict { current } => {
                    expect =
                        current.map_or(Expect::Absent, |current| Expect::Version(current.version));
                }
            }
        }
    }

    async fn get<T: DeserializeOwned>(&self, name: &str) -> Result<Option<T>, StoreError> {
        let current = self.store.read(self.task, name).await?;
        current
            .map(|current| from_text(name, &current.value))
            .transpose()
    }

    async fn write_once<T: Serialize>(&self, name: &str, value: &T) -> Result<(), StoreError> {
        let text = to_text(name, value)?;
        match self.write(name, &text, Expect::Absent).await? {
            Written::Conflict { current }
                if current.as_ref().is_none_or(|current| current.value != text) =>
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

/// Names the position of the error, and nothing of the value: it may hold a secret.
fn damaged(name: &str, error: &serde_json::Error) -> StoreError {
    StoreError::Damaged {
        what: name.to_owned(),
        reason: format!(
            "it cannot be read as what is stored there, at line {}, column {}",
            error.line(),
            error.column()
        ),
    }
}
