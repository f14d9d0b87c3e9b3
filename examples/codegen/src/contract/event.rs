//! The events of a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Approval, Question, RunState};

/// One thing that happened in a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct RunEvent {
    /// Counts the events of a run, from 1 and without a gap.
    pub sequence: u64,
    /// Milliseconds since 1970, UTC.
    pub at_ms: u64,
    /// What happened.
    #[serde(flatten)]
    pub what: Happening,
}

/// What can happen in a run; this set may only grow.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Happening {
    /// The state of the run has changed.
    State {
        /// The new state.
        state: RunState,
    },
    /// The model was given a message of the user.
    Message {
        /// The text.
        text: String,
    },
    /// The tools of the executor were accepted.
    Attached {
        /// The names of the tools.
        tools: Vec<String>,
        /// The tools that were refused, as `name: reason`.
        refused: Vec<String>,
    },
    /// The backend has inspected the project.
    BootstrapFinished,
    /// A piece of the model's text.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// The model has called a tool; later events report how the call went.
    ToolCall {
        /// The id of the call.
        call_id: String,
        /// The tool.
        tool: String,
        /// The arguments, as the model wrote them.
        arguments: String,
    },
    /// The progress of a running call.
    ToolProgress {
        /// The id of the call.
        call_id: String,
        /// How much is done, in a unit of the tool's choice.
        done: f64,
        /// How much there is to do, if the tool knows it.
        total: Option<f64>,
        /// What is being done; may be empty.
        message: String,
    },
    /// A condition did not hold.
    Violation {
        /// The id of the condition, such as `read_file.pre[4]`.
        clause: String,
        /// The tool; empty for a condition of the run.
        tool: String,
        /// The condition, as its author wrote it.
        predicate: String,
        /// The sentence that the model is told.
        message: String,
        /// Which side found it.
        found_by: Finder,
    },
    /// A call has ended.
    ToolResult {
        /// The id of the call.
        call_id: String,
        /// The tool.
        tool: String,
        /// The status of the outcome, such as `ok` or `violation`.
        status: String,
        /// The text that the model reads, shortened if it is long.
        text: String,
        /// Whether the call was sent to the executor.
        travelled: bool,
    },
    /// The model was told which condition it broke, and goes on.
    Retry {
        /// The id of the condition.
        clause: String,
        /// The number of this attempt, for this condition.
        attempt: u32,
    },
    /// The model asks the user.
    Questions {
        /// The questions.
        questions: Vec<Question>,
    },
    /// A call waits until a person has decided.
    ApprovalRequested {
        /// The call and its questions.
        approval: Approval,
    },
    /// A person has decided about a call.
    ApprovalAnswered {
        /// The id of the approval.
        id: String,
        /// Whether the call goes on.
        approved: bool,
        /// The reason for a denial; empty for an approval.
        reason: String,
    },
    /// The changes of the run in the project until now.
    Diff {
        /// The changes as a unified diff; empty if there are none.
        text: String,
        /// Whether the diff is longer than the text.
        shortened: bool,
    },
    /// A message about the run that comes neither from its model nor from its tools, such as a broken connection.
    Notice {
        /// The message.
        text: String,
    },
    /// The answer.
    Answer {
        /// The text.
        text: String,
    },
    /// The run has ended without an answer.
    Error {
        /// The message.
        message: String,
    },
}

/// The side that found that a condition does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Finder {
    /// The backend, before the call travelled.
    Backend,
    /// The executor.
    Executor,
    /// The agent, whose own condition it is.
    Agent,
}
