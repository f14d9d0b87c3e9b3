//! A run: its record, its events and their subscribers.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use contract_remote::store::StoreError;
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::approval::Waiting;
use super::record::{RunId, RunRecord, Writer};
use super::refused::Refused;
use super::run_store::{RunStore, Saved};
use crate::contract::{Happening, RunEvent, RunState};

/// A run: its record, its events, and its followers.
#[derive(Debug)]
pub struct Run {
    id: RunId,
    inner: Mutex<Inner>,
    /// How many events there are; told whenever anything changes.
    news: watch::Sender<u64>,
    pub(super) stop: CancellationToken,
    /// For the decision on a call.
    pub(super) waiting: Waiting,
    /// Held while the record changes.
    changing: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) record: RunRecord,
    /// Of the record, in the store; 0 before it is there.
    version: u64,
    events: Vec<RunEvent>,
    /// How many of them are in the store.
    saved: usize,
    /// How far the log of the store was read, and what of it has no place among the events yet.
    read: u64,
    pending: BTreeMap<(u64, String), RunEvent>,
}

/// Events after which pieces of text and reports of progress are no longer told; whole texts follow in other events.
const MANY: usize = 5_000;

/// How long events that could not be written down wait for the next try.
const AGAIN: Duration = Duration::from_secs(1);

/// An event that stands for a step, and counts once its step is in the record.
fn is_step(what: &Happening) -> bool {
    matches!(
        what,
        Happening::State { .. }
            | Happening::Answer { .. }
            | Happening::Questions { .. }
            | Happening::ApprovalRequested { .. }
            | Happening::ApprovalAnswered { .. }
            | Happening::Error { .. }
    )
}

impl Inner {
    /// Takes from what was read whatever follows on the events: of each number the one of its writer, without a gap.
    fn take_pending(&mut self) {
        loop {
            let next = self.events.last().map_or(0, |event| event.sequence) + 1;
            let Some(writer) = self.record.writer_of(next) else {
                break;
            };
            let key = (next, writer.to_owned());
            let Some(event) = self.pending.get(&key) else {
                break;
            };
            if next > self.record.logged && is_step(&event.what) {
                break;
            }
            let event = event.clone();
            self.events.push(event);
            self.pending = self.pending.split_off(&(next + 1, String::new()));
        }
        self.saved = self.events.len();
    }
}

impl Run {
    pub(super) fn new(record: RunRecord) -> Self {
        Self {
            id: record.id,
            news: watch::Sender::new(0),
            stop: CancellationToken::new(),
            waiting: Waiting::default(),
            changing: tokio::sync::Mutex::default(),
            inner: Mutex::new(Inner {
                record,
                version: 0,
                events: Vec::new(),
                saved: 0,
                read: 0,
                pending: BTreeMap::new(),
            }),
        }
    }

    /// A run as the store has it; `None` if it has none.
    pub(super) async fn load(id: RunId, run_store: &RunStore) -> Result<Option<Self>, StoreError> {
        let Some((record, _)) = run_store.read(id).await? else {
            return Ok(None);
        };
        let run = Self::new(record);
        run.refresh(run_store).await?;
        Ok(Some(run))
    }

    pub(super) fn locked(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock()
    }

    /// Identifies the run.
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

    /// Counts its calls that have ended.
    #[must_use]
    pub fn calls(&self) -> usize {
        let inner = self.locked();
        let ended = |event: &&RunEvent| matches!(event.what, Happening::ToolResult { .. });
        inner.events.iter().filter(ended).count()
    }

    /// The calls that have no end in the events, by id and tool.
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

    /// When the model was last told to begin or to go on, in milliseconds since 1970, UTC.
    pub(super) fn turn_began_ms(&self) -> u64 {
        let inner = self.locked();
        let (mut began, mut last) = (0, None);
        for event in &inner.events {
            let Happening::State { state } = event.what else {
                continue;
            };
            // After a decision the same turn goes on.
            if state == RunState::Running && last != Some(RunState::WaitingApproval) {
                began = event.at_ms;
            }
            last = Some(state);
        }
        began
    }

    /// Returns the events after a sequence number.
    #[must_use]
    pub fn after(&self, sequence: u64) -> Vec<RunEvent> {
        let inner = self.locked();
        let start = inner
            .events
            .partition_point(|event| event.sequence <= sequence);
        inner.events[start..].to_vec()
    }

    /// Whether nothing will be added until somebody says something: it is over, or waits for an answer or a decision.
    #[must_use]
    pub fn rests(&self) -> bool {
        let inner = self.locked();
        let state = inner.record.life.state();
        let waits = state == RunState::WaitingInput && inner.record.next.is_none();
        state.is_over() || waits || state == RunState::WaitingApproval
    }

    /// Tells when anything changes.
    #[must_use]
    pub fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Waits until it is over.
    pub async fn ended(&self) {
        let mut news = self.news();
        // Its sender is part of this value.
        let _ = news.wait_for(|_| self.state().is_over()).await;
    }

    /// Waits until it rests.
    pub async fn rested(&self) {
        let mut news = self.news();
        // Its sender is part of this value.
        let _ = news.wait_for(|_| self.rests()).await;
    }

    pub(super) fn record_event(&self, what: Happening) {
        let mut inner = self.locked();
        let last = inner.events.last().map_or(0, |event| event.sequence);
        let can_be_left_out = matches!(
            what,
            Happening::TextDelta { .. } | Happening::ToolProgress { .. }
        );
        if inner.events.len() >= MANY && can_be_left_out {
            return;
        }
        inner.events.push(RunEvent {
            sequence: last + 1,
            at_ms: now_ms(),
            what,
        });
        drop(inner);
        self.news.send_replace(last + 1);
    }

    /// Changes the record, one change at a time. A change is visible only after it is stored.
    ///
    /// # Errors
    ///
    /// Why it is not to be changed, or the store does not take it; then everything is as before. [`Refused::Elsewhere`] when
    /// another process has changed it; then it is as that one has left it.
    pub(super) async fn change(
        &self,
        run_store: &RunStore,
        change: impl FnOnce(&mut RunRecord) -> Result<Vec<Happening>, Refused>,
    ) -> Result<(), Refused> {
        self.changed(run_store, change, false).await
    }

    /// As [`change`](Self::change), but what cannot be written down happens all the same, and is said to be lost by a restart.
    pub(super) async fn change_anyway(
        &self,
        run_store: &RunStore,
        change: impl FnOnce(&mut RunRecord) -> Result<Vec<Happening>, Refused>,
    ) -> Result<(), Refused> {
        self.changed(run_store, change, true).await
    }

    async fn changed(
        &self,
        run_store: &RunStore,
        change: impl FnOnce(&mut RunRecord) -> Result<Vec<Happening>, Refused>,
        anyway: bool,
    ) -> Result<(), Refused> {
        let _one_by_one = self.changing.lock().await;
        let (mut record, version, mut fresh, known) = {
            let inner = self.locked();
            let saved = inner.saved;
            let mut record = inner.record.clone();
            if !record.is_written_by(run_store.writer()) {
                record.writers.push(Writer {
                    name: run_store.writer().to_owned(),
                    after: saved as u64,
                });
            }
            let fresh = inner.events[saved..].to_vec();
            (record, inner.version, fresh, inner.events.len())
        };
        let before = record.life.state();
        let told = change(&mut record)?;
        let state = record.life.state();
        let moved = (state != before || known == 0).then_some(Happening::State { state });
        let mut last = self.last();
        let added = told.into_iter().chain(moved).map(|what| {
            last += 1;
            let at_ms = now_ms();
            RunEvent {
                sequence: last,
                at_ms,
                what,
            }
        });
        let added: Vec<_> = added.collect();
        fresh.extend(added.iter().cloned());
        record.logged = last;
        let kept = async {
            run_store.log(self.id, &fresh).await?;
            run_store.save(&record, version).await
        };
        let kept = kept.await;
        match &kept {
            Err(error) if !anyway => return Err(Refused::Store(error.to_string())),
            Ok(Saved::Other) => {
                let read = self.read_again(run_store).await;
                read.map_err(|error| Refused::Store(error.to_string()))?;
                return Err(self.elsewhere());
            }
            _ => {}
        }
        {
            let mut inner = self.locked();
            inner.record = record;
            if let Ok(Saved::Done(version)) = kept {
                inner.version = version;
                // Without those that were told meanwhile.
                inner.saved = known + added.len();
            }
            inner.events.extend(added);
        }
        if let Err(error) = kept {
            self.record_event(Happening::Notice {
                text: format!("this is not written down, and a restart would lose it: {error}"),
            });
        }
        self.news.send_replace(last);
        Ok(())
    }

    /// That another backend has it.
    pub(super) fn elsewhere(&self) -> Refused {
        let inner = self.locked();
        Refused::Elsewhere {
            owner: inner.record.owner.clone(),
            state: inner.record.life.state(),
        }
    }

    /// Writes down what was told, as it is told.
    pub(super) async fn flushes(&self, run_store: &RunStore) {
        let mut news = self.news();
        loop {
            news.borrow_and_update();
            if self.flush(run_store).await.is_err() {
                tokio::time::sleep(AGAIN).await;
                continue;
            }
            // Its sender is part of this value.
            let _ = news.changed().await;
        }
    }

    async fn flush(&self, run_store: &RunStore) -> Result<(), StoreError> {
        let _one_by_one = self.changing.lock().await;
        let (fresh, known) = {
            let inner = self.locked();
            if !inner.record.is_written_by(run_store.writer()) {
                return Ok(());
            }
            (inner.events[inner.saved..].to_vec(), inner.events.len())
        };
        run_store.log(self.id, &fresh).await?;
        self.locked().saved = known;
        Ok(())
    }

    /// Reads what other processes have made of it; `false` if it is gone.
    pub(super) async fn refresh(&self, run_store: &RunStore) -> Result<bool, StoreError> {
        let _one_by_one = self.changing.lock().await;
        self.read_again(run_store).await
    }

    async fn read_again(&self, run_store: &RunStore) -> Result<bool, StoreError> {
        let Some((record, version)) = run_store.read(self.id).await? else {
            return Ok(false);
        };
        let read = {
            let inner = self.locked();
            let here = record.is_written_by(run_store.writer());
            if version == inner.version && (here || !record.life.state().is_at_work()) {
                return Ok(true);
            }
            inner.read
        };
        // After the record: all that it counts is there.
        let (entries, read) = run_store.entries(self.id, read).await?;
        let last = {
            let mut inner = self.locked();
            inner.read = read;
            for (writer, event) in entries {
                inner.pending.insert((event.sequence, writer), event);
            }
            if !record.is_written_by(run_store.writer()) {
                // What was told here and not written down does not count any more.
                let saved = inner.saved;
                inner.events.truncate(saved);
            }
            inner.record = record;
            inner.version = version;
            inner.take_pending();
            inner.events.len() as u64
        };
        self.news.send_replace(last);
        Ok(true)
    }

    fn last(&self) -> u64 {
        self.locked()
            .events
            .last()
            .map_or(0, |event| event.sequence)
    }
}

pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
    })
}
