//! What drives a model through a task.

mod constrained;
mod react;
mod tool_calling;

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};

pub use constrained::{ConstrainedAgent, Enforcement};
pub use react::{ReActAgent, Repair};
pub use tool_calling::ToolCallingAgent;

use super::event::{Event, RunError};
use super::live::{Emitter, Events};
use super::message::Conversation;
use super::model::{Delta, Model, Request};
use crate::tool::{Context, Outcome, ToolCall};

/// Drives a model through a task and says what happens.
///
/// An agent of one's own keeps to this: a `Thought` (perhaps empty) for each reply that calls tools, an `Action` before each
/// call, calls made with [`Turn::context`], an `Observation` for each outcome, and an `Answer`. After an `Answer`, and after
/// a step, [`Turn::feedback`] says whether the run goes on with something to tell the model.
pub trait InnerAgent: Send + Sync {
    /// Works on a task. Dropping the stream stops all work.
    fn stream(&self, turn: Turn) -> Events<'_>;
}

impl<I: InnerAgent + ?Sized> InnerAgent for Arc<I> {
    fn stream(&self, turn: Turn) -> Events<'_> {
        (**self).stream(turn)
    }
}

impl<I: InnerAgent + ?Sized> InnerAgent for Box<I> {
    fn stream(&self, turn: Turn) -> Events<'_> {
        (**self).stream(turn)
    }
}

/// One task, and what belongs to working on it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Turn {
    /// What is to be done.
    pub task: String,
    /// What was said before, and what is said in this run.
    pub conversation: Conversation,
    /// For every call of a tool: it makes the call part of the run.
    pub context: Context,
    feedback: Arc<Mutex<Option<String>>>,
}

impl Turn {
    /// A task without a past.
    pub fn new(task: impl Into<String>) -> Self {
        Self {
            task: task.into(),
            conversation: Conversation::default(),
            context: Context::new(),
            feedback: Arc::default(),
        }
    }

    /// What the model is to be told before it goes on, once.
    #[must_use]
    pub fn feedback(&self) -> Option<String> {
        self.feedback
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take()
    }

    /// Tells the model something before it goes on.
    pub(crate) fn tell(&self, text: String) {
        *self.feedback.lock().unwrap_or_else(PoisonError::into_inner) = Some(text);
    }
}

/// One reply of a model, told as it comes: its text and its calls.
async fn say(
    model: &impl Model,
    request: Request<'_>,
    emitter: &Emitter,
) -> Result<(String, Vec<ToolCall>), RunError> {
    let mut pieces = model.reply(request);
    let (mut text, mut calls) = (String::new(), Vec::new());
    while let Some(piece) = poll_fn(|task| pieces.as_mut().poll_next(task)).await {
        match piece.map_err(|error| RunError::model(&error))? {
            Delta::Text(more) => {
                text.push_str(&more);
                emitter.emit(Event::TextDelta { text: more }).await;
            }
            Delta::Call(call) => calls.push(call),
            Delta::Usage(usage) => emitter.emit(Event::Usage { usage }).await,
        }
    }
    Ok((text, calls))
}

/// Tells what came of a call, and gives what the model reads of it.
async fn observe(outcome: Outcome, emitter: &Emitter) -> String {
    let (call_id, tool, status) = (
        outcome.id().to_owned(),
        outcome.tool().to_owned(),
        outcome.status(),
    );
    let text = outcome.into_result().text().to_owned();
    emitter
        .emit(Event::Observation {
            call_id,
            tool,
            status,
            text: text.clone(),
        })
        .await;
    text
}
