use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::leaving::Leaving;
use crate::remote::journal::{Admission, ArgumentsHash, Journal, JournalError, State};
use crate::remote::line::QUEUE;
use crate::remote::protocol::{
    CallKey, Cancelled, Entry, EntryState, ExecutorMessage, RunTool, TaskId, ToolProgress,
    ToolReply,
};
use crate::{Context, Progress, Registry, Status, ToolCall};

/// Bytes of results that a handshake brings; the others are asked for one by one.
const BROUGHT: u64 = 1 << 20;

/// The calls of one task: each is written to the journal before it runs, and again before its result is sent.
///
/// It outlives connections. A result that finds none stays in the journal, and the next handshake brings it.
#[derive(Debug)]
pub(super) struct Desk {
    registry: Registry,
    journal: Journal,
    task: TaskId,
    live: Mutex<HashMap<CallKey, Live>>,
    line: Mutex<Option<mpsc::Sender<ExecutorMessage>>>,
    over: CancellationToken,
    leaving: Arc<Leaving>,
}

/// A call that this process works at.
#[derive(Debug)]
struct Live {
    token: CancellationToken,
    /// Frames that asked for it.
    askers: usize,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Desk {
    pub(super) fn new(
        registry: Registry,
        journal: Journal,
        task: TaskId,
        over: CancellationToken,
        leaving: Arc<Leaving>,
    ) -> Arc<Self> {
        Arc::new(Self {
            registry,
            journal,
            task,
            live: Mutex::default(),
            line: Mutex::default(),
            over,
            leaving,
        })
    }

    pub(super) fn task(&self) -> TaskId {
        self.task
    }

    /// A new connection, whose messages are those of the queue.
    pub(super) fn attach(&self) -> mpsc::Receiver<ExecutorMessage> {
        let (out, queue) = mpsc::channel(QUEUE);
        *locked(&self.line) = Some(out);
        queue
    }

    pub(super) fn detach(&self) {
        *locked(&self.line) = None;
    }

    /// What a handshake says of earlier calls.
    pub(super) async fn entries(&self) -> Result<Vec<Entry>, JournalError> {
        // Before the journal is asked: what ends meanwhile says so on this connection, and what the journal does not know
        // yet will run all the same.
        let mut live: HashSet<CallKey> = locked(&self.live).keys().copied().collect();
        let kept = self.journal.unacknowledged_within(self.task, BROUGHT);
        let mut entries = kept.await?;
        for entry in &mut entries {
            let here = live.remove(&entry.key);
            if here && entry.state == EntryState::Accepted {
                entry.state = EntryState::Running;
            }
        }
        entries.extend(live.into_iter().map(|key| Entry {
            key,
            state: EntryState::Running,
            reply: None,
        }));
        Ok(entries)
    }

    /// Answers one frame that asks for a call.
    pub(super) fn asked(self: &Arc<Self>, call: RunTool) {
        if !self.leaving.takes(call.key) {
            return;
        }
        let token = {
            let mut live = locked(&self.live);
            let one = live.entry(call.key).or_insert_with(|| Live {
                token: self.leaving.token(&self.over),
                askers: 0,
            });
            one.askers += 1;
            one.token.clone()
        };
        let asker = Asker {
            desk: Arc::clone(self),
            key: call.key,
        };
        tokio::spawn(async move {
            let desk = Arc::clone(&asker.desk);
            desk.answer(call, token).await;
            drop(asker);
        });
    }

    async fn answer(&self, call: RunTool, token: CancellationToken) {
        let key = call.key;
        let hash = ArgumentsHash::of(&call.tool_name, &call.parameters);
        match self.journal.accept(self.task, key, hash).await {
            Ok(Admission::New) => {}
            Ok(Admission::Known(State::Finished(reply))) => return self.replied(reply).await,
            // Its result will come.
            Ok(Admission::Known(State::Accepted | State::Started)) => return,
            Ok(Admission::Known(State::InDoubt)) => {
                let why = "unknown outcome: an earlier process began this call and did not end it";
                return self.replied(Box::new(ToolReply::failed(key, why))).await;
            }
            Ok(Admission::Different) => {
                // Of the first request: this one is not run.
                let why = "unknown outcome: the call was asked for before, for another tool or with other arguments";
                return self.replied(Box::new(ToolReply::failed(key, why))).await;
            }
            Ok(Admission::TooOld) => {
                let why = "unknown outcome: the journal has forgotten calls as old as this one";
                return self.replied(Box::new(ToolReply::failed(key, why))).await;
            }
            Err(error) => return self.not_run(key, &error).await,
        }
        if let Err(error) = self.journal.start(self.task, key).await {
            return self.not_run(key, &error).await;
        }
        let outcome = self.run(call, token).await;
        let reply = ToolReply::of(key, &outcome);
        if let Err(error) = self.journal.finish(self.task, key, reply.clone()).await {
            // The result is true all the same; after a crash the call would be in doubt.
            tracing::warn!(%key, %error, "the end of a call could not be written");
        }
        if outcome.status() == Status::Cancelled {
            let may_still_run = outcome.may_still_be_running();
            let cancelled = Cancelled { key, may_still_run };
            return self.say(ExecutorMessage::Cancelled(cancelled)).await;
        }
        self.replied(Box::new(reply)).await;
    }

    async fn run(&self, call: RunTool, token: CancellationToken) -> crate::Outcome {
        let key = call.key;
        let line = locked(&self.line).clone();
        let progress = Progress::new(move |report| {
            let told = ToolProgress {
                key,
                done: report.done,
                total: report.total,
                message: report.message,
            };
            // A report that finds the queue full is left out: the next one says more.
            if let Some(line) = &line {
                let _ = line.try_send(ExecutorMessage::ToolProgress(told));
            }
        });
        let mut context = Context::new().cancellation(token).progress(progress);
        if let Some(limit) = call.deadline_ms {
            context = context.timeout(Duration::from_millis(limit));
        }
        let id = key.tool_id.to_string();
        let call = ToolCall::new(id, call.tool_name, call.parameters.to_string());
        self.registry.call_with(call, context).await
    }

    async fn not_run(&self, key: CallKey, error: &JournalError) {
        let why = format!("not run: {error}");
        self.replied(Box::new(ToolReply::failed(key, why))).await;
    }

    async fn replied(&self, reply: Box<ToolReply>) {
        self.say(ExecutorMessage::ToolResult(reply)).await;
    }

    async fn say(&self, message: ExecutorMessage) {
        let line = locked(&self.line).clone();
        if let Some(line) = line {
            // A connection that has ended meanwhile loses nothing: the journal has it.
            let _ = line.send(message).await;
        }
    }

    /// Says something that can be left out.
    pub(super) fn mention(&self, message: ExecutorMessage) {
        if let Some(line) = &*locked(&self.line) {
            let _ = line.try_send(message);
        }
    }

    pub(super) fn cancel(&self, key: CallKey) {
        if let Some(live) = locked(&self.live).get(&key) {
            live.token.cancel();
        }
    }

    /// The backend knows how a call ended.
    pub(super) fn acknowledged(self: &Arc<Self>, key: CallKey) {
        self.leaving.heard(key);
        let desk = Arc::clone(self);
        tokio::spawn(async move {
            if let Err(error) = desk.journal.acknowledge(desk.task, key).await {
                // The next handshake brings the call once more.
                tracing::debug!(%key, %error, "an acknowledgement could not be written");
            }
        });
    }
}

/// One frame that asked for a call, while it is being answered.
struct Asker {
    desk: Arc<Desk>,
    key: CallKey,
}

impl Drop for Asker {
    fn drop(&mut self) {
        self.desk.leaving.ended();
        let mut live = locked(&self.desk.live);
        if let Some(one) = live.get_mut(&self.key) {
            one.askers -= 1;
            if one.askers == 0 {
                live.remove(&self.key);
            }
        }
    }
}
