use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ids::{CallKey, TaskId};
use crate::Status;

/// What an executor says to its backend.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case")]
#[non_exhaustive]
pub enum ExecutorMessage {
    /// The first message of a connection.
    Handshake(Box<Handshake>),
    /// How a call ended.
    ToolResult(Box<ToolReply>),
    /// How far a call has come.
    ToolProgress(ToolProgress),
    /// A call was cancelled, and has ended.
    Cancelled(Cancelled),
    /// Are you there?
    Ping,
    /// I am here.
    Pong,
}

/// Who an executor is, what it can do, and what it still knows of earlier calls.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Handshake {
    /// The version of the protocol that it speaks.
    pub protocol: u32,
    /// The task it was started for.
    pub task: TaskId,
    /// What [`Accepted::epoch`](super::Accepted::epoch) said last, 0 from an executor that is new: one that has been
    /// taken over is sent away.
    pub epoch: u64,
    /// Tools that the backend knows by name.
    pub known_tools: Vec<String>,
    /// Tools that it does not know, as entries of a manifest.
    pub custom_tools: Vec<Value>,
    /// Where the tools work.
    pub platform: Platform,
    /// Calls whose end was not acknowledged.
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
    /// How many calls run side by side.
    pub parallel: u32,
}

/// What an executor's journal says of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Entry {
    /// Which.
    #[serde(flatten)]
    pub key: CallKey,
    /// How it ended; `None` while nothing says that it has.
    pub reply: Option<Box<ToolReply>>,
}

/// How one attempt at a call ended.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ToolReply {
    /// Which.
    #[serde(flatten)]
    pub key: CallKey,
    /// Whether there is a result.
    pub status: Verdict,
    /// The status in full, as a local call has it.
    #[schemars(with = "String")]
    pub outcome: Status,
    /// The text for the model, after `success`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<String>,
    /// The text is JSON.
    #[serde(default)]
    pub is_json: bool,
    /// What went wrong, after `error`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The violation that ended the call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violation: Option<Value>,
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
