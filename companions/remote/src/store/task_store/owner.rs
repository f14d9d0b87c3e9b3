#[cfg(any(test, feature = "redis"))]
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Ledger;
#[cfg(any(test, feature = "redis"))]
use super::{from_text, to_text};
use crate::remote::store::StoreError;
#[cfg(any(test, feature = "redis"))]
use crate::remote::store::{Expect, Written};

/// The process that makes the calls of a task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Home {
    /// The name of the backend.
    pub(crate) backend: String,
    /// Tells this process from others of that name, earlier and later.
    pub(crate) run: String,
    /// Counts those who were the home, from 1.
    pub(crate) epoch: u64,
}

impl Home {
    fn is_same(&self, other: &Self) -> bool {
        (&self.backend, &self.run) == (&other.backend, &other.run)
    }
}

impl Ledger {
    /// Makes a process the home of the task, whoever was before, and gives that one.
    ///
    /// Of those who claim at once each gets an epoch of its own, and the last one is the home. Who reads the calls after
    /// its claim finds each one that an earlier home may still send: see [`is_home`](Self::is_home).
    #[cfg(any(test, feature = "redis"))]
    pub(crate) async fn claim_home(
        &mut self,
        backend: &str,
        run: &str,
    ) -> Result<Option<Home>, StoreError> {
        loop {
            let there = self.store.read(self.task, "home").await?;
            let (before, expect) = match there {
                Some(there) => {
                    let before: Home = from_text("home", &there.value)?;
                    (Some(before), Expect::Version(there.version))
                }
                None => (None, Expect::Absent),
            };
            let mut home = Home {
                backend: backend.to_owned(),
                run: run.to_owned(),
                epoch: before.as_ref().map_or(0, |before| before.epoch) + 1,
            };
            if let Some(same) = before.as_ref().filter(|before| before.is_same(&home)) {
                home.epoch = same.epoch;
            } else {
                let text = to_text("home", &home)?;
                if let Written::Conflict { .. } = self.write("home", &text, expect).await? {
                    continue;
                }
            }
            self.claimed = Some(Arc::new(home));
            return Ok(before);
        }
    }

    /// The home of the task; none where several backends never shared it.
    pub(crate) async fn home(&self) -> Result<Option<Home>, StoreError> {
        self.get("home").await
    }

    /// Whether the task was claimed with this ledger, as one that several backends share.
    #[cfg(feature = "redis")]
    pub(crate) fn is_shared(&self) -> bool {
        self.claimed.is_some()
    }

    /// Whether the process is the home that claimed the task with this ledger; always where nobody had to.
    ///
    /// A call that was written down before this was asked, and the answer was yes, is found by every later home.
    pub(crate) async fn is_home(&self) -> Result<bool, StoreError> {
        let Some(claimed) = &self.claimed else {
            return Ok(true);
        };
        // Where the store has lost it, nobody else has claimed it.
        let home = self.home().await?;
        Ok(home.is_none_or(|home| home.is_same(claimed)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::remote::protocol::TaskId;
    use crate::remote::store::EmbeddedStore;

    fn ledgers() -> [Ledger; 2] {
        let store = Arc::new(EmbeddedStore::in_memory().expect("a thread"));
        let task = TaskId::random();
        [(); 2].map(|()| Ledger::new(Arc::clone(&store) as _, task))
    }

    #[tokio::test]
    async fn the_last_to_claim_a_task_is_its_home() {
        let [mut one, mut other] = ledgers();
        // Where nobody has to claim it, everybody may make calls.
        assert!(one.is_home().await.unwrap());
        assert_eq!(one.claim_home("one", "1").await.unwrap(), None);
        // Twice at once in one process: nothing changes.
        let same = one.claim_home("one", "1").await.unwrap().unwrap();
        assert_eq!((&*same.backend, same.epoch), ("one", 1));
        assert!(one.is_home().await.unwrap());

        let before = other.claim_home("other", "1").await.unwrap().unwrap();
        assert_eq!(&*before.backend, "one");
        assert!(!one.is_home().await.unwrap());
        assert!(other.is_home().await.unwrap());
        // Another process under the same name.
        let before = one.claim_home("other", "2").await.unwrap().unwrap();
        assert_eq!((&*before.run, before.epoch), ("1", 2));
        assert!(!other.is_home().await.unwrap());
        assert!(one.is_home().await.unwrap());
    }

    #[tokio::test(flavor = "multi_thread", worker_threads = 4)]
    async fn of_a_hundred_claims_one_makes_the_home() {
        let [ledger, _] = ledgers();
        let claims: Vec<_> = (0..100)
            .map(|one| {
                let mut ledger = ledger.clone();
                tokio::spawn(async move {
                    let before = ledger.claim_home("b", &one.to_string()).await.unwrap();
                    (ledger, before.map_or(0, |before| before.epoch))
                })
            })
            .collect();
        let (mut epochs, mut ledgers) = (Vec::new(), Vec::new());
        for claim in claims {
            let (ledger, before) = claim.await.unwrap();
            epochs.push(before);
            ledgers.push(ledger);
        }
        let mut homes = 0;
        for ledger in ledgers {
            homes += u32::from(ledger.is_home().await.unwrap());
        }
        epochs.sort_unstable();
        assert_eq!(epochs, (0..100).collect::<Vec<u64>>());
        assert_eq!(homes, 1);
    }
}
