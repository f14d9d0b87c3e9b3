//! What came of a run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Serialize;

use crate::agent::event::{Event, RunError};
use crate::agent::message::{Conversation, Message};
use crate::agent::model::Usage;
use crate::tool::Status;

/// What came of a run.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RunResult {
    /// The answer, which keeps every postcondition.
    pub answer: Option<String>,
    /// There is an answer. A failed call on the way does not change that.
    pub success: bool,
    /// Why there is none.
    pub error: Option<RunError>,
    /// How many steps there were.
    pub iterations: u64,
    /// What happened with the conditions.
    pub statistics: RunStatistics,
    /// What the model's replies cost, where it says so.
    pub usage: Usage,
    /// The last events, at most 1,000 of them; pieces of text are not among them.
    pub steps: Vec<Event>,
    /// What was said, without answers that were rejected; it can begin the next run.
    pub messages: Vec<Message>,
}

/// How many conditions of tools and of the run were reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunStatistics {
    /// Conditions that were evaluated.
    pub checks: u64,
    /// Conditions that did not hold.
    pub violations: u64,
    /// Conditions of the run that were not evaluated, under `ignore`.
    pub skipped: u64,
    /// How often the model was told what it broke, and went on.
    pub retries: u64,
}

/// The most events that a result holds.
const STEPS: usize = 1_000;

/// What is written down while a run goes on.
#[derive(Clone, Debug)]
pub(super) struct Record {
    noted: Arc<Mutex<Noted>>,
    pub(super) conversation: Conversation,
    /// How many messages there were before the run.
    past: usize,
}

#[derive(Debug, Default)]
pub(super) struct Noted {
    answer: Option<String>,
    error: Option<RunError>,
    pub(super) iterations: u64,
    pub(super) statistics: RunStatistics,
    pub(super) usage: Usage,
    steps: std::collections::VecDeque<Event>,
    pub(super) rejected: Vec<Rejected>,
}

/// An answer that nobody but the model may read.
#[derive(Debug)]
pub(super) struct Rejected {
    pub(super) answer: String,
    /// What the model is told of it, which may quote it.
    pub(super) feedback: String,
    /// Which message holds it, where the inner agent said so.
    pub(super) message: Option<usize>,
}

impl Record {
    pub(super) fn new(conversation: Conversation) -> Self {
        Self {
            noted: Arc::default(),
            past: conversation.messages().len(),
            conversation,
        }
    }

    pub(super) fn locked(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn event(&self, event: &Event) {
        let mut noted = self.locked();
        match event {
            Event::TextDelta { .. } => return,
            Event::Omitted { checks, violations } => {
                noted.statistics.checks += checks;
                noted.statistics.violations += violations;
            }
            Event::ContractCheck { .. } => noted.statistics.checks += 1,
            Event::ContractViolation { .. } => noted.statistics.violations += 1,
            Event::Retry { .. } => noted.statistics.retries += 1,
            Event::Answer { text } => noted.answer = Some(text.clone()),
            Event::Error { error } => noted.error = Some(error.clone()),
            _ => {}
        }
        if noted.steps.len() == STEPS {
            noted.steps.pop_front();
        }
        noted.steps.push_back(event.clone());
    }

    pub(super) fn finish(self) -> RunResult {
        let noted = std::mem::take(&mut *self.locked());
        RunResult {
            success: noted.answer.is_some() && noted.error.is_none(),
            answer: noted.answer,
            error: noted.error,
            iterations: noted.iterations,
            statistics: noted.statistics,
            usage: noted.usage,
            steps: noted.steps.into(),
            messages: told(&self.conversation.messages(), self.past, &noted.rejected),
        }
    }
}

/// What stands in the place of an answer that was rejected.
const REJECTED: &str = "(an answer that was rejected)";

/// The messages of a run, fit to be read by others and to begin the next run: every call in them has its answer.
fn told(messages: &[Message], past: usize, rejected: &[Rejected]) -> Vec<Message> {
    let mut told = messages.to_vec();
    for one in rejected {
        match one.message {
            Some(place) => hide_at(&mut told, place, one),
            None => told
                .iter_mut()
                .skip(past)
                .for_each(|message| hide_in(message, one)),
        }
    }
    let asked = told.iter().rposition(
        |message| matches!(message, Message::Assistant { calls, .. } if !calls.is_empty()),
    );
    if let Some(asked) = asked
        && let Message::Assistant { calls, .. } = &told[asked]
    {
        let answered = told[asked + 1..]
            .iter()
            .take_while(|message| matches!(message, Message::Tool { .. }))
            .count();
        let open: Vec<Message> = calls
            .iter()
            .skip(answered)
            .map(|call| Message::Tool {
                call_id: call.id.clone(),
                tool: call.name.clone(),
                status: Status::Cancelled,
                text: "the run ended before this call was answered".to_owned(),
            })
            .collect();
        told.splice(asked + 1 + answered..asked + 1 + answered, open);
    }
    told
}

/// Hides the message of an answer, and what the model was told of it.
fn hide_at(messages: &mut [Message], place: usize, rejected: &Rejected) {
    let mut after = messages.iter_mut().skip(place);
    if let Some(Message::Assistant { text, .. }) = after.next() {
        REJECTED.clone_into(text);
    }
    if let Some(Message::User { text }) = after.next()
        && text.contains(&rejected.feedback)
    {
        REFUSED.clone_into(text);
    }
}

/// Hides whatever holds the answer, because nobody said which message that is.
fn hide_in(message: &mut Message, rejected: &Rejected) {
    match message {
        Message::Assistant { text, .. }
            if !rejected.answer.is_empty() && text.contains(&rejected.answer) =>
        {
            REJECTED.clone_into(text);
        }
        Message::User { text } if text.contains(&rejected.feedback) => REFUSED.clone_into(text),
        _ => {}
    }
}

/// How the model is told that its answer was rejected; what follows may quote the answer.
pub(super) const REFUSED: &str = "this answer cannot be given: ";
