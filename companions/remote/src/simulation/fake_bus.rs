//! A simulated message relay that delays, repeats and loses messages.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::executor_faults::lock;
use super::fake_network::NetworkFaults;
use super::rng::Rng;
use super::statistics::ClusterStatistics;
use crate::store::relay::{BusConsumer, BusMessage, MessageBus};
use crate::store::{StoreError, StoreFuture};

/// The same as those of the relay.
const LEASE: Duration = Duration::from_secs(30);
const DELIVERIES: u32 = 5;

/// How late a message may be, in milliseconds.
const LATE: u64 = 3_000;

/// How often each fault hits a message: once in this many times; 0 means never.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rates {
    lost: u64,
    twice: u64,
    late: u64,
    refused: u64,
}

impl Rates {
    pub(super) fn of(rng: &Rng) -> Self {
        let rate = || [0, 0, 30, 8][usize::try_from(rng.below(4)).unwrap_or(0)];
        Self {
            lost: rate(),
            twice: rate(),
            late: rate(),
            refused: rate(),
        }
    }
}

#[derive(Debug)]
struct QueuedMessage {
    place: u64,
    id: String,
    message: Value,
    count: u32,
    /// It is not delivered before.
    from: Instant,
}

#[derive(Debug, Default)]
struct Queues {
    messages: BTreeMap<String, Vec<QueuedMessage>>,
    seen: BTreeSet<String>,
    leases: BTreeMap<String, (String, Instant)>,
    places: u64,
    statistics: ClusterStatistics,
    /// A mistake of a consumer that loses messages.
    wrong: Option<String>,
}

/// A bus with exactly the guarantees of the relay; each process has a handle, which is invalid once it is killed.
#[derive(Clone, Debug)]
pub(super) struct FakeBus {
    queues: Arc<Mutex<Queues>>,
    alive: Arc<AtomicBool>,
    rates: Rates,
    faults: Arc<NetworkFaults>,
    rng: Rng,
}

impl FakeBus {
    pub(super) fn new(rates: Rates, faults: &Arc<NetworkFaults>, rng: &Rng) -> Self {
        Self {
            queues: Arc::default(),
            alive: Arc::new(AtomicBool::new(true)),
            rates,
            faults: Arc::clone(faults),
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

    pub(super) fn kill(&self) {
        self.alive.store(false, Ordering::SeqCst);
    }

    /// Returns what became of the messages, or the mistake of a consumer.
    pub(super) fn statistics(&self) -> Result<ClusterStatistics, String> {
        let queues = lock(&self.queues);
        queues
            .wrong
            .clone()
            .map_or_else(|| Ok(queues.statistics.clone()), Err)
    }

    fn occurs(&self, once_in: u64) -> bool {
        let is_calm = self.faults.calm.load(Ordering::Relaxed);
        once_in != 0 && !is_calm && self.rng.once_in(once_in)
    }

    /// A killed process waits forever.
    async fn wait_forever_if_dead(&self) {
        if !self.alive.load(Ordering::SeqCst) {
            std::future::pending::<()>().await;
        }
    }

    fn refusal() -> StoreError {
        StoreError::Unavailable {
            address: "simulated".to_owned(),
            reason: "there is no answer".to_owned(),
            attempts: 1,
            after: Duration::ZERO,
        }
    }

    fn delayed<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self, &mut Queues) -> Result<T, StoreError> + Send + 'static,
    ) -> StoreFuture<'static, T> {
        let there = self.clone();
        Box::pin(async move {
            sleep(there.rng.millis(2)).await;
            there.wait_forever_if_dead().await;
            let did = work(&there, &mut lock(&there.queues));
            sleep(there.rng.millis(1)).await;
            there.wait_forever_if_dead().await;
            did
        })
    }

    fn put(&self, queues: &mut Queues, to: &str, id: &str, message: &Value) {
        if !queues.seen.insert(id.to_owned()) {
            return;
        }
        queues.statistics.messages += 1;
        if self.occurs(self.rates.lost) {
            queues.statistics.lost += 1;
            let trace = format_args!("a message to {to} is lost: {message}");
            return self.faults.trace.record(trace);
        }
        let twice = self.occurs(self.rates.twice);
        queues.statistics.twice += u64::from(twice);
        for _ in 0..=u8::from(twice) {
            let mut from = Instant::now();
            if self.occurs(self.rates.late) {
                queues.statistics.late += 1;
                from += self.rng.millis(LATE);
            }
            queues.places += 1;
            let letter = QueuedMessage {
                place: queues.places,
                id: id.to_owned(),
                message: message.clone(),
                count: 0,
                from,
            };
            queues
                .messages
                .entry(to.to_owned())
                .or_default()
                .push(letter);
        }
    }

    /// The first that is there, held from here on.
    fn take(&self, queues: &mut Queues, name: &str) -> Option<BusMessage> {
        let now = Instant::now();
        let messages = queues.messages.get_mut(name)?;
        let before = messages.len();
        messages.retain(|letter| letter.from > now || letter.count < DELIVERIES);
        queues.statistics.dead += (before - messages.len()) as u64;
        let letter = messages.iter_mut().find(|letter| letter.from <= now)?;
        letter.count += 1;
        letter.from = now + LEASE;
        queues.statistics.come_again += u64::from(letter.count > 1);
        let (name, place, again) = (name.to_owned(), letter.place, letter.count > 1);
        self.faults.trace.record(format_args!(
            "{name} gets message {place} for the {} time: {}",
            letter.count, letter.message
        ));
        let done = self.delayed(move |fake_bus, queues| {
            // It is held until its lease expires, and is redelivered.
            let rate = fake_bus.rates.refused;
            if fake_bus.occurs(if again { rate.min(1) } else { rate }) {
                return Err(Self::refusal());
            }
            let messages = queues.messages.entry(name).or_default();
            messages.retain(|letter| letter.place != place);
            Ok(())
        });
        Some(BusMessage {
            id: letter.id.clone(),
            message: letter.message.clone(),
            count: letter.count,
            done,
        })
    }
}

impl MessageBus for FakeBus {
    fn publish<'o>(&'o self, to: &'o str, id: &'o str, message: &'o Value) -> StoreFuture<'o, ()> {
        let (to, id, message) = (to.to_owned(), id.to_owned(), message.clone());
        self.delayed(move |fake_bus, queues| {
            let refused = fake_bus.occurs(fake_bus.rates.refused);
            // One that is refused may have been taken all the same.
            if !refused || fake_bus.rng.once_in(2) {
                fake_bus.put(queues, &to, &id, &message);
            }
            if refused {
                queues.statistics.refused += 1;
                let trace = format_args!("a message to {to} is refused: {message}");
                fake_bus.faults.trace.record(trace);
                return Err(Self::refusal());
            }
            Ok(())
        })
    }

    fn inbox(&self, backend: &str, _: &str) -> Result<Box<dyn BusConsumer>, StoreError> {
        Ok(Box::new(FakeConsumer {
            fake_bus: self.clone(),
            name: backend.to_owned(),
            ticked_off: Arc::default(),
        }))
    }

    fn announce<'o>(
        &'o self,
        backend: &'o str,
        owner: &'o str,
        time: Duration,
    ) -> StoreFuture<'o, bool> {
        let (backend, owner) = (backend.to_owned(), owner.to_owned());
        self.delayed(move |_, queues| {
            let now = Instant::now();
            let there = queues.leases.get(&backend);
            let is_free = there.is_none_or(|(by, until)| *by == owner || *until <= now);
            if is_free {
                queues.leases.insert(backend, (owner, now + time));
            }
            Ok(is_free)
        })
    }

    fn withdraw<'o>(&'o self, backend: &'o str, owner: &'o str) -> StoreFuture<'o, ()> {
        let (backend, owner) = (backend.to_owned(), owner.to_owned());
        self.delayed(move |_, queues| {
            queues
                .leases
                .retain(|name, (by, _)| *name != backend || *by != owner);
            Ok(())
        })
    }

    fn announced<'o>(&'o self, backend: &'o str) -> StoreFuture<'o, Option<String>> {
        let backend = backend.to_owned();
        self.delayed(move |_, queues| {
            let there = queues.leases.get(&backend);
            let there = there.filter(|(_, until)| *until > Instant::now());
            Ok(there.map(|(owner, _)| owner.clone()))
        })
    }
}

struct FakeConsumer {
    fake_bus: FakeBus,
    name: String,
    /// The time of the last message.
    ticked_off: Arc<Mutex<Option<Instant>>>,
}

impl BusConsumer for FakeConsumer {
    fn next(&mut self) -> StoreFuture<'_, BusMessage> {
        Box::pin(async {
            let ticked_off = lock(&self.ticked_off).take();
            // A process that is killed meanwhile has lost the message.
            if ticked_off.is_some_and(|when| when != Instant::now()) {
                let wrong = format!("{} acknowledged a message before it was handled", self.name);
                lock(&self.fake_bus.queues).wrong = Some(wrong);
            }
            loop {
                self.fake_bus.wait_forever_if_dead().await;
                let taken = self
                    .fake_bus
                    .take(&mut lock(&self.fake_bus.queues), &self.name);
                if let Some(mut bus_message) = taken {
                    let trace = Arc::clone(&self.ticked_off);
                    let done = bus_message.done;
                    bus_message.done = Box::pin(async move {
                        let did = done.await;
                        *lock(&trace) = Some(Instant::now());
                        did
                    });
                    return Ok(bus_message);
                }
                sleep(Duration::from_millis(1)).await;
            }
        })
    }
}
