//! What of a task is kept under which name.
//!
//! | name | what |
//! |---|---|
//! | `token` | the hash of what its executor shows |
//! | `owner` | the backend that its executor is attached to, and the epoch |
//! | `home` | the process of a backend that makes its calls, and how many there were before it |
//! | `finished` | how the task ended |
//! | `handshake` | the tools that the task is settled on, as its first executor brought them |
//! | `call.ID.ATTEMPT` | a call that was opened |
//! | `ending.ID.ATTEMPT` | how it ended, written once |
//!
//! Programs keep their own beside these, as the page "Operating it" says: a new name here begins with `backend.`.

mod calls;
mod home;
#[cfg(test)]
mod tests;

use std::sync::Arc;

pub use self::calls::KeptCall;
pub(crate) use self::calls::{CallRecord, Ended, Ending, Found};
pub(crate) use self::home::Home;
use super::{Expect, Store, StoreError, Written};
use crate::remote::protocol::{Finished, Handshake, JournalId, TaskId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// What a backend keeps of one task.
#[derive(Clone, Debug)]
pub(crate) struct Ledger {
    store: Arc<dyn Store>,
    task: TaskId,
    /// As what this process claimed the task; none where it did not have to.
    claimed: Option<Arc<Home>>,
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

impl Ledger {
    pub(crate) fn new(store: Arc<dyn Store>, task: TaskId) -> Self {
        Self {
            store,
            task,
            claimed: None,
        }
    }

    #[cfg(feature = "redis")]
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
    #[cfg(any(test, feature = "redis"))]
    pub(crate) async fn owner(&self) -> Result<Option<Holder>, StoreError> {
        self.get("owner").await
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

    /// Keeps what the tools of the task are settled by, once, and gives what stands.
    pub(crate) async fn settle(&self, handshake: &Handshake) -> Result<Handshake, StoreError> {
        if let Some(there) = self.handshake().await? {
            return Ok(there);
        }
        let text = to_text("handshake", handshake)?;
        match self.write("handshake", &text, Expect::Absent).await? {
            Written::Conflict { there: Some(there) } => from_text("handshake", &there.value),
            _ => Ok(handshake.clone()),
        }
    }

    /// What the tools of the task are settled by; none before an executor was let in.
    pub(crate) async fn handshake(&self) -> Result<Option<Handshake>, StoreError> {
        self.get("handshake").await
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
