use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::ids::CallKey;
use super::read::Fault;

/// What a backend says to its executor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", content = "payload", rename_all = "snake_case")]
#[non_exhaustive]
pub enum BackendMessage {
    /// The answer to the handshake.
    HandshakeOk(Box<Accepted>),
    /// Make this call; the answer is `tool_result`, or `cancelled`.
    RunTool(Box<RunTool>),
    /// Give this call up, if it has not ended; the answer is `cancelled`, once it has.
    CancelTool(CallKey),
    /// The end of this call is known here; the journal may forget it.
    Ack(CallKey),
    /// The backend has seen what it needs to begin.
    BootstrapFinished,
    /// A piece of what the model says.
    AgentMessageDelta(AgentDelta),
    /// The task is over; nothing more will be asked.
    Finished(Finished),
    /// Are you there?
    Ping,
    /// I am here: the answer to `ping`.
    Pong,
    /// Something came that is no message, and was left out.
    Fault(Fault),
}

/// The tools of an executor as its backend took them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Accepted {
    /// Counts the connections of the task, from 1: a later one takes over. It belongs into the next handshake.
    pub epoch: u64,
    /// The names of the tools that the model can use; no others are called.
    pub toolbelt: Vec<String>,
    /// What was not taken, and why: the first hundred by name, each once; a last one without a name counts the others.
    pub refused: Vec<Refusal>,
    /// How often the backend asks whether the executor is there, in milliseconds; a side that hears nothing for twice
    /// as long takes the other for lost.
    pub keep_alive_ms: u64,
}

/// A tool that was not taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Refusal {
    /// Its name, shortened where it is long.
    pub name: String,
    /// Why.
    pub reason: String,
}

/// One attempt at one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RunTool {
    /// Which.
    #[serde(flatten)]
    pub key: CallKey,
    /// The name of the tool.
    pub tool_name: String,
    /// Which answer of the model asks for it, counted from 0; for whoever shows it beside that answer.
    pub generation_id: u64,
    /// The arguments, an object.
    pub parameters: Value,
    /// How long the call may take, in milliseconds from its arrival.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deadline_ms: Option<u64>,
}

/// A piece of what the model says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct AgentDelta {
    /// Which answer of the model it belongs to.
    pub generation_id: u64,
    /// The piece.
    pub text: String,
}

/// How a task ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Finished {
    /// Whether it ended as it was meant to.
    pub success: bool,
    /// The last answer, or the reason.
    pub message: String,
}
