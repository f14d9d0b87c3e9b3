//! What drives a model through a task: `tool_calling`, `react` and `constrained` are the three kinds, and `shown` is how the last
//! two tell of tools.

mod constrained;
mod react;
mod shown;
mod tool_calling;

use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use constrained::{ConstrainedAgent, Enforcement};
pub use react::{ReActAgent, Repair};
pub use tool_calling::ToolCallingAgent;

use super::event::{Event, RunError};
use super::live::{Emitter, Events};
use super::message::{Conversation, Message};
use super::model::{Delta, Model, Request, Usage};
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
    between: Arc<Mutex<Between>>,
}

/// What an inner agent and the agent around it have to tell each other.
#[derive(Debug, Default)]
struct Between {
    /// For the model.
    feedback: Option<String>,
    /// Which message holds the answer that comes next.
    answer: Option<usize>,
}

impl Turn {
    /// A task without a past.
    pub fn new(task: impl Into<String>) -> Self {
        Self {
            task: task.into(),
            conversation: Conversation::default(),
            context: Context::new(),
            between: Arc::default(),
        }
    }

    /// What the model is to be told before it goes on, once.
    #[must_use]
    pub fn feedback(&self) -> Option<String> {
        self.locked().feedback.take()
    }

    /// Adds the message of the `Answer` that is emitted next to the conversation.
    ///
    /// Where the answer is rejected, [`RunResult::messages`](super::RunResult::messages) keeps this message back. Of an inner agent
    /// that adds it in another way, every message of the run that holds the text of the answer is kept back.
    pub fn push_answer(&self, message: Message) {
        let place = self.conversation.append(message);
        self.locked().answer = Some(place);
    }

    /// Tells the model something before it goes on.
    pub(crate) fn tell(&self, text: String) {
        let feedback = &mut self.locked().feedback;
        match feedback {
            Some(before) => {
                before.push('\n');
                before.push_str(&text);
            }
            None => *feedback = Some(text),
        }
    }

    /// Which message holds the answer that was just given, if that was said.
    pub(crate) fn take_answer(&self) -> Option<usize> {
        self.locked().answer.take()
    }

    fn locked(&self) -> MutexGuard<'_, Between> {
        self.between.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Begins to work on a task: a conversation that has not begun yet begins with what is wanted in general.
fn begin(turn: &Turn, system: impl FnOnce() -> Option<String>) {
    if turn.conversation.messages().is_empty()
        && let Some(text) = system()
    {
        turn.conversation.push(Message::System { text });
    }
    let text = turn.task.clone();
    turn.conversation.push(Message::User { text });
}

/// One reply of a model, told as it comes: its text and its calls.
async fn say(
    model: &impl Model,
    request: Request<'_>,
    emitter: &Emitter,
) -> Result<(String, Vec<ToolCall>), RunError> {
    let mut pieces = model.reply(request);
    let (mut text, mut calls) = (String::new(), Vec::new());
    let mut cost = Cost::default();
    while let Some(piece) = poll_fn(|task| pieces.as_mut().poll_next(task)).await {
        let piece = match piece {
            Ok(piece) => piece,
            Err(error) => {
                cost.close(emitter).await;
                return Err(RunError::model(&error));
            }
        };
        cost.note(&piece);
        match piece {
            Delta::Text(more) => {
                text.push_str(&more);
                emitter.emit(Event::TextDelta { text: more }).await;
            }
            Delta::Call(call) => calls.push(call),
            Delta::Usage(usage) => emitter.emit(Event::Usage { usage }).await,
        }
    }
    cost.close(emitter).await;
    Ok((text, calls))
}

/// Whether a reply said what it cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Cost {
    /// There is no reply yet.
    #[default]
    None,
    NotTold,
    Told,
}

impl Cost {
    fn note(&mut self, piece: &Delta) {
        match (piece, *self) {
            (Delta::Usage(_), _) => *self = Self::Told,
            (_, Self::None) => *self = Self::NotTold,
            _ => {}
        }
    }

    /// At the end of a reply: one that did not say it is counted as such.
    async fn close(self, emitter: &Emitter) {
        if self == Self::NotTold {
            let usage = Usage::uncounted();
            emitter.emit(Event::Usage { usage }).await;
        }
    }
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
