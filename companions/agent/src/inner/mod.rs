//! The inner agents, which drive a model through a task.
//!
//! The three kinds are `tool_calling`, `react` and `constrained`; `tool_prompt` renders the tools for the last two.

mod constrained;
mod react;
mod tool_calling;
mod tool_prompt;

use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;

use contract_runtime::{Context, Effect, Outcome, Status, ToolCall};
use parking_lot::Mutex;

pub use constrained::{ConstrainedAgent, Enforcement};
pub use react::{ReActAgent, Repair};
pub use tool_calling::ToolCallingAgent;

use super::event::{Event, RunError};
use super::generator::{Emitter, Events};
use super::message::{Conversation, Message};
use super::model::{Delta, Model, Request, Usage};

/// Drives a model through a task and emits events.
///
/// An agent of one's own keeps to this: [`Turn::before_request`] before each request, a `Thought` (perhaps empty) for each reply
/// that calls tools, an `Action` before each call, calls made with [`Turn::context`], an `Observation` for each outcome, and an
/// `Answer`. After an `Answer`, and after a step, [`Turn::feedback`] says whether the run goes on with something to tell the model.
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

/// One task, with everything needed to work on it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Turn {
    /// The task.
    pub task: String,
    /// The conversation: earlier messages, and those of this run.
    pub conversation: Conversation,
    /// The context of every tool call, which makes the call part of the run.
    pub context: Context,
    exchange: Arc<Mutex<Exchange>>,
}

/// What an inner agent and the agent around it have to tell each other.
#[derive(Debug, Default)]
struct Exchange {
    /// For the model.
    feedback: Option<String>,
    /// Which message holds the answer that comes next.
    answer: Option<usize>,
    /// The model is about to be asked.
    requests: bool,
}

impl Turn {
    /// Creates a task without an earlier conversation.
    pub fn new(task: impl Into<String>) -> Self {
        Self {
            task: task.into(),
            conversation: Conversation::default(),
            context: Context::new(),
            exchange: Arc::default(),
        }
    }

    /// Takes the feedback that the model is to get before it goes on.
    #[must_use]
    pub fn feedback(&self) -> Option<String> {
        self.exchange.lock().feedback.take()
    }

    /// Announces the next request to the model: the run may end here, before the reply is paid for.
    ///
    /// Without it, budgets are judged when the reply has come.
    pub async fn before_request(&self) {
        self.exchange.lock().requests = true;
        let mut looked_at = false;
        poll_fn(|task| {
            if std::mem::replace(&mut looked_at, true) {
                return Poll::Ready(());
            }
            task.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    }

    /// Whether that was just said.
    pub(crate) fn take_request(&self) -> bool {
        std::mem::take(&mut self.exchange.lock().requests)
    }

    /// Adds the message of the next emitted `Answer` to the conversation.
    ///
    /// Where the answer is rejected, [`RunResult::messages`](super::RunResult::messages) keeps this message back. Of an inner agent
    /// that adds it in another way, every message of the run that holds the text of the answer is kept back.
    pub fn push_answer(&self, message: Message) {
        let place = self.conversation.append(message);
        self.exchange.lock().answer = Some(place);
    }

    /// Tells the model something before it goes on.
    pub(crate) fn add_feedback(&self, text: String) {
        let feedback = &mut self.exchange.lock().feedback;
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
        self.exchange.lock().answer.take()
    }
}

/// Begins to work on a task, with what is wanted in general.
fn begin(turn: &Turn, system: Option<String>) {
    turn.conversation.answer_open_calls();
    turn.conversation.instruct(system);
    let text = turn.task.clone();
    turn.conversation.push(Message::User { text });
}

/// Reads one reply of a model, emitting its text as it arrives, and returns its text and calls.
async fn read_reply(
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

/// Whether a reply reported its usage.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Cost {
    /// There is no reply yet.
    #[default]
    None,
    Unreported,
    Reported,
}

impl Cost {
    fn note(&mut self, piece: &Delta) {
        match (piece, *self) {
            (Delta::Usage(_), _) => *self = Self::Reported,
            (_, Self::None) => *self = Self::Unreported,
            _ => {}
        }
    }

    /// Ends a reply: one that did not report its usage is counted as such.
    async fn close(self, emitter: &Emitter) {
        if self == Self::Unreported {
            let usage = Usage::uncounted();
            emitter.emit(Event::Usage { usage }).await;
        }
    }
}

/// The outcome of a call, as events and the model get it.
struct CallOutcome {
    call_id: String,
    tool: String,
    status: Status,
    effect: Effect,
    text: String,
}

impl CallOutcome {
    fn of(outcome: Outcome) -> Self {
        Self {
            call_id: outcome.id().to_owned(),
            tool: outcome.tool().to_owned(),
            status: outcome.status(),
            effect: outcome.effect(),
            text: outcome.into_result().text().to_owned(),
        }
    }

    /// Must follow its message in the conversation: a reader of the events may end the run there.
    async fn emit(self, emitter: &Emitter) {
        let Self {
            call_id,
            tool,
            status,
            effect,
            text,
        } = self;
        emitter
            .emit(Event::Observation {
                call_id,
                tool,
                status,
                effect,
                text,
            })
            .await;
    }
}
