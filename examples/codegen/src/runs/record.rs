//! The saved state of a run, and its forms for clients.

use std::collections::BTreeSet;

use contract_remote::protocol::TaskId;
use serde::{Deserialize, Serialize};

use crate::contract::{
    Action, Approval, ApprovalAnswer, ChatResponse, IllegalStep, Lifecycle, Phase, Question,
    RunState, Step,
};

/// Identifies a run; it is random and cannot be guessed.
pub type RunId = TaskId;

/// Everything that is kept of a run besides its events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    /// The id of the run.
    pub id: RunId,
    /// When the run began, in milliseconds since 1970, UTC.
    pub began_ms: u64,
    /// The first message of the user.
    pub task: String,
    /// The state of the run.
    pub life: Lifecycle,
    /// The name that the executor gave to the project as it was before the run.
    pub before: Option<String>,
    /// The message for the model, from the request to the end of its turn.
    pub next: Option<String>,
    /// How many messages the log of the agent had before that turn.
    pub said: usize,
    /// When that turn began, in milliseconds since 1970, UTC.
    pub turn_began_ms: u64,
    /// The text to show to the user.
    pub message: String,
    /// The questions of the model.
    pub questions: Vec<Question>,
    /// The call that waits for a person.
    pub approval: Option<Approval>,
    /// The decision on that call, until the turn that it continues has ended.
    pub decided: Option<ApprovalAnswer>,
    /// The files that were written.
    pub written: BTreeSet<String>,
    /// The file that was written last.
    pub last_written: Option<String>,
}

/// The extensions of texts that are written for people.
const TEXTS: [&str; 3] = [".md", ".txt", ".adoc"];

impl RunRecord {
    pub(super) fn new(task: &str, began_ms: u64) -> Self {
        Self {
            id: RunId::random(),
            began_ms,
            task: task.to_owned(),
            life: Lifecycle::default(),
            before: None,
            next: Some(task.to_owned()),
            said: 0,
            turn_began_ms: 0,
            message: String::new(),
            questions: Vec::new(),
            approval: None,
            decided: None,
            written: BTreeSet::new(),
            last_written: None,
        }
    }

    /// Ends the run as cancelled, with a message that says so.
    pub(super) fn cancel(&mut self) -> Result<(), IllegalStep> {
        self.life.take(Step::Cancel)?;
        "The run was cancelled.".clone_into(&mut self.message);
        Ok(())
    }

    /// Whether the run waits for answers or a decision that have not come yet.
    pub(super) fn asks(&self) -> bool {
        match self.life.state() {
            RunState::WaitingInput => self.next.is_none(),
            RunState::WaitingApproval => self.decided.is_none(),
            _ => false,
        }
    }

    /// Whether the run is at work or waits for its turn.
    pub(super) fn is_due(&self) -> bool {
        !self.life.state().is_over() && !self.asks()
    }

    /// Returns the response to a client, after this many calls of tools.
    #[must_use]
    pub fn response(&self, calls: usize) -> ChatResponse {
        let state = self.life.state();
        let wait = Some(Action::Wait);
        let (phase, action, under_way) = match state {
            RunState::Queued => {
                let message = "It waits for its turn, or for an executor to dial in.";
                (Phase::Queued, wait, Some(message))
            }
            RunState::Running => (Phase::Building, wait, Some("The model is at work.")),
            RunState::WaitingApproval if self.asks() => {
                let message = "A call waits for approval.";
                (Phase::Approval, Some(Action::Approve), Some(message))
            }
            RunState::WaitingInput if self.asks() => (Phase::Interview, Some(Action::Answer), None),
            RunState::WaitingInput | RunState::WaitingApproval => (
                Phase::Building,
                wait,
                Some("The answer waits for its turn."),
            ),
            RunState::Completed => (Phase::Complete, None, None),
            RunState::Failed => (Phase::Failed, Some(Action::Restart), None),
            RunState::Cancelled => (Phase::Cancelled, Some(Action::Restart), None),
        };
        let is_text = |path: &String| TEXTS.iter().any(|end| path.ends_with(end));
        ChatResponse {
            session_id: self.id.to_string(),
            phase,
            message: under_way.unwrap_or(&self.message).to_owned(),
            is_complete: state.is_over(),
            preview_url: Some(format!("/#{}", self.id)),
            preview_html: None,
            progress: self.progress(calls),
            questions: match phase {
                Phase::Interview => self.questions.clone(),
                _ => Vec::new(),
            },
            approval: self.approval.clone().filter(|_| phase == Phase::Approval),
            action,
            product_doc_updated: self.written.iter().any(is_text),
            affected_pages: self.written.iter().cloned().collect(),
            active_page_slug: self.last_written.clone(),
        }
    }

    /// The number of calls that are left is unknown: each takes a sixth of the way that is left, so that the progress grows and
    /// does not reach 100 before the end.
    fn progress(&self, calls: usize) -> u8 {
        match self.life.state() {
            RunState::Queued => 0,
            state if state.is_over() => 100,
            _ => (0..calls.min(40)).fold(5, |done, _| done + (98 - done) / 6),
        }
    }
}
