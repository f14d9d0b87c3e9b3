use std::collections::BTreeSet;

use contract_runtime::agent::Message;
use contract_runtime::remote::protocol::TaskId;
use serde::{Deserialize, Serialize};

use crate::contract::{Action, ChatResponse, Lifecycle, Phase, Question, RunState};

/// What tells one run from another; nobody guesses it.
pub type RunId = TaskId;

/// All that is kept of a run besides its events.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RunRecord {
    /// Which run.
    pub id: RunId,
    /// When it began, in milliseconds since 1970, UTC.
    pub began_ms: u64,
    /// What was asked for.
    pub task: String,
    /// Where it is.
    pub life: Lifecycle,
    /// What the model is told when it begins or goes on.
    pub next: Option<String>,
    /// What was said so far; empty before the first turn has ended.
    pub said: Vec<Message>,
    /// What the user is shown.
    pub message: String,
    /// What the model wants to know.
    pub questions: Vec<Question>,
    /// Files that were written.
    pub written: BTreeSet<String>,
    /// The one that was written last.
    pub last_written: Option<String>,
}

/// A run in a list.
#[derive(Clone, Debug, Serialize)]
pub struct RunView {
    /// Which run.
    pub id: RunId,
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
    pub(super) fn new(task: &str, began_ms: u64) -> Self {
        Self {
            id: RunId::random(),
            began_ms,
            task: task.to_owned(),
            life: Lifecycle::default(),
            next: Some(task.to_owned()),
            said: Vec::new(),
            message: String::new(),
            questions: Vec::new(),
            written: BTreeSet::new(),
            last_written: None,
        }
    }

    pub(super) fn view(&self) -> RunView {
        RunView {
            id: self.id,
            began_ms: self.began_ms,
            task: self.task.clone(),
            state: self.life.state(),
            questions: self.questions.clone(),
        }
    }

    /// What a client of the service is told, after this many calls of tools.
    #[must_use]
    pub fn response(&self, calls: usize) -> ChatResponse {
        let state = self.life.state();
        let waits = state == RunState::WaitingInput && self.next.is_none();
        let (phase, action) = match state {
            RunState::Queued => (Phase::Queued, Some(Action::Wait)),
            RunState::WaitingInput if waits => (Phase::Interview, Some(Action::Answer)),
            RunState::Running | RunState::WaitingInput => (Phase::Building, Some(Action::Wait)),
            RunState::Completed => (Phase::Complete, None),
            RunState::Failed => (Phase::Failed, Some(Action::Restart)),
            RunState::Cancelled => (Phase::Cancelled, Some(Action::Restart)),
        };
        let message = match state {
            RunState::Queued => "It waits for its turn, or for an executor to dial in.",
            RunState::Running => "The model is at work.",
            _ if phase == Phase::Building => "The answers wait for their turn.",
            _ => &self.message,
        };
        ChatResponse {
            session_id: self.id.to_string(),
            phase,
            message: message.to_owned(),
            is_complete: state.is_over(),
            preview_url: Some(format!("/#{}", self.id)),
            preview_html: None,
            progress: self.progress(calls),
            questions: if waits {
                self.questions.clone()
            } else {
                Vec::new()
            },
            action,
            product_doc_updated: self.written.iter().any(|path| is_text(path)),
            affected_pages: self.written.iter().cloned().collect(),
            active_page_slug: self.last_written.clone(),
        }
    }

    /// Nobody knows how many calls are left: each takes a sixth of the way that is left, so that it grows and never lies
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
