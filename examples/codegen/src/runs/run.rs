use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use super::engine::Refused;
use super::keep::Keep;
use super::record::{RunId, RunRecord, RunView};
use crate::contract::{ChatResponse, Happening, RunEvent, RunState};

/// A run: its record, its events, and those who follow them.
#[derive(Debug)]
pub struct Run {
    id: RunId,
    inner: Mutex<Inner>,
    /// How many events there are; told whenever anything changes.
    news: watch::Sender<u64>,
    pub(super) stop: CancellationToken,
    /// Held while the record changes.
    changing: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) record: RunRecord,
    events: Vec<RunEvent>,
    /// How many of them are in the store.
    saved: usize,
}

/// Events after which pieces of text are no longer told one by one; whole texts follow in other events.
const MANY: usize = 5_000;

impl Run {
    pub(super) fn new(record: RunRecord, events: Vec<RunEvent>) -> Self {
        Self {
            id: record.id,
            news: watch::Sender::new(0),
            stop: CancellationToken::new(),
            changing: tokio::sync::Mutex::default(),
            inner: Mutex::new(Inner {
                record,
                saved: events.len(),
                events,
            }),
        }
    }

    pub(super) fn locked(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Which run it is.
    #[must_use]
    pub fn id(&self) -> RunId {
        self.id
    }

    /// Where it is.
    #[must_use]
    pub fn state(&self) -> RunState {
        self.locked().record.life.state()
    }

    /// It, in a list.
    #[must_use]
    pub fn view(&self) -> RunView {
        self.locked().record.view()
    }

    /// What a client of the service is told.
    #[must_use]
    pub fn response(&self) -> ChatResponse {
        let inner = self.locked();
        let ended = |event: &&RunEvent| matches!(event.what, Happening::ToolResult { .. });
        let calls = inner.events.iter().filter(ended).count();
        inner.record.response(calls)
    }

    /// The events after a sequence number.
    #[must_use]
    pub fn after(&self, sequence: u64) -> Vec<RunEvent> {
        let inner = self.locked();
        let start = inner
            .events
            .partition_point(|event| event.sequence <= sequence);
        inner.events[start..].to_vec()
    }

    /// Whether nothing will be added until somebody says something: it is over, or waits for an answer.
    #[must_use]
    pub fn rests(&self) -> bool {
        let inner = self.locked();
        let state = inner.record.life.state();
        state.is_over() || (state == RunState::WaitingInput && inner.record.next.is_none())
    }

    /// Tells when anything changes.
    #[must_use]
    pub fn news(&self) -> watch::Receiver<u64> {
        self.news.subscribe()
    }

    /// Waits until it rests.
    pub async fn rested(&self) {
        let mut news = self.news();
        // Its sender is part of this value.
        let _ = news.wait_for(|_| self.rests()).await;
    }

    pub(super) fn tell(&self, what: Happening) {
        let mut inner = self.locked();
        let last = inner.events.last().map_or(0, |event| event.sequence);
        if inner.events.len() >= MANY && matches!(what, Happening::TextDelta { .. }) {
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

    /// Changes the record, and shows it to nobody before it is written down; changes come one after the other.
    ///
    /// # Errors
    ///
    /// Why it is not to be changed, or the store does not take it; then everything is as before.
    pub(super) async fn change(
        &self,
        keep: &Keep,
        change: impl FnOnce(&mut RunRecord) -> Result<Vec<Happening>, Refused>,
    ) -> Result<(), Refused> {
        self.changed(keep, change, false).await
    }

    /// As [`change`](Self::change), but what cannot be written down happens all the same, and is said to be lost by a restart.
    pub(super) async fn change_anyway(
        &self,
        keep: &Keep,
        change: impl FnOnce(&mut RunRecord) -> Result<Vec<Happening>, Refused>,
    ) -> Result<(), Refused> {
        self.changed(keep, change, true).await
    }

    async fn changed(
        &self,
        keep: &Keep,
        change: impl FnOnce(&mut RunRecord) -> Result<Vec<Happening>, Refused>,
        anyway: bool,
    ) -> Result<(), Refused> {
        let _one_by_one = self.changing.lock().await;
        let (mut record, mut fresh, known) = {
            let inner = self.locked();
            let fresh = inner.events[inner.saved..].to_vec();
            (inner.record.clone(), fresh, inner.events.len())
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
        let kept = async {
            keep.log(self.id, &fresh).await?;
            keep.save(&record).await
        };
        let kept = kept.await;
        if let (Err(error), false) = (&kept, anyway) {
            return Err(Refused::Store(error.to_string()));
        }
        {
            let mut inner = self.locked();
            inner.record = record;
            if kept.is_ok() {
                // Without those that were told meanwhile.
                inner.saved = known + added.len();
            }
            inner.events.extend(added);
        }
        if let Err(error) = kept {
            self.tell(Happening::Notice {
                text: format!("this is not written down, and a restart would lose it: {error}"),
            });
        }
        self.news.send_replace(last);
        Ok(())
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
