//! A simulated store that outlives backend processes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::sleep;

use super::rng::Rng;
use crate::protocol::TaskId;
use crate::store::{Expect, Store, StoreError, StoreFuture, Stored, Tail, Written};

type Values = BTreeMap<String, Stored>;

/// A store of one task that outlives the backends; each has a handle, which is invalid once it is killed.
///
/// Concurrent operations overtake each other, and one that is dropped may still be applied.
#[derive(Clone, Debug)]
pub(super) struct FakeStore {
    values: Arc<Mutex<Values>>,
    alive: Arc<AtomicBool>,
    rng: Rng,
}

fn lock(values: &Mutex<Values>) -> MutexGuard<'_, Values> {
    values.lock().unwrap_or_else(PoisonError::into_inner)
}

impl FakeStore {
    pub(super) fn new(rng: &Rng) -> Self {
        Self {
            values: Arc::default(),
            alive: Arc::new(AtomicBool::new(true)),
            rng: rng.clone(),
        }
    }

    /// Returns a handle for the next process.
    pub(super) fn new_handle(&self) -> Self {
        Self {
            alive: Arc::new(AtomicBool::new(true)),
            ..self.clone()
        }
    }

    /// Discards what this process has begun and not completed.
    pub(super) fn kill(&self) {
        self.alive.store(false, Ordering::SeqCst);
    }

    pub(super) fn snapshot(&self, prefix: &str) -> Vec<(String, Stored)> {
        let values = lock(&self.values);
        let of = values.iter().filter(|(name, _)| name.starts_with(prefix));
        of.map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    fn delayed<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Values) -> T + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let there = self.clone();
        Box::pin(async move {
            let (done, trace) = oneshot::channel();
            tokio::spawn(async move {
                sleep(there.rng.millis(2)).await;
                if !there.alive.load(Ordering::SeqCst) {
                    // A killed process gets no answer.
                    return std::future::pending().await;
                }
                let did = work(&mut lock(&there.values));
                sleep(there.rng.millis(1)).await;
                let _ = done.send(did);
            });
            trace.await.map_err(|_| StoreError::Closed)
        })
    }
}

impl Store for FakeStore {
    fn read<'s>(&'s self, _: TaskId, name: &'s str) -> StoreFuture<'s, Option<Stored>> {
        let name = name.to_owned();
        self.delayed(move |values| values.get(&name).cloned())
    }

    fn write<'s>(
        &'s self,
        _: TaskId,
        name: &'s str,
        value: &'s str,
        expect: Expect,
    ) -> StoreFuture<'s, Written> {
        let (name, value) = (name.to_owned(), value.to_owned());
        self.delayed(move |values| {
            let there = values.get(&name).cloned();
            let version = there.as_ref().map_or(0, |there| there.version);
            let as_expected = match expect {
                Expect::Any => true,
                Expect::Absent => version == 0,
                Expect::Version(expected) => version == expected,
            };
            if !as_expected {
                return Written::Conflict { current: there };
            }
            let version = version + 1;
            values.insert(name, Stored::new(version, value));
            Written::Done { version }
        })
    }

    fn remove<'s>(&'s self, _: TaskId, names: &'s [&'s str]) -> StoreFuture<'s, ()> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        self.delayed(move |values| values.retain(|name, _| !names.contains(name)))
    }

    fn list<'s>(&'s self, _: TaskId, prefix: &'s str) -> StoreFuture<'s, Vec<(String, Stored)>> {
        let (there, prefix) = (self.clone(), prefix.to_owned());
        let asked = self.delayed(|_| ());
        Box::pin(async move { asked.await.map(|()| there.snapshot(&prefix)) })
    }

    fn append<'s>(&'s self, _: TaskId, _: &'s str, _: &'s str, _: &'s str) -> StoreFuture<'s, u64> {
        self.delayed(|_| 0)
    }

    fn tail<'s>(&'s self, _: TaskId, _: &'s str, _: u64, _: usize) -> StoreFuture<'s, Tail> {
        self.delayed(|_| Tail::default())
    }

    fn forget(&self, _: TaskId) -> StoreFuture<'_, ()> {
        self.delayed(Values::clear)
    }

    fn tasks(&self) -> StoreFuture<'_, Vec<TaskId>> {
        self.delayed(|_| Vec::new())
    }
}
