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
    /// The run is in another state than before.
    State {
        /// The new one.
        state: RunState,
    },
    /// Somebody said something to the model.
    Message {
        /// The text.
        text: String,
    },
    /// An executor is there, and these are the tools that were taken of it.
    Attached {
        /// Their names.
        tools: Vec<String>,
        /// What was not taken, as `name: reason`.
        refused: Vec<String>,
    },
    /// The backend has seen what it needs to begin.
    BootstrapFinished,
    /// A piece of what the model says.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// The model calls a tool; what comes of it follows.
    ToolCall {
        /// What later events call it.
        call_id: String,
        /// The tool.
        tool: String,
        /// The arguments, as the model wrote them.
        arguments: String,
    },
    /// A call that is under way says how far it is.
    ToolProgress {
        /// Which call.
        call_id: String,
        /// How much is done, in a unit of the tool's own.
        done: f64,
        /// How much there is to do, where the tool knows it.
        total: Option<f64>,
        /// In words; may be empty.
        message: String,
    },
    /// A condition did not hold.
    Violation {
        /// Which one, such as `read_file.pre[4]`.
        clause: String,
        /// The tool; empty for a condition of the run.
        tool: String,
        /// The condition, as its author wrote it.
        predicate: String,
        /// What the model is told.
        message: String,
        /// Who found it.
        found_by: Finder,
    },
    /// A call has ended.
    ToolResult {
        /// Which call.
        call_id: String,
        /// The tool.
        tool: String,
        /// How it ended, such as `ok` or `violation`.
        status: String,
        /// What the model reads, shortened where it is long.
        text: String,
        /// The call has reached the executor.
        travelled: bool,
    },
    /// The model was told what it broke, and goes on.
    Retry {
        /// Which condition.
        clause: String,
        /// How often that has been now.
        attempt: u32,
    },
    /// The model wants to know something.
    Questions {
        /// What.
        questions: Vec<Question>,
    },
    /// A call waits until a person has decided.
    ApprovalRequested {
        /// About what.
        approval: Approval,
    },
    /// A person has decided, or nobody has in time.
    ApprovalAnswered {
        /// The `id` of what was asked.
        id: String,
        /// Whether the call goes on.
        approved: bool,
        /// Why it does not; empty where it does.
        reason: String,
    },
    /// What the run has changed in the project until now.
    Diff {
        /// As a unified diff; empty where nothing has changed.
        text: String,
        /// There is more of it than the text.
        shortened: bool,
    },
    /// Something about the run that is neither its model's nor its tools' doing, such as a line that broke.
    Notice {
        /// In words.
        text: String,
    },
    /// The answer.
    Answer {
        /// The text.
        text: String,
    },
    /// Why there is no answer.
    Error {
        /// In words.
        message: String,
    },
}

/// Who found that a condition does not hold.
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
