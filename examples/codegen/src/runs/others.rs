//! Follows the other backends of a shared store.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Weak;
use std::time::{Duration, Instant};

use contract_remote::store::StoreError;
use parking_lot::{Mutex, MutexGuard};

use super::engine::Shared;
use super::run_store::RunStore;

/// How often it is looked what other backends do.
const LOOK: Duration = Duration::from_millis(500);

/// How often this one shows that it is there, in looks.
const SHOW: u32 = 10;

/// From when on it is told how long a backend has been silent: a busy one misses a few signs.
const SILENT: Duration = Duration::from_secs(30);

/// What is known of the other backends of a store.
///
/// Their clocks are not asked: one is silent as long as this process has seen nothing of it.
#[derive(Debug, Default)]
pub(super) struct Others {
    /// How often each has shown that it is there, and since when it has been so often.
    seen: Mutex<BTreeMap<String, (u64, Instant)>>,
    /// How far the list of beginnings was read.
    begun: Mutex<u64>,
}

impl Others {
    pub(super) async fn open(run_store: &RunStore) -> Result<Self, StoreError> {
        if !run_store.is_shared() {
            return Ok(Self::default());
        }
        run_store.show().await?;
        let (_, begun) = run_store.begun(None).await?;
        Ok(Self {
            seen: Mutex::default(),
            begun: Mutex::new(begun),
        })
    }

    fn seen(&self) -> MutexGuard<'_, BTreeMap<String, (u64, Instant)>> {
        self.seen.lock()
    }

    /// How many seconds a backend has been silent, where that is long enough to be told.
    pub(super) fn silent_s(&self, name: &str) -> Option<u64> {
        let silent = self.seen().get(name)?.1.elapsed();
        (silent >= SILENT).then_some(silent.as_secs())
    }

    fn note(&self, name: &str, shown: u64) {
        let mut seen = self.seen();
        match seen.get_mut(name) {
            Some((known, _)) if *known == shown => {}
            _ => drop(seen.insert(name.to_owned(), (shown, Instant::now()))),
        }
    }
}

/// Follows what other backends do with their runs, and with those of this one, until nobody wants to know.
pub(super) async fn watch(shared: Weak<Shared>) {
    for turn in 0_u32.. {
        tokio::time::sleep(LOOK).await;
        let Some(shared) = shared.upgrade() else {
            return;
        };
        if turn % SHOW == 0 {
            // If the store cannot be reached, nothing is updated; the next round tries again.
            let _ = shared.run_store.show().await;
        }
        let _ = shared.poll_store().await;
    }
}

impl Shared {
    async fn poll_store(&self) -> Result<(), StoreError> {
        let after = *self.others.begun.lock();
        let (begun, last) = self.run_store.begun(Some(after)).await?;
        for id in begun {
            self.note(id).await?;
        }
        *self.others.begun.lock() = last;
        let mut owners = BTreeSet::new();
        for run in self.all() {
            if run.state().is_over() {
                continue;
            }
            let was_at_work = run.record();
            if !run.refresh(&self.run_store).await? {
                self.runs().remove(&run.id());
                continue;
            }
            let record = run.record();
            if record.owner != self.run_store.name() {
                owners.insert(record.owner);
                // The backend that took the run has ended it.
                let own = was_at_work.owner == self.run_store.name();
                if own && was_at_work.life.state().is_at_work() {
                    run.stop.cancel();
                }
            }
        }
        for owner in owners {
            let shown = self.run_store.heartbeat(&owner).await?;
            self.others.note(&owner, shown);
        }
        Ok(())
    }
}
