//! Records of calls and of how they ended.

use std::collections::BTreeMap;

use contract_runtime::Status;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{TaskStore, from_text, to_text};
use crate::protocol::{CallKey, JournalId, ToolReply};
use crate::store::{Expect, StoreError, Written};

/// A stored call, with everything that a later process needs to continue it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct StoredCall {
    pub(crate) key: CallKey,
    /// The model's own id of the call.
    pub(crate) call_id: String,
    pub(crate) tool_name: String,
    pub(crate) parameters: Value,
    pub(crate) generation_id: u64,
    /// The key that its body gets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) idempotency_key: Option<String>,
    /// Whether it may be attempted again when it is unknown whether it ran.
    pub(crate) idempotent: bool,
    /// The journal under which it was sent; `None` before.
    pub(crate) journal: Option<JournalId>,
}

/// A stored call that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EndedCall {
    pub(crate) key: CallKey,
    /// Its size with its ending.
    pub(crate) bytes: usize,
}

/// The stored calls of a task.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct StoredCalls {
    pub(crate) open: Vec<StoredCall>,
    pub(crate) ended: Vec<EndedCall>,
}

/// How a call ended; written once.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub(crate) enum Ending {
    /// The executor's reply.
    Reply(Box<ToolReply>),
    /// It is unknown whether it ran.
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

    /// Returns the text that a model reads.
    fn into_text(self) -> String {
        match self {
            Self::Reply(reply) => reply.result.or(reply.error).unwrap_or_default(),
            Self::Unknown { reason } => format!("unknown outcome: {reason}"),
            Self::NotRun { reason } => format!("it was not run: {reason}"),
            Self::Cancelled {
                reason,
                may_still_run,
            } => {
                let rest = if may_still_run {
                    ", and it may still run"
                } else {
                    ""
                };
                format!("cancelled: {reason}{rest}")
            }
        }
    }
}

/// A stored call of a task.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallRecord {
    /// The key of the call.
    pub key: CallKey,
    /// The model's id of the call; conversations of one task may reuse an id.
    pub call_id: String,
    /// The name of the tool.
    pub tool: String,
    /// How it ended, and what the model reads of that; `None` while it is open.
    pub end: Option<(Status, String)>,
}

const CALL: &str = "call.";
const ENDING: &str = "ending.";

/// Names sort like the calls: ids grow with time, and attempts have a fixed width.
fn name(part: &str, key: CallKey) -> String {
    format!("{part}{}.{:010}", key.tool_id, key.attempt)
}

fn key(part: &str, name: &str) -> Result<CallKey, StoreError> {
    let parts = name
        .strip_prefix(part)
        .and_then(|key| key.split_once('.'))
        .and_then(|(id, attempt)| {
            let tool_id = id.parse().ok()?;
            let attempt = attempt.parse().ok()?;
            Some(CallKey { tool_id, attempt })
        });
    parts.ok_or_else(|| StoreError::Damaged {
        what: name.to_owned(),
        reason: "the name does not belong to a call".to_owned(),
    })
}

impl TaskStore {
    /// Stores a call: before it is first sent, and before each time it is sent under another journal. Its ending is not
    /// touched. Returns its size.
    pub(crate) async fn begin_call(&self, call: &StoredCall) -> Result<usize, StoreError> {
        let name = name(CALL, call.key);
        let text = to_text(&name, call)?;
        self.put(&name, &text).await?;
        Ok(text.len())
    }

    /// Returns the size of a call if it is stored.
    pub(crate) async fn stored_size(&self, key: CallKey) -> Result<Option<usize>, StoreError> {
        let there = self.store.read(self.task, &name(CALL, key)).await?;
        Ok(there.map(|call| call.value.len()))
    }

    /// Stores how a call ended, and returns its size; `None` if an earlier ending stands.
    ///
    /// After an error the ending may have been stored all the same.
    pub(crate) async fn end_call(
        &self,
        key: CallKey,
        ending: &Ending,
    ) -> Result<Option<usize>, StoreError> {
        let name = name(ENDING, key);
        let text = to_text(&name, ending)?;
        let written = self.write(&name, &text, Expect::Absent).await?;
        Ok(matches!(written, Written::Done { .. }).then_some(text.len()))
    }

    /// Returns a call if its end is not stored.
    pub(crate) async fn open_call(&self, key: CallKey) -> Result<Option<StoredCall>, StoreError> {
        let ending = self.store.read(self.task, &name(ENDING, key)).await?;
        match ending {
            Some(_) => Ok(None),
            None => self.get(&name(CALL, key)).await,
        }
    }

    /// Returns a call that is stored, with its ending if it has ended.
    pub(crate) async fn recorded(
        &self,
        key: CallKey,
    ) -> Result<Option<(StoredCall, Option<Ending>)>, StoreError> {
        let Some(call) = self.get(&name(CALL, key)).await? else {
            return Ok(None);
        };
        Ok(Some((call, self.get(&name(ENDING, key)).await?)))
    }

    /// The ending that stands.
    #[cfg(test)]
    pub(crate) async fn ending(&self, key: CallKey) -> Result<Option<Ending>, StoreError> {
        self.get(&name(ENDING, key)).await
    }

    /// Deletes ended calls with their endings; a later message about them is treated as one about an unknown call.
    pub(crate) async fn drop_calls(&self, keys: &[CallKey]) -> Result<(), StoreError> {
        let names = keys
            .iter()
            .flat_map(|key| [name(CALL, *key), name(ENDING, *key)]);
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.store.remove(self.task, &names).await
    }

    /// Returns the calls of the task with their endings, in the order of their ids.
    pub(crate) async fn call_records(&self) -> Result<Vec<CallRecord>, StoreError> {
        let begun = self.store.list(self.task, CALL).await?;
        let mut ends = BTreeMap::new();
        for (name, ending) in self.store.list(self.task, ENDING).await? {
            let ending: Ending = from_text(&name, &ending.value)?;
            ends.insert(key(ENDING, &name)?, (ending.status(), ending.into_text()));
        }
        let mut kept = Vec::new();
        for (name, call) in begun {
            let call: StoredCall = from_text(&name, &call.value)?;
            kept.push(CallRecord {
                end: ends.remove(&call.key),
                key: call.key,
                call_id: call.call_id,
                tool: call.tool_name,
            });
        }
        Ok(kept)
    }

    /// Returns the calls of the task, in the order of their ids.
    pub(crate) async fn calls(&self) -> Result<StoredCalls, StoreError> {
        // In this order: a call that begins meanwhile counts as open, and none that has ended does.
        let begun = self.store.list(self.task, CALL).await?;
        let ended = self.store.list(self.task, ENDING).await?;
        let mut sizes = BTreeMap::new();
        for (name, ending) in &ended {
            sizes.insert(key(ENDING, name)?, ending.value.len());
        }
        let mut open = Vec::new();
        for (name, call) in begun {
            match sizes.get_mut(&key(CALL, &name)?) {
                Some(bytes) => *bytes += call.value.len(),
                None => open.push(from_text(&name, &call.value)?),
            }
        }
        let ended = sizes.into_iter();
        Ok(StoredCalls {
            open,
            ended: ended.map(|(key, bytes)| EndedCall { key, bytes }).collect(),
        })
    }
}
