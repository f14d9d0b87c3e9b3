//! Ownership of a task: claims, epochs and fencing.

#[cfg(any(test, feature = "redis"))]
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::TaskStore;
#[cfg(any(test, feature = "redis"))]
use super::{from_text, to_text};
use crate::store::StoreError;
#[cfg(any(test, feature = "redis"))]
use crate::store::{Expect, Written};

/// The process that owns a task and makes its calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    /// The name of the backend.
    pub(crate) backend: String,
    /// Tells this process from others of that name, earlier and later.
    pub(crate) run: String,
    /// Counts the owners, from 1.
    pub(crate) epoch: u64,
}

impl Owner {
    fn is_same(&self, other: &Self) -> bool {
        (&self.backend, &self.run) == (&other.backend, &other.run)
    }
}

impl TaskStore {
    /// Makes a process the owner of the task, and returns the previous owner.
    ///
    /// Each of several concurrent claims gets an epoch of its own, and the last one is the owner. A process that reads the
    /// calls after its claim finds each one that an earlier owner may still send: see [`is_owner`](Self::is_owner).
    #[cfg(any(test, feature = "redis"))]
    pub(crate) async fn claim_ownership(
        &mut self,
        backend: &str,
        run: &str,
    ) -> Result<Option<Owner>, StoreError> {
        loop {
            let there = self.store.read(self.task, "home").await?;
            let (before, expect) = match there {
                Some(there) => {
                    let before: Owner = from_text("home", &there.value)?;
                    (Some(before), Expect::Version(there.version))
                }
                None => (None, Expect::Absent),
            };
            let mut owner = Owner {
                backend: backend.to_owned(),
                run: run.to_owned(),
                epoch: before.as_ref().map_or(0, |before| before.epoch) + 1,
            };
            if let Some(same) = before.as_ref().filter(|before| before.is_same(&owner)) {
                owner.epoch = same.epoch;
            } else {
                let text = to_text("home", &owner)?;
                if let Written::Conflict { .. } = self.write("home", &text, expect).await? {
                    continue;
                }
            }
            self.claimed = Some(Arc::new(owner));
            return Ok(before);
        }
    }

    /// Returns the owner of the task; `None` if it was never shared by several backends.
    pub(crate) async fn owner(&self) -> Result<Option<Owner>, StoreError> {
        self.get("home").await
    }

    /// Whether the task was claimed, as one that several backends share.
    #[cfg(feature = "redis")]
    pub(crate) fn is_shared(&self) -> bool {
        self.claimed.is_some()
    }

    /// Whether this process still owns the task; always if it did not have to claim it.
    ///
    /// A call that was stored before this returned `true` is found by every later owner.
    pub(crate) async fn is_owner(&self) -> Result<bool, StoreError> {
        let Some(claimed) = &self.claimed else {
            return Ok(true);
        };
        // If the store has lost the owner, no other process has claimed the task.
        let owner = self.owner().await?;
        Ok(owner.is_none_or(|owner| owner.is_same(claimed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::TaskId;
    use crate::store::EmbeddedStore;

    fn task_stores() -> [TaskStore; 2] {
        let store = Arc::new(EmbeddedStore::in_memory().expect("a thread"));
        let task = TaskId::random();
        [(); 2].map(|()| TaskStore::new(Arc::clone(&store) as _, task))
    }

    #[tokio::test]
    async fn the_last_to_claim_a_task_is_its_owner() {
        let [mut one, mut other] = task_stores();
        // Where nobody has to claim it, everybody may make calls.
        assert!(one.is_owner().await.unwrap());
        assert_eq!(one.claim_ownership("one", "1").await.unwrap(), None);
        // Twice at once in one process: nothing changes.
        let same = one.claim_ownership("one", "1").await.unwrap().unwrap();
        assert_eq!((&*same.backend, same.epoch), ("one", 1));
        assert!(one.is_owner().await.unwrap());

        let before = other.claim_ownership("other", "1").await.unwrap().unwrap();
        assert_eq!(&*before.backend, "one");
        assert!(!one.is_owner().await.unwrap());
        assert!(other.is_owner().await.unwrap());
        // Another process under the same name.
        let before = one.claim_ownership("other", "2").await.unwrap().unwrap();
        assert_eq!((&*before.run, before.epoch), ("1", 2));
        assert!(!other.is_owner().await.unwrap());
        assert!(one.is_owner().await.unwrap());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn of_a_hundred_claims_one_makes_the_owner() {
        let [task_store, _] = task_stores();
        let claims: Vec<_> = (0..100)
            .map(|one| {
                let mut task_store = task_store.clone();
                tokio::spawn(async move {
                    let before = task_store
                        .claim_ownership("b", &one.to_string())
                        .await
                        .unwrap();
                    (task_store, before.map_or(0, |before| before.epoch))
                })
            })
            .collect();
        let (mut epochs, mut task_stores) = (Vec::new(), Vec::new());
        for claim in claims {
            let (task_store, before) = claim.await.unwrap();
            epochs.push(before);
            task_stores.push(task_store);
        }
        let mut owners = 0;
        for task_store in task_stores {
            owners += u32::from(task_store.is_owner().await.unwrap());
        }
        epochs.sort_unstable();
        assert_eq!(epochs, (0..100).collect::<Vec<u64>>());
        assert_eq!(owners, 1);
    }
}
