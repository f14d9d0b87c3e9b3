//! What happens in a run, one thing at a time.

use serde::{Deserialize, Serialize};

use super::inner::Repair;
use super::message::written_call;
use super::model::{ModelError, ModelFault, Usage};
use crate::contract::{Check, Violation};
use crate::tool::{Status, ToolCall};

/// One thing that happened in a run.
///
/// A violation comes before the event that it concerns, and nothing comes after the error that ends a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A piece of what the model is saying.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// What the model said before it acts; empty where it said nothing.
    Thought {
        /// The text.
        text: String,
    },
    /// A call has passed its preconditions and reached its body, or was refused before that for a reason that is no contract.
    ///
    /// It reports and does not ask: the body of a tool that is not async may be over when it is told.
    Action {
        /// The call as the model made it.
        #[serde(deserialize_with = "written_call")]
        call: ToolCall,
    },
    /// What came of a call.
    Observation {
        /// The id of the call.
        call_id: String,
        /// The name by which the tool was called.
        tool: String,
        /// How the call ended.
        status: Status,
        /// What the model reads.
        text: String,
    },
    /// The answer, which keeps every postcondition.
    Answer {
        /// The text.
        text: String,
    },
    /// What ended the run without an answer.
    Error {
        /// What went wrong.
        error: RunError,
    },
    /// A condition is about to be evaluated.
    ContractCheck {
        /// Which one.
        check: Check,
    },
    /// A condition did not hold.
    ContractViolation {
        /// All about it.
        violation: Box<Violation>,
    },
    /// One body reached more conditions at once than are kept: so many are counted and not told one by one.
    Omitted {
        /// Conditions that were evaluated.
        checks: u64,
        /// Conditions that did not hold; none of them ended anything.
        violations: u64,
    },
    /// The model was told what it broke, and goes on.
    Retry {
        /// Which condition.
        contract: String,
        /// How often that has been now, for this condition.
        attempt: u32,
        /// What the model reads.
        feedback: String,
    },
    /// The model does the same thing again and again.
    LoopDetected {
        /// What is repeated.
        pattern: LoopKind,
        /// How often it stood in a row.
        repeated: usize,
    },
    /// What was half written in the arguments of a call was put right.
    Repaired {
        /// The id of the call.
        call_id: String,
        /// What was put right.
        repairs: Vec<Repair>,
    },
    /// What a reply of the model cost.
    Usage {
        /// The tokens.
        usage: Usage,
    },
}

/// What a model repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LoopKind {
    /// The same tool with the same arguments.
    ActionRepeat,
    /// The same tool with any arguments.
    ToolRepeat,
}

/// Why a run ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunError {
    /// A contract ended it.
    #[error("the run was ended by a contract: {message}")]
    Contract {
        /// Which condition.
        contract: String,
        /// The sentence of the violation.
        message: String,
    },
    /// The model could not be reached, or its reply could not be read.
    #[error("the model failed: {message}")]
    Model {
        /// What it said.
        message: String,
        /// What kind of fault it was.
        #[serde(default)]
        fault: ModelFault,
    },
    /// The model repeated itself.
    #[error("the model was stuck: it repeated itself {repeated} times")]
    Loop {
        /// What was repeated.
        pattern: LoopKind,
        /// How often.
        repeated: usize,
    },
    /// The model wrote, again and again, what could not be understood.
    #[error("the model keeps to no format that is known: {message}")]
    Format {
        /// What it was told last.
        message: String,
    },
    /// The run had more steps than it may have.
    #[error("the run was not over after {most} steps")]
    TooManySteps {
        /// How many it may have.
        most: u64,
    },
    /// One step told of more than any reply could hold.
    #[error("a step was not over after {events} events")]
    EndlessStep {
        /// How many there were.
        events: u64,
    },
    /// The model or the inner agent panicked.
    #[error("the model or the agent panicked")]
    Panicked,
    /// The run has a deadline, and there is no tokio runtime to hold it.
    #[error(
        "the run has a deadline, and there is no tokio runtime to hold it; run it inside of one"
    )]
    NoTimer,
    /// The token of the run's context was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
    /// The deadline of the run's context has passed.
    #[error("the run was not over in time")]
    TimedOut,
    /// The inner agent stopped without an answer.
    #[error("the agent stopped without an answer")]
    NoAnswer,
}

impl RunError {
    pub(super) fn model(error: &ModelError) -> Self {
        Self::Model {
            message: error.to_string(),
            fault: ModelFault::of(error),
        }
    }
}
