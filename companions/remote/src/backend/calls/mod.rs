//! The calls of one task. Each is stored before it is sent, and its end before it is acknowledged.
//!
//! They outlive connections and, in the store, processes.
//!
//! | file | holds |
//! |---|---|
//! | `attempt` | one attempt in flight |
//! | `fencing` | whether this process still owns the task |
//! | `write_retry` | ends whose write is retried |
//! | `history` | ended calls, of which the latest are kept |
//! | `progress` | progress reports and log messages |
//! | `reconcile` | reconciliation with the executor's journal after a handshake |

mod attempt;
mod fencing;
mod history;
mod progress;
mod reconcile;
#[cfg(test)]
mod tests;
mod write_retry;

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use contract_runtime::Log;
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use attempt::AttemptGuard;
pub(super) use attempt::{AttemptOutcome, CallRequest};
pub(super) use fencing::TAKEN_OVER;
use history::History;
use progress::ProgressReporter;
use write_retry::PendingWrite;

use super::event::{Events, SessionEvent};
use super::listener::Listener;
use crate::journal::ArgumentsHash;
use crate::protocol::{BackendMessage, CallId, CallKey, JournalId, RunTool, ToolReply};
use crate::store::task_store::{Ending, StoredCall, StoredCalls, TaskStore};

/// How often a call of an idempotent tool is attempted.
const ATTEMPTS: u32 = 3;

/// How often it is looked whether a call of an earlier caller has ended.
const POLL: Duration = Duration::from_millis(100);

/// The calls of one task.
#[derive(Debug)]
pub(super) struct Calls {
    pub(super) task_store: TaskStore,
    /// How long calls wait for a disconnected executor.
    grace: Duration,
    listener: Arc<Listener>,
    /// Another backend has taken the task over.
    moved: CancellationToken,
    /// How many calls of an earlier process have not ended yet.
    orphaned: watch::Sender<usize>,
    state: Mutex<State>,
    pub(super) events: Events,
}

#[derive(Debug, Default)]
struct State {
    executor: Option<AttachedExecutor>,
    /// The journal of the latest connection.
    journal: Option<JournalId>,
    /// Counts attaches and detaches: a grace timer that finds another number has expired.
    changes: u64,
    open: HashMap<CallKey, OpenCall>,
    /// The calls with an idempotency key that are being made.
    keyed: HashSet<CallId>,
    generation: u64,
    /// Why no call can be made.
    unavailable: Option<String>,
    /// Calls that were given up here and have not ended on the executor, oldest first.
    abandoned: VecDeque<CallKey>,
    history: History,
    /// How many ends wait to be written to the store.
    pending: usize,
}

/// The connection to the executor.
#[derive(Debug)]
struct AttachedExecutor {
    out: mpsc::Sender<BackendMessage>,
    journal: JournalId,
}

/// One attempt that is under way.
#[derive(Debug)]
struct OpenCall {
    run: RunTool,
    until: Option<Instant>,
    /// The journal under which it was sent; only that one knows whether it ran.
    sent: Option<JournalId>,
    end: oneshot::Sender<AttemptOutcome>,
    progress: ProgressReporter,
    log: Log,
    /// An earlier process sent it: its end is stored, and it is not sent again.
    orphaned: bool,
}

/// Held by the one caller that makes the call of an idempotency key.
#[derive(Debug)]
struct KeyTurn<'c>(&'c Calls, CallId);

impl<'c> KeyTurn<'c> {
    async fn take(calls: &'c Calls, id: CallId) -> Self {
        while !calls.state().keyed.insert(id) {
            tokio::time::sleep(POLL).await;
        }
        Self(calls, id)
    }
}

impl Drop for KeyTurn<'_> {
    fn drop(&mut self) {
        self.0.state().keyed.remove(&self.1);
    }
}

impl State {
    /// Inserts a call; returns the reason if no call can be made now.
    fn insert(&mut self, key: CallKey, open: OpenCall) -> Option<String> {
        if self.unavailable.is_none() {
            self.open.insert(key, open);
        }
        self.unavailable.clone()
    }
}

impl Calls {
    pub(super) fn new(
        task_store: TaskStore,
        grace: Duration,
        listener: Arc<Listener>,
    ) -> Arc<Self> {
        Arc::new(Self {
            task_store,
            grace,
            listener,
            moved: CancellationToken::new(),
            orphaned: watch::Sender::new(0),
            state: Mutex::default(),
            events: Events::default(),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn is_attached(&self) -> bool {
        self.state().executor.is_some()
    }

    /// Waits until the backend is stopped.
    pub(super) async fn stopped(&self) {
        self.listener.drain.stopped.cancelled().await;
    }

    /// Returns the journal of the executor that is attached, or was last.
    fn journal(&self) -> Option<JournalId> {
        self.state().journal
    }

    /// Returns how many answers the model has begun.
    pub(super) fn generation(&self) -> u64 {
        self.state().generation
    }

    pub(super) fn next_generation(&self) {
        self.state().generation += 1;
    }

    /// Sends a message to the executor, if one is attached.
    pub(super) async fn send(&self, message: BackendMessage) {
        let out = self
            .state()
            .executor
            .as_ref()
            .map(|executor| executor.out.clone());
        if let Some(out) = out {
            let _ = out.send(message).await;
        }
    }

    /// Makes a call; dropping the future cancels it on the executor.
    ///
    /// A call with an idempotency key that was made before ends as its record says. If the call is still open, its end is waited for. It is
    /// made again only if its record says that it was not run, or if its tool is idempotent.
    pub(super) async fn call(self: &Arc<Self>, request: CallRequest) -> AttemptOutcome {
        let Some(_pass) = self.listener.drain.begin_call() else {
            return AttemptOutcome::NotRun("the backend is shutting down".to_owned());
        };
        let idempotency_key = request.idempotency_key.as_deref();
        let id_of_key = idempotency_key.and_then(|key| CallId::of_key(self.task_store.task, key));
        let _turn = match id_of_key {
            Some(id) => Some(KeyTurn::take(self, id).await),
            None => None,
        };
        let tool_id = id_of_key.unwrap_or_else(CallId::next);
        let mut doubt = None;
        for attempt in 1.. {
            let key = CallKey { tool_id, attempt };
            let record = request.record(key, self.generation(), self.journal());
            let recorded = match id_of_key {
                Some(_) => self.recorded(&record).await,
                None => Ok(None),
            };
            let outcome = match recorded {
                Err(why) => return AttemptOutcome::InDoubt(why),
                Ok(Some(AttemptOutcome::NotRun(_))) => continue,
                Ok(Some(outcome)) => outcome,
                Ok(None) => self.attempt(record, &request).await,
            };
            let outcome = match outcome {
                AttemptOutcome::InDoubt(why) if request.idempotent && attempt < ATTEMPTS => {
                    doubt.get_or_insert(why);
                    continue;
                }
                outcome => outcome,
            };
            return match (outcome, doubt) {
                // This attempt did not run, but an earlier one may have.
                (AttemptOutcome::NotRun(_), Some(why)) => AttemptOutcome::InDoubt(why),
                (outcome, _) => outcome,
            };
        }
        AttemptOutcome::NotRun("it was tried too many times".to_owned())
    }

    /// Returns how an attempt of an earlier caller ended, and waits for its end if it has none; `None` if there was no such attempt. The
    /// error says why that is not known, or that the attempt was another call.
    async fn recorded(&self, attempt: &StoredCall) -> Result<Option<AttemptOutcome>, String> {
        let hash = |call: &StoredCall| ArgumentsHash::of(&call.tool_name, &call.parameters);
        loop {
            let recorded = self.task_store.recorded(attempt.key).await;
            match recorded.map_err(|error| error.to_string())? {
                None => return Ok(None),
                Some((call, _)) if hash(&call) != hash(attempt) => {
                    return Err("another call was made under its key".to_owned());
                }
                Some((_, Some(ending))) => return Ok(Some(ending.into())),
                Some((_, None)) => tokio::time::sleep(POLL).await,
            }
        }
    }

    async fn attempt(
        self: &Arc<Self>,
        record: StoredCall,
        request: &CallRequest,
    ) -> AttemptOutcome {
        let key = record.key;
        let run = RunTool {
            log: request.log.is_heard(),
            ..attempt::run_tool(record.clone())
        };
        let mut guard = match self.begin(record).await {
            Ok(guard) => guard,
            Err(why) => return AttemptOutcome::NotRun(why),
        };
        let (end, ended) = oneshot::channel();
        let open = OpenCall {
            run,
            until: request.until,
            sent: None,
            end,
            progress: ProgressReporter::new(&request.call_id, &request.progress),
            log: request.log.clone(),
            orphaned: false,
        };
        let refused = self.state().insert(key, open);
        if let Some(why) = refused {
            return guard.finish(AttemptOutcome::NotRun(why)).await;
        }
        self.send_call(key).await;
        let outcome = ended.await.unwrap_or_else(|_| {
            AttemptOutcome::InDoubt("the backend stopped while it was under way".to_owned())
        });
        guard.finish(outcome).await
    }

    /// Stores a call before it is sent.
    ///
    /// Once begun, it completes even if the caller no longer waits for it, and the call gets its end.
    async fn begin(self: &Arc<Self>, record: StoredCall) -> Result<AttemptGuard, String> {
        if self.is_taken_over() {
            return Err(TAKEN_OVER.to_owned());
        }
        let calls = Arc::clone(self);
        let begun = tokio::spawn(async move {
            let key = record.key;
            let begun = match calls.task_store.begin_call(&record).await {
                // In this order: a later owner finds every call that is sent from here.
                Ok(bytes) => match calls.is_owner().await {
                    Ok(true) => Ok(bytes),
                    Ok(false) => Err((TAKEN_OVER.to_owned(), true)),
                    Err(error) => Err((error.to_string(), true)),
                },
                Err(error) => Err((error.to_string(), write_retry::may_be_applied(&error))),
            };
            let bytes = match begun {
                Ok(bytes) => bytes,
                Err((reason, may_be_written)) => {
                    if may_be_written {
                        let reason = reason.clone();
                        tokio::spawn(calls.record_not_run(record, Ending::NotRun { reason }));
                    }
                    return Err(reason);
                }
            };
            calls.events.emit(SessionEvent::CallBegan {
                key,
                call_id: record.call_id,
                tool: record.tool_name,
            });
            Ok(AttemptGuard::new(&calls, key, bytes))
        });
        begun
            .await
            .unwrap_or_else(|_| Err("the backend is stopping".to_owned()))
    }

    /// Sends an attempt, if an executor is attached; otherwise the next handshake does.
    async fn send_call(&self, key: CallKey) {
        let (out, run) = {
            let mut state = self.state();
            let State { executor, open, .. } = &mut *state;
            let (Some(executor), Some(open)) = (executor, open.get_mut(&key)) else {
                return;
            };
            open.sent = Some(executor.journal);
            (executor.out.clone(), open.run())
        };
        let _ = out.send(BackendMessage::RunTool(Box::new(run))).await;
    }

    /// Handles a result: the first of each attempt counts, and later ones are only acknowledged.
    pub(super) fn handle_reply(self: &Arc<Self>, mut reply: ToolReply) {
        let open = {
            let mut state = self.state();
            reply.key = state.resolve_key(reply.key);
            let open = state.open.remove(&reply.key);
            if open.is_none() && !state.was_abandoned(reply.key) {
                tracing::debug!(key = %reply.key, "a result arrived for a call that is no longer waited for");
                return;
            }
            open
        };
        let left = match open {
            Some(open) => open.end.send(AttemptOutcome::Reply(Box::new(reply))).err(),
            None => Some(AttemptOutcome::Reply(Box::new(reply))),
        };
        if let Some(AttemptOutcome::Reply(reply)) = left {
            self.record_late_reply(reply);
        }
    }

    /// Stores a result that nobody waits for any more, unless another end stands, so that the journal may forget it.
    fn record_late_reply(self: &Arc<Self>, reply: Box<ToolReply>) {
        let calls = Arc::clone(self);
        tokio::spawn(async move {
            let key = reply.key;
            calls.record_late(key, &Ending::Reply(reply)).await;
        });
    }

    async fn record_late(self: &Arc<Self>, key: CallKey, ending: &Ending) {
        let written = match self.task_store.stored_size(key).await {
            Ok(Some(bytes)) => self.record_end(key, bytes, ending).await,
            begun => begun.map(drop),
        };
        // What could not be written stays in the journal. A call that is not stored was never begun, or was pruned.
        match written {
            Ok(()) => self.send(BackendMessage::Ack(key)).await,
            Err(_) => self.retry_write(PendingWrite {
                key,
                ending: ending.clone(),
                record: None,
            }),
        }
    }

    /// Takes over the open calls of an earlier process, which end as the journal says.
    pub(super) fn orphaned(self: &Arc<Self>, found: StoredCalls) {
        self.load_history(found.ended);
        for record in found.open {
            let (end, ended) = oneshot::channel();
            // Its bytes are not counted: there are few of these.
            let mut guard = AttemptGuard::new(self, record.key, 0);
            let open = OpenCall::orphaned(record, end);
            self.state().open.insert(open.run.key, open);
            self.orphaned.send_modify(|count| *count += 1);
            let calls = Arc::clone(self);
            tokio::spawn(async move {
                if let Ok(outcome) = ended.await {
                    guard.finish(outcome).await;
                }
                calls.orphaned.send_modify(|count| *count -= 1);
            });
        }
        if *self.orphaned.borrow() > 0 {
            // The grace period starts here.
            self.detach();
        }
    }

    pub(super) async fn settled(&self) {
        let mut left = self.orphaned.subscribe();
        // The sender lives as long as `self`.
        let _ = left.wait_for(|count| *count == 0).await;
    }

    #[cfg(feature = "redis")]
    pub(super) fn is_settled(&self) -> bool {
        *self.orphaned.borrow() == 0
    }

    /// Asks the executor, if it is attached, to cancel the orphaned calls; they end when it says so.
    pub(super) async fn cancel_orphaned(&self) {
        let left: Vec<CallKey> = {
            let state = self.state();
            let left = state.open.iter().filter(|(_, open)| open.orphaned);
            left.map(|(key, _)| *key).collect()
        };
        for key in left {
            self.send(BackendMessage::CancelTool(key)).await;
        }
    }

    /// Detaches the executor: the calls wait for the next connection, for as long as `grace`.
    pub(super) fn detach(self: &Arc<Self>) {
        let changes = {
            let mut state = self.state();
            state.executor = None;
            state.changes += 1;
            state.changes
        };
        self.events.emit(SessionEvent::Lost { grace: self.grace });
        // Without a runtime nobody waits any more.
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
            self.events.emit(SessionEvent::GivenUp);
            self.close(&format!("the executor was gone for {:?}", self.grace));
        }
    }

    /// Ends the calls in flight, and refuses further ones until an executor attaches.
    pub(super) fn close(&self, why: &str) {
        let open = {
            let mut state = self.state();
            state.unavailable = Some(why.to_owned());
            std::mem::take(&mut state.open)
        };
        for open in open.into_values() {
            let outcome = match open.sent {
                None if !open.orphaned => AttemptOutcome::NotRun(why.to_owned()),
                _ => AttemptOutcome::InDoubt(why.to_owned()),
            };
            let _ = open.end.send(outcome);
        }
    }
}
