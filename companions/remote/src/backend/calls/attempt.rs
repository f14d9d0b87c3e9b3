use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::later::Unwritten;
use super::progress::Progressing;
use super::{Calls, Open};
use crate::remote::backend::event::SessionEvent;
use crate::remote::protocol::{BackendMessage, CallKey, JournalId, RunTool, ToolReply};
use crate::remote::store::ledger::{CallRecord, Ending};
use crate::tool::Progress;
use crate::tool::context::now;

/// A call that is asked for.
#[derive(Debug)]
pub(in crate::remote) struct Asked {
    /// The model's id.
    pub(in crate::remote) call_id: String,
    pub(in crate::remote) tool_name: String,
    pub(in crate::remote) parameters: Map<String, Value>,
    pub(in crate::remote) idempotent: bool,
    pub(in crate::remote) until: Option<Instant>,
    pub(in crate::remote) progress: Progress,
}

impl Asked {
    pub(super) fn record(
        &self,
        key: CallKey,
        generation_id: u64,
        journal: Option<JournalId>,
    ) -> CallRecord {
        CallRecord {
            key,
            call_id: self.call_id.clone(),
            tool_name: self.tool_name.clone(),
            parameters: Value::Object(self.parameters.clone()),
            generation_id,
            idempotent: self.idempotent,
            journal,
        }
    }
}

/// How an attempt ended.
#[derive(Debug)]
pub(in crate::remote) enum Came {
    Reply(Box<ToolReply>),
    /// It may have run.
    InDoubt(String),
    /// It did not.
    NotRun(String),
}

impl Came {
    fn ending(&self) -> Ending {
        match self {
            Self::Reply(reply) => Ending::Reply(reply.clone()),
            Self::InDoubt(reason) => Ending::Unknown {
                reason: reason.clone(),
            },
            Self::NotRun(reason) => Ending::NotRun {
                reason: reason.clone(),
            },
        }
    }
}

/// A call as it was sent, or would have been.
pub(super) fn run_of(record: CallRecord) -> RunTool {
    RunTool {
        key: record.key,
        tool_name: record.tool_name,
        generation_id: record.generation_id,
        parameters: record.parameters,
        deadline_ms: None,
    }
}

impl Open {
    /// A call that an earlier process sent, or was about to.
    pub(super) fn left_behind(record: CallRecord, end: oneshot::Sender<Came>) -> Self {
        Self {
            sent: record.journal,
            run: run_of(record),
            until: None,
            end,
            progress: Progressing::default(),
            left_behind: true,
        }
    }

    /// As it is sent now.
    pub(super) fn run(&self) -> RunTool {
        let left = self
            .until
            .map(|until| until.saturating_duration_since(now()));
        RunTool {
            deadline_ms: left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
            ..self.run.clone()
        }
    }
}

/// Gives an attempt exactly one end: the one that came, or `cancelled` if nobody waits for it any more.
#[derive(Debug)]
pub(super) struct Guard {
    calls: Arc<Calls>,
    key: CallKey,
    /// What it takes in the store.
    bytes: usize,
    end: End,
}

/// How far the end of an attempt is.
#[derive(Debug)]
enum End {
    None,
    /// It came, and is told; it may not have been written.
    Came(Ending),
    Written,
}

impl Guard {
    pub(super) fn new(calls: &Arc<Calls>, key: CallKey, bytes: usize) -> Self {
        Self {
            calls: Arc::clone(calls),
            key,
            bytes,
            end: End::None,
        }
    }

    fn told(&self, status: crate::Status) {
        let key = self.key;
        self.calls
            .events
            .tell(SessionEvent::CallEnded { key, status });
    }

    /// Writes the end down, and lets the journal forget the call.
    pub(super) async fn ends(&mut self, came: Came) -> Came {
        let ending = came.ending();
        self.told(ending.status());
        self.end = End::Came(ending.clone());
        let written = self.calls.end(self.key, self.bytes, &ending).await;
        self.end = End::Written;
        match written {
            Ok(()) => self.calls.say(BackendMessage::Ack(self.key)).await,
            // The journal keeps it, and the next handshake brings it once more.
            Err(error) => {
                tracing::warn!(key = %self.key, %error, "the end of a call could not be written");
                self.calls.end_later(Unwritten {
                    key: self.key,
                    ending,
                    record: None,
                });
            }
        }
        came
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        let came = match std::mem::replace(&mut self.end, End::Written) {
            End::Written => return,
            End::Came(ending) => Some(ending),
            End::None => None,
        };
        if came.is_none() {
            let mut state = self.calls.state();
            state.open.remove(&self.key);
            state.abandon(self.key);
            drop(state);
            self.told(crate::Status::Cancelled);
        }
        // Without a runtime nothing can be said or written any more; the next process finds the call open.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let (calls, key, bytes) = (Arc::clone(&self.calls), self.key, self.bytes);
        runtime.spawn(async move {
            if let Some(ending) = came {
                return calls.end_late(key, &ending).await;
            }
            calls.say(BackendMessage::CancelTool(key)).await;
            let ending = Ending::Cancelled {
                reason: "nobody waits for it any more".to_owned(),
                may_still_run: true,
            };
            if let Err(error) = calls.end(key, bytes, &ending).await {
                tracing::warn!(%key, %error, "the end of a call could not be written");
                calls.end_later(Unwritten {
                    key,
                    ending,
                    record: None,
                });
            }
        });
    }
}
