//! Runs the calls of one task, journaling each before it runs and before its result is sent.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use contract_runtime::CancellationToken;
use contract_runtime::{Context, Effect, IdempotencyKey, Progress, Registry, Status, ToolCall};
use parking_lot::Mutex;
use tokio::sync::mpsc;

use super::EventCallback;
use super::drain::Drain;
use super::recovery::Outage;
use super::task_run::TaskRun;
use crate::connection::QUEUE;
use crate::journal::{Admission, ArgumentsHash, Journal, JournalError, State};
use crate::protocol::{
    CallKey, Cancelled, Entry, EntryState, ExecutorMessage, RunTool, TaskId, ToolLog, ToolProgress,
    ToolReply,
};

/// The most bytes of results in a handshake; the backend requests the others one by one.
const MAX_HANDSHAKE_RESULTS: u64 = 1 << 20;

/// The calls of one task: each is journaled before it runs, and again before its result is sent.
///
/// It outlives connections: without one, a result stays in the journal, and the next handshake brings it.
#[derive(Debug)]
pub(super) struct CallTable {
    registry: Registry,
    pub(super) journal: Journal,
    task: TaskId,
    running: Mutex<HashMap<CallKey, RunningCall>>,
    connection: Mutex<Option<mpsc::Sender<ExecutorMessage>>>,
    pub(super) run: TaskRun,
    stop: CancellationToken,
    pub(super) drain: Arc<Drain>,
    pub(super) outage: Outage,
}

/// A call that this process is running, or about to run.
#[derive(Debug)]
struct RunningCall {
    token: CancellationToken,
    /// The number of frames that requested it and are still being handled.
    requests: usize,
    /// Its body is running, or has run.
    has_begun: bool,
}

impl CallTable {
    pub(super) fn new(
        registry: Registry,
        journal: Journal,
        task: TaskId,
        stop: CancellationToken,
        drain: Arc<Drain>,
        on_event: EventCallback,
    ) -> Arc<Self> {
        Arc::new(Self {
            registry,
            journal,
            task,
            running: Mutex::default(),
            connection: Mutex::default(),
            run: TaskRun::new(),
            stop,
            drain,
            outage: Outage::new(on_event),
        })
    }

    pub(super) fn task(&self) -> TaskId {
        self.task
    }

    /// Attaches a connection; it sends the messages of the returned queue.
    pub(super) fn attach(&self) -> mpsc::Receiver<ExecutorMessage> {
        let (out, queue) = mpsc::channel(QUEUE);
        *self.connection.lock() = Some(out);
        queue
    }

    pub(super) fn detach(&self) {
        *self.connection.lock() = None;
    }

    /// Returns the earlier calls, for a handshake.
    pub(super) async fn journal_entries(&self) -> Result<Vec<Entry>, JournalError> {
        // Read before the journal: a call that ends meanwhile replies on this connection, and one that is not in the journal
        // yet will run all the same.
        let mut running: HashMap<CallKey, bool> = {
            let running = self.running.lock();
            running
                .iter()
                .map(|(key, one)| (*key, one.has_begun))
                .collect()
        };
        let kept = self
            .journal
            .unacknowledged_within(self.task, MAX_HANDSHAKE_RESULTS);
        let mut entries = kept.await?;
        for entry in &mut entries {
            let is_running = match (running.remove(&entry.key), entry.state) {
                (Some(_), EntryState::Accepted) => true,
                // The journal was reopened meanwhile.
                (Some(has_begun), EntryState::InDoubt) => has_begun,
                _ => false,
            };
            if is_running {
                entry.state = EntryState::Running;
            }
        }
        self.outage
            .set_reported(entries.iter().map(|entry| entry.key).collect());
        entries.extend(running.into_keys().map(|key| Entry {
            key,
            state: EntryState::Running,
            reply: None,
        }));
        Ok(entries)
    }

    /// Handles one frame that requests a call.
    pub(super) fn handle_request(self: &Arc<Self>, call: RunTool) {
        if !self.drain.admit(call.key) {
            return;
        }
        let token = {
            let mut running = self.running.lock();
            let one = running.entry(call.key).or_insert_with(|| RunningCall {
                token: self.drain.cancellation(&self.stop),
                requests: 0,
                has_begun: false,
            });
            one.requests += 1;
            one.token.clone()
        };
        let guard = RequestGuard {
            calls: Arc::clone(self),
            key: call.key,
        };
        tokio::spawn(async move {
            let calls = Arc::clone(&guard.calls);
            calls.answer(call, token).await;
            drop(guard);
        });
    }

    async fn answer(&self, call: RunTool, token: CancellationToken) {
        let key = call.key;
        if self
            .running
            .lock()
            .get(&key)
            .is_some_and(|one| one.has_begun)
        {
            // Its result will be sent when it ends.
            return;
        }
        let hash = ArgumentsHash::of(&call.tool_name, &call.parameters);
        match self.journal.accept(self.task, key, hash).await {
            Ok(Admission::New) => {}
            Ok(Admission::Known(State::Finished(reply))) => return self.send_reply(reply).await,
            Ok(Admission::Known(State::Accepted | State::Started)) => return,
            Ok(Admission::Known(State::InDoubt)) => {
                let why = "unknown outcome: an earlier process began this call and did not end it";
                return self.send_reply(Box::new(ToolReply::failed(key, why))).await;
            }
            Ok(Admission::Different) => {
                // The outcome of the first request; this one is not run.
                let why = "unknown outcome: the call was asked for before, for another tool or with other arguments";
                return self.send_reply(Box::new(ToolReply::failed(key, why))).await;
            }
            Ok(Admission::TooOld) => {
                let why = "unknown outcome: the journal has forgotten calls as old as this one";
                return self.send_reply(Box::new(ToolReply::failed(key, why))).await;
            }
            Err(error) => return self.reply_to_unaccepted(key, &error).await,
        }
        if let Err(error) = self.journal.start(self.task, key).await {
            self.record_failure(&error);
            let reply = not_run_reply(key, &error);
            // On disk it may count as begun.
            self.outage.keep(reply.clone());
            return self.send_reply(Box::new(reply)).await;
        }
        if let Some(one) = self.running.lock().get_mut(&key) {
            one.has_begun = true;
        }
        let outcome = self.run(call, token).await;
        let reply = ToolReply::of(key, &outcome);
        match self.journal.finish(self.task, key, reply.clone()).await {
            Ok(()) => self.outage.reset(),
            Err(error) => {
                // The result is still valid; after a crash the call would be in doubt.
                tracing::warn!(%key, %error, "the outcome of a call could not be written");
                self.record_failure(&error);
                self.outage.keep(reply.clone());
            }
        }
        if outcome.status() == Status::Cancelled {
            let may_still_run = outcome.may_still_be_running();
            let cancelled = Cancelled {
                key,
                effect: outcome.effect(),
                may_still_run,
            };
            return self.send(ExecutorMessage::Cancelled(cancelled)).await;
        }
        self.send_reply(Box::new(reply)).await;
    }

    async fn run(&self, call: RunTool, token: CancellationToken) -> contract_runtime::Outcome {
        let key = call.key;
        let connection = self.connection.lock().clone();
        let logged = connection.clone();
        let progress = Progress::new(move |report| {
            if !report.done.is_finite() {
                return;
            }
            let told = ToolProgress {
                key,
                done: report.done,
                total: report.total.filter(|total| total.is_finite()),
                message: cut(&report.message),
            };
            // A report is dropped if the queue is full: the next one supersedes it.
            if let Some(connection) = &connection {
                let _ = connection.try_send(ExecutorMessage::ToolProgress(told));
            }
        });
        let run = self.run.of(call.generation_id);
        let mut context = Context::new()
            .cancellation(token)
            .progress(progress)
            .run(&run);
        if let (true, Some(connection)) = (call.log, logged) {
            context = context.log(move |record| {
                let (level, message) = (record.level, cut(&record.message));
                // Dropped if the queue is full: a body never waits for whoever reads its log.
                let _ = connection.try_send(ExecutorMessage::ToolLog(ToolLog {
                    key,
                    level,
                    message,
                }));
            });
        }
        if let Some(idempotency_key) = call.idempotency_key {
            context = context.idempotency_key(IdempotencyKey::new(idempotency_key));
        }
        if let Some(limit) = call.deadline_ms {
            context = context.timeout(Duration::from_millis(limit));
        }
        let id = key.tool_id.to_string();
        let call = ToolCall::new(id, call.tool_name, call.parameters.to_string());
        self.registry.call(call).context(context).await
    }

    async fn reply_to_unaccepted(&self, key: CallKey, error: &JournalError) {
        self.record_failure(error);
        if let Some(reply) = self.outage.kept_reply(key) {
            return self.send_reply(Box::new(reply)).await;
        }
        if self.failure().is_some() && self.outage.was_reported(key) {
            // It may have run before; the next handshake reports it.
            return;
        }
        tracing::warn!(%key, %error, "a call was not run");
        self.send_reply(Box::new(not_run_reply(key, error))).await;
    }

    async fn send_reply(&self, reply: Box<ToolReply>) {
        self.send(ExecutorMessage::ToolResult(reply)).await;
    }

    async fn send(&self, message: ExecutorMessage) {
        let connection = self.connection.lock().clone();
        if let Some(connection) = connection {
            // Nothing is lost if the connection has ended: the journal has it.
            let _ = connection.send(message).await;
        }
    }

    /// Sends a message that may be dropped.
    pub(super) fn try_send(&self, message: ExecutorMessage) {
        if let Some(connection) = &*self.connection.lock() {
            let _ = connection.try_send(message);
        }
    }

    pub(super) fn cancel(&self, key: CallKey) {
        if let Some(running) = self.running.lock().get(&key) {
            running.token.cancel();
        }
    }

    /// Handles an acknowledgement: the backend has stored how the call ended.
    pub(super) fn handle_ack(self: &Arc<Self>, key: CallKey) {
        self.drain.call_acknowledged(key);
        let calls = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error) = calls.journal.acknowledge(calls.task, key).await {
                calls.record_failure(&error);
                // The next handshake brings the call again.
                tracing::debug!(%key, %error, "an acknowledgement could not be written");
            }
        });
    }
}

fn not_run_reply(key: CallKey, error: &JournalError) -> ToolReply {
    ToolReply {
        effect: Effect::None,
        ..ToolReply::failed(key, format!("not run: {error}"))
    }
}

/// One frame that requests a call, while it is being handled.
struct RequestGuard {
    calls: Arc<CallTable>,
    key: CallKey,
}

impl Drop for RequestGuard {
    fn drop(&mut self) {
        self.calls.drain.call_ended();
        let mut running = self.calls.running.lock();
        if let Some(one) = running.get_mut(&self.key) {
            one.requests -= 1;
            if one.requests == 0 {
                running.remove(&self.key);
            }
        }
    }
}

/// The longest message of a report or a log, in characters: one that is longer than a message of the protocol would end the
/// connection.
const LONGEST: usize = 10_000;

fn cut(message: &str) -> String {
    match message.char_indices().nth(LONGEST) {
        Some((end, _)) => [message.get(..end).unwrap_or_default(), "…"].concat(),
        None => message.to_owned(),
    }
}
