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

/// A process that can own tasks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Process {
    /// The name of the backend.
    pub(crate) backend: String,
    /// Tells this process from others of that name, earlier and later.
    pub(crate) run: String,
    /// Where other backends reach it, as `ws://host:port` or `wss://host:port`.
    pub(crate) url: String,
}

/// The process that owns a task and makes its calls.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Owner {
    #[serde(flatten)]
    pub(crate) process: Process,
    /// Counts the owners, from 1.
    pub(crate) epoch: u64,
}

/// What became of a claim.
#[cfg(any(test, feature = "redis"))]
#[derive(Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Claim {
    /// The process is the owner, after another one.
    Owner { before: Option<Process> },
    /// The task has changed hands meanwhile.
    Lost,
}

impl TaskStore {
    /// Makes a process the owner of the task; with `after`, only if the task has not changed hands since.
    ///
    /// Each of several concurrent claims gets an epoch of its own, and the last one is the owner. A process that reads the
    /// calls after its claim finds each one that an earlier owner may still send: see [`is_owner`](Self::is_owner).
    #[cfg(any(test, feature = "redis"))]
    pub(crate) async fn claim_ownership(
        &mut self,
        process: &Process,
        after: Option<&Owner>,
    ) -> Result<Claim, StoreError> {
        loop {
            let there = self.store.read(self.task, "home").await?;
            let (before, expect) = match there {
                Some(there) => {
                    let before: Owner = from_text("home", &there.value)?;
                    (Some(before), Expect::Version(there.version))
                }
                None => (None, Expect::Absent),
            };
            if let Some(owner) = before.as_ref().filter(|before| before.process == *process) {
                self.claimed = Some(Arc::new(owner.clone()));
                return Ok(Claim::Owner { before: None });
            }
            if after.is_some() && before.as_ref() != after {
                return Ok(Claim::Lost);
            }
            let owner = Owner {
                process: process.clone(),
                epoch: before.as_ref().map_or(0, |before| before.epoch) + 1,
            };
            let text = to_text("home", &owner)?;
            if let Written::Done { .. } = self.write("home", &text, expect).await? {
                self.claimed = Some(Arc::new(owner));
                let before = before.map(|before| before.process);
                return Ok(Claim::Owner { before });
            }
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
        Ok(owner.is_none_or(|owner| owner == **claimed))
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

    fn process(backend: &str, run: &str) -> Process {
        Process {
            backend: backend.to_owned(),
            run: run.to_owned(),
            url: format!("ws://{backend}"),
        }
    }

    /// Claims a task that nobody is in the way of; returns the owner before.
    async fn claim(task_store: &mut TaskStore, process: &Process) -> Option<Process> {
        match task_store.claim_ownership(process, None).await.unwrap() {
            Claim::Owner { before } => before,
            Claim::Lost => panic!("it was lost"),
        }
    }

    async fn epoch(task_store: &TaskStore) -> u64 {
        let owner = task_store.owner().await.unwrap();
        owner.map_or(0, |owner| owner.epoch)
    }

    #[tokio::test]
    async fn the_last_to_claim_a_task_is_its_owner() {
        let [mut one, mut other] = task_stores();
        // Where nobody has to claim it, everybody may make calls.
        assert!(one.is_owner().await.unwrap());
        let first = process("one", "1");
        // Twice at once in one process: nothing changes.
        for _ in 0..2 {
            assert_eq!(claim(&mut one, &first).await, None);
            assert_eq!(epoch(&one).await, 1);
            assert!(one.is_owner().await.unwrap());
        }

        let second = process("other", "1");
        assert_eq!(claim(&mut other, &second).await, Some(first));
        assert_eq!(epoch(&one).await, 2);
        assert!(!one.is_owner().await.unwrap());
        assert!(other.is_owner().await.unwrap());
        // Another process under the same name.
        let third = process("other", "2");
        assert_eq!(claim(&mut one, &third).await, Some(second));
        assert_eq!(epoch(&one).await, 3);
        assert!(!other.is_owner().await.unwrap());
        assert!(one.is_owner().await.unwrap());
    }

    /// What it knew of the calls is out of date, whoever had the task in between.
    #[tokio::test]
    async fn a_process_that_has_the_task_again_has_to_read_it_again() {
        let [mut one, mut other] = task_stores();
        let (first, second) = (process("one", "1"), process("other", "1"));
        claim(&mut one, &first).await;
        let before = one.clone();
        claim(&mut other, &second).await;
        claim(&mut one, &first).await;
        assert!(!before.is_owner().await.unwrap());
        assert!(one.is_owner().await.unwrap());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn of_a_hundred_that_take_over_from_one_that_is_gone_one_does() {
        let [mut gone, task_store] = task_stores();
        claim(&mut gone, &process("gone", "1")).await;
        let owner = gone.owner().await.unwrap().unwrap();
        let claims: Vec<_> = (0..100)
            .map(|one| {
                let (mut task_store, owner) = (task_store.clone(), owner.clone());
                let process = process("b", &one.to_string());
                tokio::spawn(async move {
                    let claimed = task_store.claim_ownership(&process, Some(&owner)).await;
                    (claimed.unwrap() != Claim::Lost, task_store)
                })
            })
            .collect();
        let mut owners = 0;
        for claim in claims {
            let (claimed, task_store) = claim.await.unwrap();
            owners += u32::from(claimed && task_store.is_owner().await.unwrap());
            assert!(claimed || task_store.claimed.is_none());
        }
        assert_eq!((owners, epoch(&gone).await), (1, 2));
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn of_a_hundred_claims_one_makes_the_owner() {
        let [task_store, _] = task_stores();
        let claims: Vec<_> = (0..100)
            .map(|one| {
                let mut task_store = task_store.clone();
                let process = process("b", &one.to_string());
                tokio::spawn(async move {
                    claim(&mut task_store, &process).await;
                    task_store
                })
            })
            .collect();
        let mut task_stores = Vec::new();
        for claim in claims {
            task_stores.push(claim.await.unwrap());
        }
        let (mut epochs, mut owners) = (Vec::new(), 0);
        for task_store in task_stores {
            epochs.push(task_store.claimed.as_ref().map_or(0, |owner| owner.epoch));
            owners += u32::from(task_store.is_owner().await.unwrap());
        }
        epochs.sort_unstable();
        assert_eq!(epochs, (1..=100).collect::<Vec<u64>>());
        assert_eq!(owners, 1);
    }
}
