use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::oneshot;
use tokio::time::sleep;

use super::dice::Dice;
use crate::remote::protocol::TaskId;
use crate::remote::store::{Expect, Store, StoreError, StoreFuture, Stored, Tail, Written};

type Values = BTreeMap<String, Stored>;

/// A store of one task that outlives the backends; each has a hand on it, which it loses when it is killed.
///
/// Operations that are under way at once overtake each other, and one that is dropped may still be done.
#[derive(Clone, Debug)]
pub(super) struct Shelf {
    values: Arc<Mutex<Values>>,
    alive: Arc<AtomicBool>,
    dice: Dice,
}

fn locked(values: &Mutex<Values>) -> MutexGuard<'_, Values> {
    values.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Shelf {
    pub(super) fn new(dice: &Dice) -> Self {
        Self {
            values: Arc::default(),
            alive: Arc::new(AtomicBool::new(true)),
            dice: dice.clone(),
        }
    }

    /// For the next process.
    pub(super) fn again(&self) -> Self {
        Self {
            alive: Arc::new(AtomicBool::new(true)),
            ..self.clone()
        }
    }

    /// Nothing that this process has begun is done from here on.
    pub(super) fn kill(&self) {
        self.alive.store(false, Ordering::SeqCst);
    }

    pub(super) fn look(&self, prefix: &str) -> Vec<(String, Stored)> {
        let values = locked(&self.values);
        let of = values.iter().filter(|(name, _)| name.starts_with(prefix));
        of.map(|(name, value)| (name.clone(), value.clone()))
            .collect()
    }

    fn soon<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Values) -> T + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let there = self.clone();
        Box::pin(async move {
            let (done, told) = oneshot::channel();
            tokio::spawn(async move {
                sleep(there.dice.millis(2)).await;
                if !there.alive.load(Ordering::SeqCst) {
                    // A process that is dead is not told anything either.
                    return std::future::pending().await;
                }
                let did = work(&mut locked(&there.values));
                sleep(there.dice.millis(1)).await;
                let _ = done.send(did);
            });
            told.await.map_err(|_| StoreError::Closed)
        })
    }
}

impl Store for Shelf {
    fn read<'s>(&'s self, _: TaskId, name: &'s str) -> StoreFuture<'s, Option<Stored>> {
        let name = name.to_owned();
        self.soon(move |values| values.get(&name).cloned())
    }

    fn write<'s>(
        &'s self,
        _: TaskId,
        name: &'s str,
        value: &'s str,
        expect: Expect,
    ) -> StoreFuture<'s, Written> {
        let (name, value) = (name.to_owned(), value.to_owned());
        self.soon(move |values| {
            let there = values.get(&name).cloned();
            let version = there.as_ref().map_or(0, |there| there.version);
            let as_expected = match expect {
                Expect::Any => true,
                Expect::Absent => version == 0,
                Expect::Version(expected) => version == expected,
            };
            if !as_expected {
                return Written::Conflict { there };
            }
            let version = version + 1;
            values.insert(name, Stored::new(version, value));
            Written::Done { version }
        })
    }

    fn remove<'s>(&'s self, _: TaskId, names: &'s [&'s str]) -> StoreFuture<'s, ()> {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        self.soon(move |values| values.retain(|name, _| !names.contains(name)))
    }

    fn list<'s>(&'s self, _: TaskId, prefix: &'s str) -> StoreFuture<'s, Vec<(String, Stored)>> {
        let (there, prefix) = (self.clone(), prefix.to_owned());
        let asked = self.soon(|_| ());
        Box::pin(async move { asked.await.map(|()| there.look(&prefix)) })
    }

    fn append<'s>(&'s self, _: TaskId, _: &'s str, _: &'s str, _: &'s str) -> StoreFuture<'s, u64> {
        self.soon(|_| 0)
    }

    fn tail<'s>(&'s self, _: TaskId, _: &'s str, _: u64, _: usize) -> StoreFuture<'s, Tail> {
        self.soon(|_| Tail::default())
    }

    fn forget(&self, _: TaskId) -> StoreFuture<'_, ()> {
        self.soon(Values::clear)
    }

    fn tasks(&self) -> StoreFuture<'_, Vec<TaskId>> {
        self.soon(|_| Vec::new())
    }
}
