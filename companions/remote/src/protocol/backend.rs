//! Messages from the backend to its executor.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ids::CallKey;
use super::read::Fault;

/// A message from a backend to its executor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case")]
#[non_exhaustive]
pub enum BackendMessage {
    /// Accepts the handshake.
    HandshakeOk(Box<Accepted>),
    /// Requests a call; the answer is `tool_result`, or `cancelled`.
    RunTool(Box<RunTool>),
    /// Cancels a call, if it has not ended; the answer is `cancelled`, once it has.
    CancelTool(CallKey),
    /// Acknowledges the end of a call; the journal may forget the call.
    Ack(CallKey),
    /// The backend has finished inspecting the executor's environment and is ready to begin.
    BootstrapFinished,
    /// A piece of the model's answer.
    AgentMessageDelta(AgentDelta),
    /// The task is over; no more calls will be requested.
    Finished(Finished),
    /// Asks for a `pong`.
    Ping,
    /// The answer to `ping`.
    Pong,
    /// A frame was malformed and was ignored.
    Fault(Fault),
}

/// The answer to a handshake: which tools the backend accepted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Accepted {
    /// The number of this connection of the task, from 1; a later one supersedes it. The executor sends it in its next
    /// handshake.
    pub epoch: u64,
    /// The names of the accepted tools; no others are called.
    pub toolbelt: Vec<String>,
    /// The refused tools, with reasons: the first 100 by name, each once; a last entry without a name counts the others.
    pub refused: Vec<Refusal>,
    /// The interval between pings, in milliseconds; a peer that sends nothing for twice this long is considered
    /// disconnected.
    pub keep_alive_ms: u64,
}

/// A refused tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Refusal {
    /// Its name, shortened if it is long.
    pub name: String,
    /// The reason.
    pub reason: String,
}

/// A request for one attempt at a call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RunTool {
    /// The key of the attempt.
    #[serde(flatten)]
    pub key: CallKey,
    /// The name of the tool.
    pub tool_name: String,
    /// The number of the model's answer that requested the call, from 0, so that a program can show both together.
    pub generation_id: u64,
    /// The arguments, as an object.
    pub parameters: Value,
    /// The time limit of the call, in milliseconds from its arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
    /// The key under which the call has its effect once, for the body: the same for each attempt.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
    /// Whether somebody listens to the log of the call: only then may `tool_log` be sent. `false` if omitted.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log: bool,
}

/// A piece of the model's answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct AgentDelta {
    /// The number of the model's answer that it belongs to, from 0.
    pub generation_id: u64,
    /// The text of the piece.
    pub text: String,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Finished {
    /// Whether the task succeeded.
    pub success: bool,
    /// The last answer, or the reason.
    pub message: String,
}
