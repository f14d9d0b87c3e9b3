//! The calls of one task: each is written down before it is sent, and its end before it is acknowledged.
//!
//! They outlive connections and, in the store, processes.
//!
//! | file | holds |
//! |---|---|
//! | `open` | one attempt that is under way |
//! | `home` | whether they are made here still |
//! | `later` | ends that the store did not take at once |
//! | `ended` | those that have ended, of which the latest are kept |
//! | `progress` | how far they say they are |
//! | `reconcile` | what a handshake says of them |

mod ended;
mod home;
mod later;
mod open;
mod progress;
mod reconcile;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use ended::Past;
pub(super) use home::TAKEN_OVER;
use later::Unwritten;
use open::Guard;
pub(super) use open::{Asked, Came};
use progress::Progressing;

use super::entry::Entrance;
use super::event::{Events, SessionEvent};
use crate::remote::protocol::{BackendMessage, CallId, CallKey, JournalId, RunTool, ToolReply};
use crate::remote::store::ledger::{CallRecord, Ending, Found, Ledger};

/// How often a call of an idempotent tool is tried.
const ATTEMPTS: u32 = 3;

/// The calls of one task.
#[derive(Debug)]
pub(super) struct Calls {
    pub(super) ledger: Ledger,
    /// How long a task waits for an executor that is gone.
    grace: Duration,
    entrance: Arc<Entrance>,
    /// Another backend has taken the task over.
    moved: CancellationToken,
    /// How many calls of an earlier process have no end yet.
    left_behind: watch::Sender<usize>,
    state: Mutex<State>,
    pub(super) events: Events,
}

#[derive(Debug, Default)]
struct State {
    line: Option<Line>,
    /// Of the latest connection.
    journal: Option<JournalId>,
    /// Of connections and their ends: a timer that finds another number has nothing to say any more.
    changes: u64,
    open: HashMap<CallKey, Open>,
    generation: u64,
    /// Why there is nobody to wait for.
    given_up: Option<String>,
    /// Calls that were given up here and have not ended there; the oldest first.
    abandoned: VecDeque<CallKey>,
    past: Past,
    /// How many ends wait for the store.
    unwritten: usize,
}

/// The connection to the executor.
#[derive(Debug)]
struct Line {
    out: mpsc::Sender<BackendMessage>,
    journal: JournalId,
}

/// One attempt that is under way.
#[derive(Debug)]
struct Open {
    run: RunTool,
    until: Option<Instant>,
    /// Under which journal it was sent; only that one knows whether it ran.
    sent: Option<JournalId>,
    end: oneshot::Sender<Came>,
    progress: Progressing,
    /// An earlier process sent it, and its end is only written down: it is not sent again.
    left_behind: bool,
}

impl State {
    /// Why it is not made, when there is nobody to wait for.
    fn opened(&mut self, key: CallKey, open: Open) -> Option<String> {
        if self.given_up.is_none() {
            self.open.insert(key, open);
        }
        self.given_up.clone()
    }
}

impl Calls {
    pub(super) fn new(ledger: Ledger, grace: Duration, entrance: Arc<Entrance>) -> Arc<Self> {
        Arc::new(Self {
            ledger,
            grace,
            entrance,
            moved: CancellationToken::new(),
            left_behind: watch::Sender::new(0),
            state: Mutex::default(),
            events: Events::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_attached(&self) -> bool {
        self.state().line.is_some()
    }

    /// Waits until the backend has stopped.
    pub(super) async fn gone(&self) {
        self.entrance.doors.gone.cancelled().await;
    }

    /// Of the executor that is attached, or was last.
    fn journal(&self) -> Option<JournalId> {
        self.state().journal
    }

    /// Answers of the model so far.
    pub(super) fn generation(&self) -> u64 {
        self.state().generation
    }

    pub(super) fn next_generation(&self) {
        self.state().generation += 1;
    }

    /// Says something to the executor, if one is there.
    pub(super) async fn say(&self, message: BackendMessage) {
        let out = self.state().line.as_ref().map(|line| line.out.clone());
        if let Some(out) = out {
            let _ = out.send(message).await;
        }
    }

    /// Makes a call; dropping the future cancels it there.
    pub(super) async fn call(self: &Arc<Self>, asked: Asked) -> Came {
        let Some(_pass) = self.entrance.doors.call() else {
            return Came::NotRun("the backend is shutting down".to_owned());
        };
        let tool_id = CallId::next();
        let mut doubt = None;
        for attempt in 1.. {
            let key = CallKey { tool_id, attempt };
            let record = asked.record(key, self.generation(), self.journal());
            let came = match self.attempt(record, &asked).await {
                Came::InDoubt(why) if asked.idempotent && attempt < ATTEMPTS => {
                    doubt.get_or_insert(why);
                    continue;
                }
                came => came,
            };
            return match (came, doubt) {
                // Not this time, but perhaps an earlier one.
                (Came::NotRun(_), Some(why)) => Came::InDoubt(why),
                (came, _) => came,
            };
        }
        Came::NotRun("it was tried too often".to_owned())
    }

    async fn attempt(self: &Arc<Self>, record: CallRecord, asked: &Asked) -> Came {
        let key = record.key;
        let mut guard = match self.begin(record).await {
            Ok(guard) => guard,
            Err(why) => return Came::NotRun(why),
        };
        let (end, ended) = oneshot::channel();
        let run = RunTool {
            key,
            tool_name: asked.tool_name.clone(),
            generation_id: self.generation(),
            parameters: Value::Object(asked.parameters.clone()),
            deadline_ms: None,
        };
        let open = Open {
            run,
            until: asked.until,
            sent: None,
            end,
            progress: Progressing::new(&asked.call_id, &asked.progress),
            left_behind: false,
        };
        let refused = self.state().opened(key, open);
        if let Some(why) = refused {
            return guard.ends(Came::NotRun(why)).await;
        }
        self.send(key).await;
        let came = ended.await.unwrap_or_else(|_| {
            Came::InDoubt("the backend stopped while it was under way".to_owned())
        });
        guard.ends(came).await
    }

    /// Writes down that a call begins.
    ///
    /// Once that is under way it is done, even if nobody waits for it any more, and the call gets its end.
    async fn begin(self: &Arc<Self>, record: CallRecord) -> Result<Guard, String> {
        if self.has_moved() {
            return Err(TAKEN_OVER.to_owned());
        }
        let calls = Arc::clone(self);
        let begun = tokio::spawn(async move {
            let key = record.key;
            let begun = match calls.ledger.begin_call(&record).await {
                // In this order: a later home finds what is sent from here.
                Ok(bytes) => match calls.is_home().await {
                    Ok(true) => Ok(bytes),
                    Ok(false) => Err((TAKEN_OVER.to_owned(), true)),
                    Err(error) => Err((error.to_string(), true)),
                },
                Err(error) => Err((error.to_string(), later::may_be_done(&error))),
            };
            let bytes = match begun {
                Ok(bytes) => bytes,
                Err((reason, may_be_written)) => {
                    if may_be_written {
                        let reason = reason.clone();
                        tokio::spawn(calls.refused(record, Ending::NotRun { reason }));
                    }
                    return Err(reason);
                }
            };
            calls.events.tell(SessionEvent::CallBegan {
                key,
                call_id: record.call_id,
                tool: record.tool_name,
            });
            Ok(Guard::new(&calls, key, bytes))
        });
        begun
            .await
            .unwrap_or_else(|_| Err("the backend is stopping".to_owned()))
    }

    /// Sends an attempt away, if there is somebody to send it to; else the next handshake will.
    async fn send(&self, key: CallKey) {
        let (out, run) = {
            let mut state = self.state();
            let State { line, open, .. } = &mut *state;
            let (Some(line), Some(open)) = (line, open.get_mut(&key)) else {
                return;
            };
            open.sent = Some(line.journal);
            (line.out.clone(), open.run())
        };
        let _ = out.send(BackendMessage::RunTool(Box::new(run))).await;
    }

    /// A result has come: the first of each attempt counts, and later ones are acknowledged only.
    pub(super) fn replied(self: &Arc<Self>, reply: ToolReply) {
        let open = {
            let mut state = self.state();
            let open = state.open.remove(&reply.key);
            if open.is_none() && !state.was_abandoned(reply.key) {
                tracing::debug!(key = %reply.key, "a result came that nobody waits for");
                return;
            }
            open
        };
        let left = match open {
            Some(open) => open.end.send(Came::Reply(Box::new(reply))).err(),
            None => Some(Came::Reply(Box::new(reply))),
        };
        if let Some(Came::Reply(reply)) = left {
            self.too_late(reply);
        }
    }

    /// Nobody waits for a result any more: it is written down if nothing else is, and the journal may forget it.
    fn too_late(self: &Arc<Self>, reply: Box<ToolReply>) {
        let calls = Arc::clone(self);
        tokio::spawn(async move {
            let key = reply.key;
            calls.end_late(key, &Ending::Reply(reply)).await;
        });
    }

    async fn end_late(self: &Arc<Self>, key: CallKey, ending: &Ending) {
        let written = match self.ledger.begun(key).await {
            Ok(Some(bytes)) => self.end(key, bytes, ending).await,
            begun => begun.map(drop),
        };
        // What could not be written stays in the journal. What is not known here was never begun here, or has its end and
        // was dropped since.
        match written {
            Ok(()) => self.say(BackendMessage::Ack(key)).await,
            Err(_) => self.end_later(Unwritten {
                key,
                ending: ending.clone(),
                record: None,
            }),
        }
    }

    /// Calls of an earlier process, which end as the journal says.
    pub(super) fn left_behind(self: &Arc<Self>, found: Found) {
        self.remember(found.ended);
        for record in found.open {
            let (end, ended) = oneshot::channel();
            // Its bytes count for nothing: there are few of these.
            let mut guard = Guard::new(self, record.key, 0);
            let open = Open::left_behind(record, end);
            self.state().open.insert(open.run.key, open);
            self.left_behind.send_modify(|count| *count += 1);
            let calls = Arc::clone(self);
            tokio::spawn(async move {
                if let Ok(came) = ended.await {
                    guard.ends(came).await;
                }
                calls.left_behind.send_modify(|count| *count -= 1);
            });
        }
        if *self.left_behind.borrow() > 0 {
            // From here on somebody has so long to come back.
            self.lost();
        }
    }

    pub(super) async fn settled(&self) {
        let mut left = self.left_behind.subscribe();
        // The sender lives as long as `self`.
        let _ = left.wait_for(|count| *count == 0).await;
    }

    /// Asks the executor, if it is there, to end the calls that an earlier process left behind; they end when it says so.
    pub(super) async fn cancel_left_behind(&self) {
        let left: Vec<CallKey> = {
            let state = self.state();
            let left = state.open.iter().filter(|(_, open)| open.left_behind);
            left.map(|(key, _)| *key).collect()
        };
        for key in left {
            self.say(BackendMessage::CancelTool(key)).await;
        }
    }

    /// The connection is gone: the calls wait for the next, but not for ever.
    pub(super) fn lost(self: &Arc<Self>) {
        let changes = {
            let mut state = self.state();
            state.line = None;
            state.changes += 1;
            state.changes
        };
        self.events.tell(SessionEvent::Lost { grace: self.grace });
        // Where the runtime ends, so does everybody who waits.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let calls = Arc::downgrade(self);
        let grace = self.grace;
        runtime.spawn(async move {
            tokio::time::sleep(grace).await;
            if let Some(calls) = calls.upgrade() {
                calls.give_up(changes);
            }
        });
    }

    fn give_up(&self, changes: u64) {
        if self.state().changes == changes {
            self.events.tell(SessionEvent::GivenUp);
            self.close(&format!("the executor was gone for {:?}", self.grace));
        }
    }

    /// Ends what is under way, and refuses what is asked for from here on, until somebody attaches.
    pub(super) fn close(&self, why: &str) {
        let open = {
            let mut state = self.state();
            state.given_up = Some(why.to_owned());
            std::mem::take(&mut state.open)
        };
        for open in open.into_values() {
            let came = match open.sent {
                None if !open.left_behind => Came::NotRun(why.to_owned()),
                _ => Came::InDoubt(why.to_owned()),
            };
            let _ = open.end.send(came);
        }
    }
}
