//! The states of a run, and the legal transitions between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The state of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// The run waits for its turn, or for an executor.
    Queued,
    /// The model is at work.
    Running,
    /// The model waits for answers to its questions.
    WaitingInput,
    /// A call waits for a person's approval.
    WaitingApproval,
    /// The run has ended with an answer.
    Completed,
    /// The run has ended without an answer.
    Failed,
    /// The run was cancelled.
    Cancelled,
}

/// A step of a run from one state to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// The turn of a queued or answered run has come.
    Start,
    /// The model asks the user.
    Ask,
    /// A call asks for approval.
    Request,
    /// The run goes on after the decision of a person.
    Decide,
    /// The model answers.
    Complete,
    /// The run cannot have an answer.
    Fail,
    /// A person ends the run.
    Cancel,
    /// The user sends another message to a run that has ended.
    Continue,
}

/// A step that a run cannot take in its state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a run that is {from:?} cannot take the step {step:?}")]
pub struct IllegalStep {
    /// The state, which stays.
    pub from: RunState,
    /// The step that was tried.
    pub step: Step,
}

/// The state of one run, which changes only by legal steps.
///
/// ```text
/// queued ──> running ──> completed
///             │  ▲ │  ▲ └──> failed
///             ▼  │ ▼  │
///   waiting_input  waiting_approval      (every state that is not an end) ──> failed, cancelled
///                                        completed, failed ──> queued
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lifecycle(RunState);

impl Default for Lifecycle {
    fn default() -> Self {
        Self(RunState::Queued)
    }
}

impl Lifecycle {
    /// Returns the state.
    #[must_use]
    pub const fn state(&self) -> RunState {
        self.0
    }

    /// Takes a step, and returns the new state.
    ///
    /// # Errors
    ///
    /// [`IllegalStep`]; the state is as before.
    pub const fn take(&mut self, step: Step) -> Result<RunState, IllegalStep> {
        use RunState::{
            Cancelled, Completed, Failed, Queued, Running, WaitingApproval, WaitingInput,
        };
        let to = match (self.0, step) {
            (Queued | WaitingInput, Step::Start) | (WaitingApproval, Step::Decide) => Running,
            (Running, Step::Ask) => WaitingInput,
            (Running, Step::Request) => WaitingApproval,
            (Running, Step::Complete) => Completed,
            (Queued | Running | WaitingInput | WaitingApproval, Step::Fail) => Failed,
            (Queued | Running | WaitingInput | WaitingApproval, Step::Cancel) => Cancelled,
            (Completed | Failed, Step::Continue) => Queued,
            (from, step) => return Err(IllegalStep { from, step }),
        };
        self.0 = to;
        Ok(to)
    }
}

impl RunState {
    /// Returns whether the run has ended; only another message of the user begins it again.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Returns the name that clients see.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::WaitingInput => "waiting_input",
            Self::WaitingApproval => "waiting_approval",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Cancelled => "cancelled",
        }
    }
}
