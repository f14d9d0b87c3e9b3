use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::artifact::WireArtifact;
use super::ids::{CallKey, JournalId, TaskId};
use super::read::Fault;
use crate::Status;

/// What an executor says to its backend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExecutorMessage {
    /// The first message of a connection.
    Handshake(Box<Handshake>),
    /// How a call ended: the answer to `run_tool`.
    ToolResult(Box<ToolReply>),
    /// How far a call has come; as often as it likes, or never.
    ToolProgress(ToolProgress),
    /// A call was cancelled, and has ended: the answer to `cancel_tool`, in the place of `tool_result`.
    Cancelled(Cancelled),
    /// Are you there?
    Ping,
    /// I am here: the answer to `ping`.
    Pong,
    /// Something came that is no message, and was left out.
    Fault(Fault),
}

/// Who an executor is, what it can do, and what it still knows of earlier calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Handshake {
    /// The version of the protocol that it speaks: 1.
    pub protocol: u32,
    /// The task it was started for: the last part of its address.
    pub task: TaskId,
    /// The `epoch` of the last `handshake_ok` that came, 0 before the first; one that another executor has taken over
    /// from is sent away by it.
    pub epoch: u64,
    /// The journal that says which calls ran, a random UUID that is as old as the journal: another one knows nothing of
    /// the calls that this one was sent.
    pub journal: JournalId,
    /// The names of tools that the backend knows.
    pub known_tools: Vec<String>,
    /// Tools that the backend does not know, each as an entry of a manifest; below is one.
    pub custom_tools: Vec<Value>,
    /// Where the tools work.
    pub platform: Platform,
    /// Every call of the task whose end was not acknowledged, each once.
    pub unacknowledged: Vec<Entry>,
}

/// Where the tools of an executor work.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Platform {
    /// The folder that relative paths start from, as the executor shows it.
    pub working_directory: String,
    /// Such as `linux`.
    pub system: String,
    /// Such as `x86_64`.
    pub architecture: String,
    /// How many threads the machine has for calls, which is no limit.
    pub parallel: u32,
}

/// What an executor's journal says of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Entry {
    /// Which.
    #[serde(flatten)]
    pub key: CallKey,
    /// How far it has come.
    pub state: EntryState,
    /// How it ended, when it is `finished`, with the same key; left out where the frame would be too large, and asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<Box<ToolReply>>,
}

/// How far a call has come, as the journal knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum EntryState {
    /// It was taken, and has not begun; it does not begin unless it is asked for again.
    Accepted,
    /// It is at work, and its `tool_result` will come.
    Running,
    /// It began in a process that is gone; nobody knows how far it came.
    InDoubt,
    /// It has ended.
    Finished,
}

/// How one attempt at a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolReply {
    /// Which.
    #[serde(flatten)]
    pub key: CallKey,
    /// Whether there is a result; `success` exactly where `outcome` is `ok`.
    pub status: Verdict,
    /// `ok`, `failed`, `invalid_arguments`, `unknown_tool`, `violation`, `panicked`, `timed_out`, `cancelled` or
    /// `overloaded`.
    #[schemars(with = "String")]
    pub outcome: Status,
    /// The text for the model, after `success`; empty where it is left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// `result` is JSON, such as a number or an object; `false` where it is left out.
    #[serde(default)]
    pub is_json: bool,
    /// What went wrong, for the model, after `error`; never after `success`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What goes along with the result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub artifacts: Vec<WireArtifact>,
    /// After `violation`, the violation; without one that can be read, the call has failed with `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<Value>,
    /// After `invalid_arguments`, what is wrong with them; without any that can be read, the call has failed with `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub invalid_arguments: Option<Value>,
    /// The body may still be running, after a timeout or a cancellation.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub may_still_run: bool,
}

/// Whether a call gave a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Verdict {
    /// It did.
    Success,
    /// It did not.
    Error,
}

/// A report of a running call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolProgress {
    /// Which call.
    #[serde(flatten)]
    pub key: CallKey,
    /// How much is done, in the unit of `total`.
    pub done: f64,
    /// How much there is to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<f64>,
    /// What is being done.
    pub message: String,
}

/// A call that was given up.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Cancelled {
    /// Which.
    #[serde(flatten)]
    pub key: CallKey,
    /// Its body may still be running.
    pub may_still_run: bool,
}
