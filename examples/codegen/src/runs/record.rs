//! The saved state of a run.

use std::collections::BTreeSet;
use std::fmt;

use contract_remote::protocol::TaskId;
use serde::{Deserialize, Serialize};

use crate::contract::{
    Action, Approval, ApprovalAnswer, ChatResponse, IllegalStep, Lifecycle, Phase, Question,
    RunState, Step,
};

/// Identifies a run; it is random and cannot be guessed.
pub type RunId = TaskId;

/// All that is kept of a run besides its events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    /// Which run.
    pub id: RunId,
    /// The backend that began it, or has taken a step of it since.
    pub owner: String,
    /// When it began, in milliseconds since 1970, UTC.
    pub began_ms: u64,
    /// What was asked for.
    pub task: String,
    /// Where it is.
    pub life: Lifecycle,
    /// Whose events count, from which one on.
    pub writers: Vec<Writer>,
    /// The number of the last event that belongs to this record.
    pub logged: u64,
    /// What the executor calls the project as it was before the run.
    pub before: Option<String>,
    /// What it calls the project as the last turn left it.
    pub left: Option<String>,
    /// What the model is told in the turn that is at work or waits for its place.
    pub next: Option<String>,
    /// How many messages the log of its agent had before that turn.
    #[serde(default)]
    pub said: usize,
    /// What the user is shown.
    pub message: String,
    /// What the model wants to know.
    pub questions: Vec<Question>,
    /// The call that waits for a person.
    #[serde(default)]
    pub approval: Option<Approval>,
    /// The last decision, for a process that goes on with the call.
    #[serde(default)]
    pub decided: Option<(Approval, ApprovalAnswer)>,
    /// Files that were written.
    pub written: BTreeSet<String>,
    /// The one that was written last.
    pub last_written: Option<String>,
}

/// A process that has written events of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Writer {
    /// What tells it from every other one.
    pub name: String,
    /// The number of the last event before its own.
    pub after: u64,
}

/// Another backend, which has a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// Its name.
    pub owner: String,
    /// How many seconds it has not shown that it is there, where that is long enough to be told.
    pub silent_s: Option<u64>,
}

/// A run in a list.
#[derive(Clone, Debug, Serialize)]
pub struct RunView {
    /// Which run.
    pub id: RunId,
    /// The backend that began it, or has taken a step of it since.
    pub owner: String,
    /// How many seconds that one has not shown that it is there, where it is another one and that is long enough to be told.
    pub silent_s: Option<u64>,
    /// When it began, in milliseconds since 1970, UTC.
    pub began_ms: u64,
    /// What was asked for.
    pub task: String,
    /// Where it is.
    pub state: RunState,
    /// The questions that wait for an answer.
    pub questions: Vec<Question>,
}

/// The extensions of texts that are written for people.
const TEXTS: [&str; 3] = [".md", ".txt", ".adoc"];

impl RunRecord {
    pub(super) fn new(owner: &str, task: &str, began_ms: u64) -> Self {
        Self {
            id: RunId::random(),
            owner: owner.to_owned(),
            writers: Vec::new(),
            logged: 0,
            before: None,
            left: None,
            began_ms,
            task: task.to_owned(),
            life: Lifecycle::default(),
            next: Some(task.to_owned()),
            said: 0,
            decided: None,
            message: String::new(),
            questions: Vec::new(),
            approval: None,
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

    /// Whose events come last.
    pub(super) fn is_written_by(&self, writer: &str) -> bool {
        self.writers.last().is_some_and(|last| last.name == writer)
    }

    /// Whose event counts, of those that have a number.
    pub(super) fn writer_of(&self, sequence: u64) -> Option<&str> {
        let mut writers = self.writers.iter().rev();
        let writer = writers.find(|writer| writer.after < sequence)?;
        Some(&writer.name)
    }

    /// Returns the run as lists show it; `elsewhere` if another backend has it.
    #[must_use]
    pub fn view(&self, elsewhere: Option<&Elsewhere>) -> RunView {
        RunView {
            id: self.id,
            owner: self.owner.clone(),
            silent_s: elsewhere.and_then(|elsewhere| elsewhere.silent_s),
            began_ms: self.began_ms,
            task: self.task.clone(),
            state: self.life.state(),
            questions: self.questions.clone(),
        }
    }

    /// Returns what a client of the service sees after this many calls of tools; `elsewhere` if another backend has the run.
    #[must_use]
    pub fn response(&self, calls: usize, elsewhere: Option<&Elsewhere>) -> ChatResponse {
        let state = self.life.state();
        let waits = state == RunState::WaitingInput && self.next.is_none();
        let (phase, action) = match state {
            RunState::Queued => (Phase::Queued, Some(Action::Wait)),
            RunState::WaitingInput if waits => (Phase::Interview, Some(Action::Answer)),
            RunState::Running | RunState::WaitingInput => (Phase::Building, Some(Action::Wait)),
            RunState::WaitingApproval if elsewhere.is_some() => {
                (Phase::Approval, Some(Action::Wait))
            }
            RunState::WaitingApproval => (Phase::Approval, Some(Action::Approve)),
            RunState::Completed => (Phase::Complete, None),
            RunState::Failed => (Phase::Failed, Some(Action::Restart)),
            RunState::Cancelled => (Phase::Cancelled, Some(Action::Restart)),
        };
        let under_way = match state {
            RunState::Queued => Some("It waits for its turn, or for an executor to dial in"),
            RunState::Running => Some("The model is at work"),
            RunState::WaitingApproval => Some("A call waits for approval"),
            _ if phase == Phase::Building => Some("The answers wait for their turn"),
            _ => None,
        };
        let message = match (under_way, elsewhere) {
            (None, _) => self.message.clone(),
            (Some(what), None) => format!("{what}."),
            (Some(what), Some(elsewhere)) => format!("{what}{elsewhere}"),
        };
        ChatResponse {
            session_id: self.id.to_string(),
            phase,
            message,
            is_complete: state.is_over(),
            preview_url: Some(format!("/#{}", self.id)),
            preview_html: None,
            progress: self.progress(calls),
            questions: if waits {
                self.questions.clone()
            } else {
                Vec::new()
            },
            approval: self
                .approval
                .clone()
                .filter(|_| state == RunState::WaitingApproval),
            action,
            product_doc_updated: self.written.iter().any(|path| is_text(path)),
            affected_pages: self.written.iter().cloned().collect(),
            active_page_slug: self.last_written.clone(),
        }
    }

    /// The number of calls that are left is unknown: each takes a sixth of the way that is left, so that it grows and never lies
    /// that it is over.
    fn progress(&self, calls: usize) -> u8 {
        match self.life.state() {
            RunState::Queued => 0,
            state if state.is_over() => 100,
            _ => (0..calls.min(40)).fold(5, |done, _| done + (98 - done) / 6),
        }
    }
}

fn is_text(path: &str) -> bool {
    TEXTS.iter().any(|end| path.ends_with(end))
}

impl fmt::Display for Elsewhere {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " at the backend `{}`", self.owner)?;
        match self.silent_s {
            None => f.write_str("."),
            Some(seconds) => write!(
                f,
                ", which has shown no sign of life for {seconds} s. If it is gone, this stays so until it is started again \
                 under its name; cancelling the session ends it."
            ),
        }
    }
}
