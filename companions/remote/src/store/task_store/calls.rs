use std::collections::BTreeMap;

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
}

/// A call that has ended, as it is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    pub(crate) key: CallKey,
    /// What it takes, with its ending.
    pub(crate) bytes: usize,
}

/// The calls of a task, as a process finds them that opens it again.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Found {
    pub(crate) open: Vec<CallRecord>,
    pub(crate) ended: Vec<Ended>,
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

    /// What a model reads of it.
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

/// A call of a task, as it is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct KeptCall {
    /// Which.
    pub key: CallKey,
    /// The model's id of it; conversations of one task may use an id again.
    pub call_id: String,
    /// The name of the tool.
    pub tool: String,
    /// How it ended, and what the model reads of that; none as long as it is open.
    pub end: Option<(Status, String)>,
}

const CALL: &str = "call.";
const ENDING: &str = "ending.";

/// Names sort as the calls: ids grow with time, and attempts have a width.
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
        reason: "the name is not that of a call".to_owned(),
    })
}

impl Ledger {
    /// Keeps a call as it is now: before it is sent for the first time, and before each time it is sent under another
    /// journal. Its ending is not touched. Gives the bytes that it takes.
    pub(crate) async fn begin_call(&self, call: &CallRecord) -> Result<usize, StoreError> {
        let name = name(CALL, call.key);
        let text = to_text(&name, call)?;
        self.put(&name, &text).await?;
        Ok(text.len())
    }

    /// The bytes of a call that was opened, and is kept.
    pub(crate) async fn begun(&self, key: CallKey) -> Result<Option<usize>, StoreError> {
        let there = self.store.read(self.task, &name(CALL, key)).await?;
        Ok(there.map(|call| call.value.len()))
    }

    /// Keeps how a call ended, and gives the bytes that it takes; none when an earlier ending stands.
    ///
    /// After an error the ending may have been kept all the same.
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

    /// A call that was opened, and whose end is not written.
    pub(crate) async fn without_end(&self, key: CallKey) -> Result<Option<CallRecord>, StoreError> {
        let ending = self.store.read(self.task, &name(ENDING, key)).await?;
        match ending {
            Some(_) => Ok(None),
            None => self.get(&name(CALL, key)).await,
        }
    }

    /// The ending that stands.
    #[cfg(test)]
    pub(crate) async fn ending(&self, key: CallKey) -> Result<Option<Ending>, StoreError> {
        self.get(&name(ENDING, key)).await
    }

    /// Drops calls that have ended, with their endings; what is said of them later finds nothing, as of a stranger's.
    pub(crate) async fn drop_calls(&self, keys: &[CallKey]) -> Result<(), StoreError> {
        let names = keys
            .iter()
            .flat_map(|key| [name(CALL, *key), name(ENDING, *key)]);
        let names: Vec<String> = names.collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        self.store.remove(self.task, &names).await
    }

    /// The calls of the task with what became of them, in the order of their ids.
    pub(crate) async fn kept_calls(&self) -> Result<Vec<KeptCall>, StoreError> {
        let begun = self.store.list(self.task, CALL).await?;
        let mut ends = BTreeMap::new();
        for (name, ending) in self.store.list(self.task, ENDING).await? {
            let ending: Ending = from_text(&name, &ending.value)?;
            ends.insert(key(ENDING, &name)?, (ending.status(), ending.into_text()));
        }
        let mut kept = Vec::new();
        for (name, call) in begun {
            let call: CallRecord = from_text(&name, &call.value)?;
            kept.push(KeptCall {
                end: ends.remove(&call.key),
                key: call.key,
                call_id: call.call_id,
                tool: call.tool_name,
            });
        }
        Ok(kept)
    }

    /// The calls of the task, in the order of their ids.
    pub(crate) async fn calls(&self) -> Result<Found, StoreError> {
        // In this order: a call that is begun meanwhile is open, and not one without an ending that it has.
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
        Ok(Found {
            open,
            ended: ended.map(|(key, bytes)| Ended { key, bytes }).collect(),
        })
    }
}
