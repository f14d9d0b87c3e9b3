//! Reconciles open calls with the executor's journal after a handshake.

use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::attempt::run_tool;
use super::{AttachedExecutor, AttemptOutcome, Calls, State};
use crate::protocol::{BackendMessage, CallKey, Entry, EntryState, JournalId, ToolReply};
use crate::store::task_store::Ending;

/// How many abandoned calls are remembered, which may still end.
const ABANDONED: usize = 256;

/// What to do after a handshake.
#[derive(Debug, Default)]
struct Reconciliation {
    /// To send again, under the same key: the journal says that it did not run, or has its result.
    send: Vec<CallKey>,
    /// To cancel: nobody waits for these any more.
    cancel: Vec<CallKey>,
    late: Vec<ToolReply>,
    doubtful: Vec<CallKey>,
    /// Ended, with results that were too large for the handshake.
    large: Vec<CallKey>,
    /// They did not run, and are not wanted any more.
    unwanted: Vec<CallKey>,
}

impl Calls {
    /// Attaches a connection, whose journal decides what became of each call. `false` if another backend owns the task.
    pub(in crate::backend) fn attach(
        self: &Arc<Self>,
        out: mpsc::Sender<BackendMessage>,
        journal: JournalId,
        entries: Vec<Entry>,
    ) -> bool {
        let plan = {
            let mut state = self.state();
            if self.is_taken_over() {
                return false;
            }
            state.changes += 1;
            state.unavailable = None;
            state.executor = Some(AttachedExecutor { out, journal });
            state.journal = Some(journal);
            state.plan(journal, entries)
        };
        let calls = Arc::clone(self);
        // The queue of the connection is bounded, and not being drained yet.
        tokio::spawn(async move { calls.apply(plan).await });
        true
    }

    async fn apply(self: Arc<Self>, plan: Reconciliation) {
        for key in plan.cancel {
            self.send(BackendMessage::CancelTool(key)).await;
        }
        for key in plan.send {
            self.send_call(key).await;
        }
        for key in plan.unwanted {
            self.send(BackendMessage::Ack(key)).await;
        }
        for reply in plan.late {
            self.record_late_reply(Box::new(reply));
        }
        for key in plan.large {
            self.fetch(key).await;
        }
        for key in plan.doubtful {
            let reason = "the executor was restarted while it was under way".to_owned();
            let ending = Ending::Unknown { reason };
            self.record_late(key, &ending).await;
        }
    }

    /// Requests a result: a call that has ended is not run again.
    async fn fetch(&self, key: CallKey) {
        match self.task_store.open_call(key).await {
            Ok(Some(record)) => {
                self.state().abandon(key);
                let run = BackendMessage::RunTool(Box::new(run_tool(record)));
                self.send(run).await;
            }
            Ok(None) => self.send(BackendMessage::Ack(key)).await,
            // The next handshake sends it again.
            Err(error) => tracing::debug!(%key, %error, "a result could not be requested"),
        }
    }
}

impl State {
    /// Resolves a key without an attempt number: to the attempt in flight, or else to an abandoned one.
    pub(super) fn resolve_key(&self, key: CallKey) -> CallKey {
        if !key.has_no_attempt() {
            return key;
        }
        let of_call = |one: &&CallKey| one.tool_id == key.tool_id;
        let open = self.open.keys().filter(of_call).max();
        let meant = open.or_else(|| self.abandoned.iter().filter(of_call).max());
        meant.copied().unwrap_or(key)
    }

    /// Whether a call was abandoned here; forgets it.
    pub(super) fn was_abandoned(&mut self, key: CallKey) -> bool {
        let place = self.abandoned.iter().position(|one| *one == key);
        place.is_some_and(|place| self.abandoned.remove(place).is_some())
    }

    pub(super) fn abandon(&mut self, key: CallKey) {
        if self.abandoned.len() == ABANDONED {
            // The next handshake brings its result, if there is one.
            self.abandoned.pop_front();
        }
        self.abandoned.push_back(key);
    }

    fn plan(&mut self, journal: JournalId, entries: Vec<Entry>) -> Reconciliation {
        let mut plan = Reconciliation::default();
        let mut entries: HashMap<CallKey, Entry> = entries
            .into_iter()
            .map(|listener| (listener.key, listener))
            .collect();
        let keys: Vec<CallKey> = self.open.keys().copied().collect();
        for key in keys {
            let listener = entries.remove(&key);
            let Some(open) = self.open.get(&key) else {
                continue;
            };
            let known = open.sent.map_or(!open.orphaned, |sent| sent == journal);
            let wanted = !open.orphaned;
            let outcome = match listener.map(|listener| (listener.state, listener.reply)) {
                Some((EntryState::Finished, Some(reply))) => Some(AttemptOutcome::Reply(reply)),
                Some((EntryState::Running, _)) => None,
                Some((EntryState::InDoubt, _)) => Some(AttemptOutcome::InDoubt(
                    "the executor was restarted while it was under way".to_owned(),
                )),
                // Too large for a handshake: requested again, its result is sent and it is not run.
                Some((EntryState::Finished, _)) => {
                    plan.send.push(key);
                    None
                }
                Some((EntryState::Accepted, _)) | None if known && wanted => {
                    plan.send.push(key);
                    None
                }
                Some((EntryState::Accepted, _)) | None if known => Some(AttemptOutcome::NotRun(
                    "the backend was restarted before it began".to_owned(),
                )),
                Some((EntryState::Accepted, _)) => Some(AttemptOutcome::NotRun(
                    "the executor was restarted before it began".to_owned(),
                )),
                None => Some(AttemptOutcome::InDoubt(
                    "another executor came back, and its journal does not know the call".to_owned(),
                )),
            };
            if let Some(outcome) = outcome
                && let Some(open) = self.open.remove(&key)
            {
                // The caller may just have stopped waiting; its guard handles that.
                let _ = open.end.send(outcome);
            }
        }
        for (key, listener) in entries {
            match (listener.state, listener.reply) {
                (EntryState::Finished, Some(reply)) => plan.late.push(*reply),
                (EntryState::Running, _) => {
                    self.abandon(key);
                    plan.cancel.push(key);
                }
                (EntryState::Accepted, _) => plan.unwanted.push(key),
                (EntryState::Finished, None) => plan.large.push(key),
                (EntryState::InDoubt, _) => plan.doubtful.push(key),
            }
        }
        plan
    }
}
