use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{Ledger, from_text, to_text};
use crate::Status;
use crate::remote::protocol::{CallKey, JournalId, ToolReply};
use crate::remote::store::{Expect, StoreError, Written};

/// A call that was opened, as a backend needs it to go on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct CallRecord {
    pub(crate) key: CallKey,
    /// The model's own id of the call.
    pub(crate) call_id: String,
    pub(crate) tool_name: String,
    pub(crate) parameters: Value,
    pub(crate) generation_id: u64,
    /// Whether it may be tried again when nobody knows if it ran.
    pub(crate) idempotent: bool,
    /// The journal under which it was sent; none as long as it was not.
    pub(crate) journal: Option<JournalId>,
    /// How it ended; kept beside the rest, by [`Ledger::end_call`].
    #[serde(skip)]
    pub(crate) ending: Option<Ending>,
}

/// How a call ended, once and for all.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub(crate) enum Ending {
    /// The executor said so.
    Reply(Box<ToolReply>),
    /// Nobody knows whether it ran.
    Unknown { reason: String },
    /// It did not run.
    NotRun { reason: String },
    /// It was given up.
    Cancelled { reason: String, may_still_run: bool },
}

impl Ending {
    pub(crate) fn status(&self) -> Status {
        match self {
            Self::Reply(reply) => reply.outcome,
            Self::Unknown { .. } | Self::NotRun { .. } => Status::Failed,
            Self::Cancelled { .. } => Status::Cancelled,
        }
    }
}

/// Names sort as the calls: ids grow with time, and attempts have a width.
fn name(part: &str, key: CallKey) -> String {
    format!("{part}.{}.{:010}", key.tool_id, key.attempt)
}

impl Ledger {
    /// Keeps a call as it is now: before it is sent for the first time, and before each time it is sent under another
    /// journal. Its ending is not touched.
    pub(crate) async fn begin_call(&self, call: &CallRecord) -> Result<(), StoreError> {
        let name = name("call", call.key);
        let text = to_text(&name, call)?;
        self.put(&name, &text).await
    }

    /// Whether a call was opened.
    pub(crate) async fn has_begun(&self, key: CallKey) -> Result<bool, StoreError> {
        let call: Option<CallRecord> = self.get(&name("call", key)).await?;
        Ok(call.is_some())
    }

    /// Keeps how a call ended; whether this was the first ending, which is the one that stands.
    ///
    /// After an error the ending may have been kept all the same: [`Ledger::ending`] says which one stands.
    pub(crate) async fn end_call(&self, key: CallKey, ending: &Ending) -> Result<bool, StoreError> {
        let name = name("ending", key);
        let text = to_text(&name, ending)?;
        let written = self.write(&name, &text, Expect::Absent).await?;
        Ok(matches!(written, Written::Done { .. }))
    }

    /// The ending that stands.
    pub(crate) async fn ending(&self, key: CallKey) -> Result<Option<Ending>, StoreError> {
        self.get(&name("ending", key)).await
    }

    /// All calls of the task with their endings, in the order of their ids.
    pub(crate) async fn calls(&self) -> Result<Vec<CallRecord>, StoreError> {
        // In this order: a call that is begun meanwhile is open, and not one without an ending that it has.
        let begun = self.store.list(self.task, "call.").await?;
        let ended = self.store.list(self.task, "ending.").await?;
        let mut ended = ended.into_iter().peekable();
        let mut calls = Vec::with_capacity(begun.len());
        for (name, call) in begun {
            let mut call: CallRecord = from_text(&name, &call.value)?;
            let key = name.strip_prefix("call.").unwrap_or_default();
            let of = |name: &str| name.strip_prefix("ending.").unwrap_or_default().to_owned();
            while ended.next_if(|(name, _)| *of(name) < *key).is_some() {}
            if let Some((name, ending)) = ended.next_if(|(name, _)| of(name) == key) {
                call.ending = Some(from_text(&name, &ending.value)?);
            }
            calls.push(call);
        }
        Ok(calls)
    }
}
