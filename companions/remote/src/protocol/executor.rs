//! Messages from an executor to its backend.

use contract_runtime::{Effect, LogLevel, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use super::artifact::WireArtifact;
use super::ids::{CallKey, JournalId, ReceivedKey, TaskId, received_key};
use super::read::Fault;

/// A message from an executor to its backend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExecutorMessage {
    /// The first message of a connection.
    Handshake(Box<Handshake>),
    /// How a call ended: the answer to `run_tool`. The minimum is `tool_id`, `status`, and `result` or `error`.
    ToolResult(Box<ToolReply>),
    /// The progress of a running call; optional, and as often as the tool likes.
    ToolProgress(ToolProgress),
    /// A log message of a running call whose `run_tool` has `log`; optional, and it may be lost.
    ToolLog(ToolLog),
    /// A call was cancelled and has ended: the answer to `cancel_tool`, instead of `tool_result`.
    Cancelled(Cancelled),
    /// Asks for a `pong`.
    Ping,
    /// The answer to `ping`.
    Pong,
    /// A frame was malformed and was ignored.
    Fault(Fault),
}

/// Identifies an executor, lists its tools and reports earlier calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Handshake {
    /// The protocol version: 1.
    pub protocol: u32,
    /// The task of the executor: the last part of its address.
    pub task: TaskId,
    /// The `epoch` of the last `handshake_ok` received, or 0 before the first. The backend uses it to reject an executor that
    /// another one has superseded.
    pub epoch: u64,
    /// The id of the journal that records which calls ran: a random UUID that is created with the journal. A new journal
    /// knows nothing of calls sent under another id.
    pub journal: JournalId,
    /// The names of the tools that the backend knows.
    pub known_tools: Vec<String>,
    /// The tools that the backend does not know, each as an entry of a manifest; there is an example below.
    pub custom_tools: Vec<Value>,
    /// The environment of the tools.
    pub platform: Platform,
    /// Every call of the task whose end was not acknowledged, once each.
    pub unacknowledged: Vec<Entry>,
}

/// The environment of an executor's tools.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Platform {
    /// The directory that relative paths are resolved against, as the executor reports it.
    pub working_directory: String,
    /// The operating system, such as `linux`.
    pub system: String,
    /// The processor architecture, such as `x86_64`.
    pub architecture: String,
    /// The number of hardware threads; not a limit on calls.
    pub parallel: u32,
}

/// One call in an executor's journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Entry {
    /// The key of the attempt.
    #[serde(flatten)]
    pub key: CallKey,
    /// The state of the call.
    pub state: EntryState,
    /// How the call ended, if it is `finished`, with the same key; omitted if the frame would be too large, and then
    /// requested with `run_tool`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Box<ToolReply>>,
}

/// The state of a call, according to the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryState {
    /// It was recorded and has not begun; it does not begin unless it is requested again.
    Accepted,
    /// It is running; its `tool_result` will follow.
    Running,
    /// It began in an earlier process; its outcome is unknown.
    InDoubt,
    /// It has ended.
    Finished,
}

/// The end of one attempt at a call.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolReply {
    /// The key of the attempt.
    #[serde(flatten)]
    #[schemars(with = "ReceivedKey")]
    pub key: CallKey,
    /// Whether there is a result: `success` if and only if `outcome` is `ok`.
    pub status: Verdict,
    /// `ok`, `failed`, `invalid_arguments`, `unknown_tool`, `violation`, `denied`, `refused`, `panicked`, `timed_out`,
    /// `cancelled` or `overloaded`; if omitted, `ok` after `success` and `failed` after `error`.
    #[schemars(with = "Option<String>")]
    pub outcome: Status,
    /// Whether the call took effect: `none`, `complete` or `unknown`. If omitted, a call that ended otherwise than `ok` counts
    /// as `unknown`, unless its `outcome` says that it was refused.
    #[schemars(with = "Option<String>")]
    pub effect: Effect,
    /// The text for the model, after `success`; empty if omitted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// Whether `result` is JSON, such as a number or an object; `false` if omitted.
    #[serde(default)]
    pub is_json: bool,
    /// The error message for the model, after `error`; never after `success`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Artifacts of the result, such as images and files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<WireArtifact>,
    /// The violation, if `outcome` is `violation`; if it is missing or unreadable, the call counts as failed with `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<Value>,
    /// The problems, if `outcome` is `invalid_arguments`; if they are missing or unreadable, the call counts as failed with
    /// `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid_arguments: Option<Value>,
    /// Whether the body may still be running, after a timeout or a cancellation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_still_run: bool,
}

impl<'de> Deserialize<'de> for ToolReply {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let received = ReceivedReply::deserialize(deserializer)?;
        let outcome = received.outcome.unwrap_or(match received.status {
            Verdict::Success => Status::Ok,
            Verdict::Error => Status::Failed,
        });
        Ok(Self {
            key: received.key.into(),
            status: received.status,
            outcome,
            effect: received.effect.unwrap_or_else(|| unsaid(outcome)),
            result: received.result,
            is_json: received.is_json,
            error: received.error,
            artifacts: received.artifacts,
            violation: received.violation,
            invalid_arguments: received.invalid_arguments,
            may_still_run: received.may_still_run,
        })
    }
}

/// A [`ToolReply`] as it is received: the minimum is a call, a status and a text.
#[derive(Deserialize)]
struct ReceivedReply {
    #[serde(flatten)]
    key: ReceivedKey,
    status: Verdict,
    outcome: Option<Status>,
    effect: Option<Effect>,
    result: Option<String>,
    #[serde(default)]
    is_json: bool,
    error: Option<String>,
    #[serde(default)]
    artifacts: Vec<WireArtifact>,
    violation: Option<Value>,
    invalid_arguments: Option<Value>,
    #[serde(default)]
    may_still_run: bool,
}

/// The effect of a call whose executor does not say it.
fn unsaid(outcome: Status) -> Effect {
    match outcome {
        Status::Ok => Effect::Complete,
        Status::InvalidArguments
        | Status::UnknownTool
        | Status::Asked
        | Status::Denied
        | Status::Refused
        | Status::Overloaded => Effect::None,
        _ => Effect::Unknown,
    }
}

/// Whether a call succeeded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// It did; there is a result.
    Success,
    /// It did not; there is an error.
    Error,
}

/// A progress report of a running call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolProgress {
    /// The key of the attempt.
    #[serde(flatten, deserialize_with = "received_key")]
    #[schemars(with = "ReceivedKey")]
    pub key: CallKey,
    /// How much is done, in the unit of `total`.
    pub done: f64,
    /// How much there is to do, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is being done.
    pub message: String,
}

/// A log message of a running call, for people.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolLog {
    /// The key of the attempt.
    #[serde(flatten, deserialize_with = "received_key")]
    #[schemars(with = "ReceivedKey")]
    pub key: CallKey,
    /// `debug`, `info`, `notice`, `warning`, `error`, `critical`, `alert` or `emergency` (RFC 5424, section 6.2.1).
    #[schemars(with = "String")]
    pub level: LogLevel,
    /// The message.
    pub message: String,
}

/// A cancelled call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Cancelled {
    /// The key of the attempt.
    #[serde(flatten, deserialize_with = "received_key")]
    #[schemars(with = "ReceivedKey")]
    pub key: CallKey,
    /// Whether the call took effect, as in `tool_result`; `unknown` if omitted.
    #[serde(default)]
    #[schemars(with = "Option<String>")]
    pub effect: Effect,
    /// Whether the body may still be running.
    pub may_still_run: bool,
}
