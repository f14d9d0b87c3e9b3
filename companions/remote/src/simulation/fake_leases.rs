//! Simulated leases, which outlive backend processes.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::time::{Instant, sleep};

use super::executor_faults::lock;
use super::rng::Rng;
use crate::store::leases::Leases;
use crate::store::{StoreError, StoreFuture};

/// Each backend with the process that runs as it, and until when.
type Map = BTreeMap<String, (String, Instant)>;

/// Leases; each process has a handle, which is invalid once it is killed.
#[derive(Clone, Debug)]
pub(crate) struct FakeLeases {
    map: Arc<Mutex<Map>>,
    alive: Arc<AtomicBool>,
    /// The process cannot reach the server.
    parted: Arc<AtomicBool>,
    rng: Rng,
}

impl FakeLeases {
    /// Returns leases for a test outside of a simulation.
    pub(crate) fn of_test() -> Self {
        Self::new(&Rng::new(0))
    }

    pub(super) fn new(rng: &Rng) -> Self {
        Self {
            map: Arc::default(),
            alive: Arc::new(AtomicBool::new(true)),
            parted: Arc::default(),
            rng: rng.clone(),
        }
    }

    /// Returns a handle for the next process.
    pub(crate) fn new_handle(&self) -> Self {
        Self {
            alive: Arc::new(AtomicBool::new(true)),
            parted: Arc::default(),
            ..self.clone()
        }
    }

    pub(super) fn kill(&self) {
        self.alive.store(false, Ordering::SeqCst);
    }

    /// Keeps the process from renewing its lease, which expires at once; or lets it again.
    pub(crate) fn part(&self, name: &str, is_parted: bool) {
        self.parted.store(is_parted, Ordering::SeqCst);
        if is_parted {
            lock(&self.map).remove(name);
        }
    }

    fn delayed<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Map) -> T + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let there = self.clone();
        Box::pin(async move {
            sleep(there.rng.millis(2)).await;
            if !there.alive.load(Ordering::SeqCst) {
                // A killed process gets no answer.
                return std::future::pending().await;
            }
            if there.parted.load(Ordering::SeqCst) {
                return Err(StoreError::Unavailable {
                    address: "simulated".to_owned(),
                    reason: "there is no answer".to_owned(),
                    attempts: 1,
                    after: Duration::ZERO,
                });
            }
            Ok(work(&mut lock(&there.map)))
        })
    }
}

impl Leases for FakeLeases {
    fn announce<'s>(
        &'s self,
        backend: &'s str,
        process: &'s str,
        time: Duration,
    ) -> StoreFuture<'s, bool> {
        let (backend, process) = (backend.to_owned(), process.to_owned());
        self.delayed(move |map| {
            let now = Instant::now();
            let there = map.get(&backend);
            let is_free = there.is_none_or(|(by, until)| *by == process || *until <= now);
            if is_free {
                map.insert(backend, (process, now + time));
            }
            is_free
        })
    }

    fn withdraw<'s>(&'s self, backend: &'s str, process: &'s str) -> StoreFuture<'s, ()> {
        let (backend, process) = (backend.to_owned(), process.to_owned());
        self.delayed(move |map| map.retain(|name, (by, _)| *name != backend || *by != process))
    }

    fn announced<'s>(&'s self, backend: &'s str) -> StoreFuture<'s, Option<String>> {
        let backend = backend.to_owned();
        self.delayed(move |map| {
            let there = map.get(&backend);
            let there = there.filter(|(_, until)| *until > Instant::now());
            there.map(|(process, _)| process.clone())
        })
    }
}
