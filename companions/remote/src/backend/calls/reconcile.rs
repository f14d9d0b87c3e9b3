use std::collections::HashMap;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::open::run_of;
use super::{Calls, Came, Line, State};
use crate::remote::protocol::{BackendMessage, CallKey, Entry, EntryState, JournalId, ToolReply};
use crate::remote::store::ledger::Ending;

/// Calls that were given up and may still end.
const ABANDONED: usize = 256;

/// What a handshake asks for.
#[derive(Debug, Default)]
struct Plan {
    /// Sent again, under the same key: the journal says that it did not run, or has its result.
    send: Vec<CallKey>,
    /// Nobody waits for these any more.
    cancel: Vec<CallKey>,
    late: Vec<ToolReply>,
    doubtful: Vec<CallKey>,
    /// They have ended, with results that were too large for the handshake.
    large: Vec<CallKey>,
    /// They did not run, and nobody wants them to.
    unwanted: Vec<CallKey>,
}

impl Calls {
    /// A new connection: what its journal says is the truth about every call. `false` if another backend is asked now.
    pub(in crate::remote::backend) fn attached(
        self: &Arc<Self>,
        out: mpsc::Sender<BackendMessage>,
        journal: JournalId,
        entries: Vec<Entry>,
    ) -> bool {
        let plan = {
            let mut state = self.state();
            if self.has_moved() {
                return false;
            }
            state.changes += 1;
            state.given_up = None;
            state.line = Some(Line { out, journal });
            state.journal = Some(journal);
            state.plan(journal, entries)
        };
        let calls = Arc::clone(self);
        // The queue of the connection is bounded, and nobody empties it yet.
        tokio::spawn(async move { calls.follow(plan).await });
        true
    }

    async fn follow(self: Arc<Self>, plan: Plan) {
        for key in plan.cancel {
            self.say(BackendMessage::CancelTool(key)).await;
        }
        for key in plan.send {
            self.send(key).await;
        }
        for key in plan.unwanted {
            self.say(BackendMessage::Ack(key)).await;
        }
        for reply in plan.late {
            self.too_late(Box::new(reply));
        }
        for key in plan.large {
            self.fetch(key).await;
        }
        for key in plan.doubtful {
            let reason = "the executor was restarted while it was under way".to_owned();
            let ending = Ending::Unknown { reason };
            self.end_late(key, &ending).await;
        }
    }

    /// Asked for again, a call that has ended is not made: its result comes.
    async fn fetch(&self, key: CallKey) {
        match self.ledger.without_end(key).await {
            Ok(Some(record)) => {
                self.state().abandon(key);
                let run = BackendMessage::RunTool(Box::new(run_of(record)));
                self.say(run).await;
            }
            Ok(None) => self.say(BackendMessage::Ack(key)).await,
            // The next handshake says it once more.
            Err(error) => tracing::debug!(%key, %error, "a result could not be asked for"),
        }
    }
}

impl State {
    /// Whether a call was given up here before; asked once.
    pub(super) fn was_abandoned(&mut self, key: CallKey) -> bool {
        let place = self.abandoned.iter().position(|one| *one == key);
        place.is_some_and(|place| self.abandoned.remove(place).is_some())
    }

    pub(super) fn abandon(&mut self, key: CallKey) {
        if self.abandoned.len() == ABANDONED {
            // Its result, if one comes, is brought by the next handshake.
            self.abandoned.pop_front();
        }
        self.abandoned.push_back(key);
    }

    fn plan(&mut self, journal: JournalId, entries: Vec<Entry>) -> Plan {
        let mut plan = Plan::default();
        let mut entries: HashMap<CallKey, Entry> = entries
            .into_iter()
            .map(|entry| (entry.key, entry))
            .collect();
        let keys: Vec<CallKey> = self.open.keys().copied().collect();
        for key in keys {
            let entry = entries.remove(&key);
            let Some(open) = self.open.get(&key) else {
                continue;
            };
            let known = open.sent.map_or(!open.left_behind, |sent| sent == journal);
            let wanted = !open.left_behind;
            let came = match entry.map(|entry| (entry.state, entry.reply)) {
                Some((EntryState::Finished, Some(reply))) => Some(Came::Reply(reply)),
                Some((EntryState::Running, _)) => None,
                Some((EntryState::InDoubt, _)) => Some(Came::InDoubt(
                    "the executor was restarted while it was under way".to_owned(),
                )),
                // Too large for a handshake: asked for again, it is given and not run.
                Some((EntryState::Finished, _)) => {
                    plan.send.push(key);
                    None
                }
                Some((EntryState::Accepted, _)) | None if known && wanted => {
                    plan.send.push(key);
                    None
                }
                Some((EntryState::Accepted, _)) | None if known => Some(Came::NotRun(
                    "the backend was restarted before it began".to_owned(),
                )),
                Some((EntryState::Accepted, _)) => Some(Came::NotRun(
                    "the executor was restarted before it began".to_owned(),
                )),
                None => Some(Came::InDoubt(
                    "another executor came back, and its journal does not know the call".to_owned(),
                )),
            };
            if let Some(came) = came
                && let Some(open) = self.open.remove(&key)
            {
                // Whoever waited may just have stopped; its guard says so.
                let _ = open.end.send(came);
            }
        }
        for (key, entry) in entries {
            match (entry.state, entry.reply) {
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
