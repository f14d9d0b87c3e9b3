//! A run: its record, its events and the log in which the store has both.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use contract_remote::store::{Store, StoreError};
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::record::{RunId, RunRecord};
use crate::contract::{Happening, Problem, RunEvent, RunState};

/// A run with its events, which others can follow.
#[derive(Debug)]
pub struct Run {
    id: RunId,
    store: Arc<dyn Store>,
    inner: Mutex<Inner>,
    /// Notified whenever anything changes.
    news: watch::Sender<()>,
    pub(super) stop: CancellationToken,
    /// Held while the log is written.
    writing: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct Inner {
    record: RunRecord,
    events: Vec<RunEvent>,
    /// How many of the events are in the store.
    saved: usize,
}

/// An entry of the log. A change of the record is one entry with the events of its step, so that neither is there without the
/// other.
#[derive(Serialize, Deserialize)]
struct Entry {
    events: Vec<RunEvent>,
    record: Option<RunRecord>,
}

/// The log of a run; its name tells runs from the tasks of executors.
const LOG: &str = "codegen.log";

/// The number of entries that are read at a time.
const PAGE: usize = 500;

/// The number of events of an entry, which must be far smaller than what the store takes.
const BATCH: usize = 20;

/// The number of events after which pieces of text and reports of progress are left out; whole texts follow in other events.
const MANY: usize = 5_000;

/// How long events that could not be stored wait for the next attempt.
const AGAIN: Duration = Duration::from_secs(1);

impl Inner {
    fn last(&self) -> u64 {
        self.events.last().map_or(0, |event| event.sequence)
    }
}

impl Run {
    pub(super) fn new(store: Arc<dyn Store>, record: RunRecord) -> Self {
        Self::with_events(store, record, Vec::new())
    }

    fn with_events(store: Arc<dyn Store>, record: RunRecord, events: Vec<RunEvent>) -> Self {
        Self {
            id: record.id,
            store,
            news: watch::Sender::new(()),
            stop: CancellationToken::new(),
            writing: tokio::sync::Mutex::default(),
            inner: Mutex::new(Inner {
                record,
                saved: events.len(),
                events,
            }),
        }
    }

    /// Reads a run from the store; `None` if the id is not that of a run.
    pub(super) async fn load(store: Arc<dyn Store>, id: RunId) -> Result<Option<Self>, StoreError> {
        let (mut record, mut events, mut after) = (None, BTreeMap::new(), 0);
        loop {
            let tail = store.tail(id, LOG, after, PAGE).await?;
            let Some(last) = tail.entries.last() else {
                break;
            };
            after = last.sequence;
            for logged in &tail.entries {
                let Ok(entry) = serde_json::from_str::<Entry>(&logged.value) else {
                    continue;
                };
                record = entry.record.or(record);
                // An entry whose confirmation was lost may be there twice, or with another one in its place.
                events.extend(
                    entry
                        .events
                        .into_iter()
                        .map(|event| (event.sequence, event)),
                );
            }
        }
        let events = events.into_values().collect();
        Ok(record.map(|record| Self::with_events(store, record, events)))
    }

    async fn log(&self, events: &[RunEvent], record: Option<&RunRecord>) -> Result<(), StoreError> {
        let entry = Entry {
            events: events.to_vec(),
            record: record.cloned(),
        };
        let text = serde_json::to_string(&entry).unwrap_or_default();
        // The same events have the same id, so that a write that is repeated adds nothing.
        let id = match (events, record) {
            ([first, ..], None) => format!("{}-{}.{}", first.sequence, events.len(), first.at_ms),
            _ => RunId::random().to_string(),
        };
        self.store.append(self.id, LOG, &id, &text).await?;
        Ok(())
    }

    fn locked(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    /// Returns the id of the run.
    #[must_use]
    pub fn id(&self) -> RunId {
        self.id
    }

    /// Returns the state of the run.
    #[must_use]
    pub fn state(&self) -> RunState {
        self.locked().record.life.state()
    }

    /// Returns everything that is stored of the run, except its events.
    #[must_use]
    pub fn record(&self) -> RunRecord {
        self.locked().record.clone()
    }

    /// Counts the calls that have ended.
    #[must_use]
    pub fn calls(&self) -> usize {
        let inner = self.locked();
        let ended = |event: &&RunEvent| matches!(event.what, Happening::ToolResult { .. });
        inner.events.iter().filter(ended).count()
    }

    /// Returns the calls that have no end in the events, by id and tool.
    pub(super) fn open_calls(&self) -> Vec<(String, String)> {
        let mut open: Vec<(String, String)> = Vec::new();
        for event in &self.locked().events {
            match &event.what {
                Happening::ToolCall { call_id, tool, .. } => {
                    open.push((call_id.clone(), tool.clone()));
                }
                Happening::ToolResult { call_id, .. } => open.retain(|(id, _)| id != call_id),
                _ => {}
            }
        }
        open
    }

    /// Returns the events after a sequence number.
    #[must_use]
    pub fn after(&self, sequence: u64) -> Vec<RunEvent> {
        let inner = self.locked();
        let is_before = |event: &RunEvent| event.sequence <= sequence;
        let start = inner.events.partition_point(is_before);
        inner.events[start..].to_vec()
    }

    /// Returns whether no event will be added until a person acts: the run is over, or waits for an answer or a decision.
    #[must_use]
    pub fn rests(&self) -> bool {
        !self.locked().record.is_due()
    }

    /// Subscribes to changes.
    #[must_use]
    pub fn news(&self) -> watch::Receiver<()> {
        self.news.subscribe()
    }

    /// Waits until the run is over.
    pub async fn ended(&self) {
        let mut news = self.news();
        // The sender is part of this value, so this does not fail.
        let _ = news.wait_for(|()| self.state().is_over()).await;
    }

    /// Waits until the run [rests](Self::rests).
    pub async fn rested(&self) {
        let mut news = self.news();
        let _ = news.wait_for(|()| self.rests()).await;
    }

    pub(super) fn record_event(&self, what: Happening) {
        let mut inner = self.locked();
        let is_piece = matches!(
            what,
            Happening::TextDelta { .. } | Happening::ToolProgress { .. }
        );
        if inner.events.len() >= MANY && is_piece {
            return;
        }
        let event = numbered(inner.last() + 1, what);
        inner.events.push(event);
        drop(inner);
        self.news.send_replace(());
    }

    /// Changes the record, one change at a time; nobody sees a change before it is stored.
    ///
    /// # Errors
    ///
    /// The problem of `change`, or of the store; then everything is as before.
    pub(super) async fn change(
        &self,
        change: impl FnOnce(&mut RunRecord) -> Result<Vec<Happening>, Problem>,
    ) -> Result<(), Problem> {
        self.changed(change, false).await
    }

    /// Changes the record as [`change`](Self::change) does, and also where the store fails: an event says then that a restart
    /// would lose the change.
    pub(super) async fn change_anyway(
        &self,
        change: impl FnOnce(&mut RunRecord) -> Result<Vec<Happening>, Problem>,
    ) -> Result<(), Problem> {
        self.changed(change, true).await
    }

    /// Only the worker adds events to a run that is at work, and only the worker changes its record: the numbers that are
    /// given here before the write are still free after it.
    async fn changed(
        &self,
        change: impl FnOnce(&mut RunRecord) -> Result<Vec<Happening>, Problem>,
        anyway: bool,
    ) -> Result<(), Problem> {
        let _one_by_one = self.writing.lock().await;
        let (mut record, last) = {
            let inner = self.locked();
            (inner.record.clone(), inner.last())
        };
        let before = record.life.state();
        let told = change(&mut record)?;
        let state = record.life.state();
        let moved = (state != before || last == 0).then_some(Happening::State { state });
        let told = told.into_iter().chain(moved);
        let events: Vec<_> = (last + 1..)
            .zip(told)
            .map(|(sequence, what)| numbered(sequence, what))
            .collect();
        let stored = async {
            self.flush().await?;
            self.log(&events, Some(&record)).await
        };
        let stored = stored.await;
        if let (Err(error), false) = (&stored, anyway) {
            return Err(error.clone().into());
        }
        {
            let mut inner = self.locked();
            inner.record = record;
            inner.events.extend(events);
            if stored.is_ok() {
                inner.saved = inner.events.len();
            }
        }
        if let Err(error) = stored {
            let text = format!("this is not stored, and a restart would lose it: {error}");
            self.record_event(Happening::Notice { text });
        }
        self.news.send_replace(());
        Ok(())
    }

    /// Stores events as they are recorded, until it is dropped.
    pub(super) async fn flushes(&self) {
        let mut news = self.news();
        loop {
            news.borrow_and_update();
            let flushed = {
                let _one_by_one = self.writing.lock().await;
                self.flush().await
            };
            if flushed.is_err() {
                tokio::time::sleep(AGAIN).await;
                continue;
            }
            // The sender is part of this value, so this does not fail.
            let _ = news.changed().await;
        }
    }

    /// Stores the events that are not stored yet; `writing` is held.
    async fn flush(&self) -> Result<(), StoreError> {
        let fresh = {
            let inner = self.locked();
            inner.events[inner.saved..].to_vec()
        };
        for batch in fresh.chunks(BATCH) {
            self.log(batch, None).await?;
            self.locked().saved += batch.len();
        }
        Ok(())
    }
}

fn numbered(sequence: u64, what: Happening) -> RunEvent {
    RunEvent {
        sequence,
        at_ms: now_ms(),
        what,
    }
}

pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
