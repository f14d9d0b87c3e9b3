//! The states of a run, and the legal transitions between them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Where a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunState {
    /// It waits for its turn, or for an executor.
    Queued,
    /// The model is at work.
    Running,
    /// The model has asked something and waits for the answers.
    WaitingInput,
    /// A call waits for a person's approval.
    WaitingApproval,
    /// It has ended with an answer.
    Completed,
    /// It has ended without one.
    Failed,
    /// Somebody has ended it.
    Cancelled,
}

/// What moves a run from one state to the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Step {
    /// Its turn has come: queued, or waiting and now answered.
    Start,
    /// The model asks.
    Ask,
    /// A call asks a person.
    Request,
    /// The person has decided.
    Decide,
    /// The model answers.
    Complete,
    /// There will be no answer.
    Fail,
    /// Somebody ends it.
    Cancel,
    /// Somebody says something else to a run that has ended.
    Continue,
}

/// A step that a run cannot take where it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a run that is {from:?} cannot take the step {step:?}")]
pub struct IllegalStep {
    /// Where it is, and stays.
    pub from: RunState,
    /// What was tried.
    pub step: Step,
}

/// The state of one run, which changes by legal steps and in no other way.
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
    /// Returns where the run is.
    #[must_use]
    pub const fn state(&self) -> RunState {
        self.0
    }

    /// Takes a step, and says where the run is then.
    ///
    /// # Errors
    ///
    /// [`IllegalStep`]; the run stays where it is.
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
    /// Whether it has ended; only somebody who says something else to it begins it again.
    #[must_use]
    pub const fn is_over(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Cancelled)
    }

    /// Whether its backend is at work on it, or will be as soon as a person has decided.
    #[must_use]
    pub const fn is_at_work(self) -> bool {
        matches!(self, Self::Running | Self::WaitingApproval)
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
