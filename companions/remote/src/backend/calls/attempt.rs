//! One attempt of a call, and a guard that gives each attempt exactly one end.

use std::sync::Arc;
use std::time::Instant;

use contract_runtime::{Log, Progress};
use serde_json::{Map, Value};
use tokio::sync::oneshot;

use super::progress::ProgressReporter;
use super::write_retry::PendingWrite;
use super::{Calls, OpenCall};
use crate::backend::event::SessionEvent;
use crate::protocol::{BackendMessage, CallKey, JournalId, RunTool, ToolReply};
use crate::store::task_store::{Ending, StoredCall};

/// A requested call.
#[derive(Debug)]
pub(crate) struct CallRequest {
    /// The model's id.
    pub(crate) call_id: String,
    pub(crate) tool_name: String,
    pub(crate) parameters: Map<String, Value>,
    pub(crate) idempotent: bool,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) until: Option<Instant>,
    pub(crate) progress: Progress,
    pub(crate) log: Log,
}

impl CallRequest {
    pub(super) fn record(
        &self,
        key: CallKey,
        generation_id: u64,
        journal: Option<JournalId>,
    ) -> StoredCall {
        StoredCall {
            key,
            call_id: self.call_id.clone(),
            tool_name: self.tool_name.clone(),
            parameters: Value::Object(self.parameters.clone()),
            generation_id,
            idempotency_key: self.idempotency_key.clone(),
            idempotent: self.idempotent,
            journal,
        }
    }
}

/// How an attempt ended.
#[derive(Debug)]
pub(crate) enum AttemptOutcome {
    Reply(Box<ToolReply>),
    /// It may or may not have run.
    InDoubt(String),
    /// It did not run.
    NotRun(String),
}

impl From<Ending> for AttemptOutcome {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Reply(reply) => Self::Reply(reply),
            Ending::Unknown { reason } | Ending::Cancelled { reason, .. } => Self::InDoubt(reason),
            Ending::NotRun { reason } => Self::NotRun(reason),
        }
    }
}

impl AttemptOutcome {
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

/// Returns the message that sends a stored call.
pub(super) fn run_tool(record: StoredCall) -> RunTool {
    RunTool {
        key: record.key,
        tool_name: record.tool_name,
        generation_id: record.generation_id,
        parameters: record.parameters,
        deadline_ms: None,
        idempotency_key: record.idempotency_key,
        log: false,
    }
}

impl OpenCall {
    /// Rebuilds a call that an earlier process sent, or was about to send.
    pub(super) fn orphaned(record: StoredCall, end: oneshot::Sender<AttemptOutcome>) -> Self {
        Self {
            sent: record.journal,
            run: run_tool(record),
            until: None,
            end,
            progress: ProgressReporter::default(),
            log: Log::default(),
            orphaned: true,
        }
    }

    /// Returns the message to send now, with the time that is left.
    pub(super) fn run(&self) -> RunTool {
        let now = tokio::time::Instant::now().into_std();
        let left = self.until.map(|until| until.saturating_duration_since(now));
        RunTool {
            deadline_ms: left.map(|left| u64::try_from(left.as_millis()).unwrap_or(u64::MAX)),
            ..self.run.clone()
        }
    }
}

/// Gives an attempt exactly one end: its outcome, or `cancelled` if the caller no longer waits for it.
#[derive(Debug)]
pub(super) struct AttemptGuard {
    calls: Arc<Calls>,
    key: CallKey,
    /// Its size in the store.
    bytes: usize,
    end: EndState,
}

/// How much of the end of an attempt has been recorded.
#[derive(Debug)]
enum EndState {
    None,
    /// It is known and its event was emitted; it may not have been written.
    Pending(Ending),
    Written,
}

impl AttemptGuard {
    pub(super) fn new(calls: &Arc<Calls>, key: CallKey, bytes: usize) -> Self {
        Self {
            calls: Arc::clone(calls),
            key,
            bytes,
            end: EndState::None,
        }
    }

    fn emit_ended(&self, status: contract_runtime::Status) {
        let key = self.key;
        self.calls
            .events
            .emit(SessionEvent::CallEnded { key, status });
    }

    /// Stores the end, and acknowledges it, so that the journal may forget the call.
    pub(super) async fn finish(&mut self, outcome: AttemptOutcome) -> AttemptOutcome {
        let ending = outcome.ending();
        self.emit_ended(ending.status());
        self.end = EndState::Pending(ending.clone());
        let written = self.calls.record_end(self.key, self.bytes, &ending).await;
        self.end = EndState::Written;
        match written {
            Ok(()) => self.calls.send(BackendMessage::Ack(self.key)).await,
            // The journal keeps it, and the next handshake sends it again.
            Err(error) => {
                tracing::warn!(key = %self.key, %error, "the outcome of a call could not be written");
                self.calls.retry_write(PendingWrite {
                    key: self.key,
                    ending,
                    record: None,
                });
            }
        }
        outcome
    }
}

impl Drop for AttemptGuard {
    fn drop(&mut self) {
        let outcome = match std::mem::replace(&mut self.end, EndState::Written) {
            EndState::Written => return,
            EndState::Pending(ending) => Some(ending),
            EndState::None => None,
        };
        if outcome.is_none() {
            let mut state = self.calls.state();
            state.open.remove(&self.key);
            state.abandon(self.key);
            drop(state);
            self.emit_ended(contract_runtime::Status::Cancelled);
        }
        // Without a runtime nothing can be sent or written any more; the next process finds the call open.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            return;
        };
        let (calls, key, bytes) = (Arc::clone(&self.calls), self.key, self.bytes);
        runtime.spawn(async move {
            if let Some(ending) = outcome {
                return calls.record_late(key, &ending).await;
            }
            calls.send(BackendMessage::CancelTool(key)).await;
            let ending = Ending::Cancelled {
                reason: "the caller no longer waits for it".to_owned(),
                may_still_run: true,
            };
            if let Err(error) = calls.record_end(key, bytes, &ending).await {
                tracing::warn!(%key, %error, "the outcome of a call could not be written");
                calls.retry_write(PendingWrite {
                    key,
                    ending,
                    record: None,
                });
            }
        });
    }
}
