//! The inner agents, which drive a model through a task.
//!
//! The three kinds are `tool_calling`, `react` and `constrained`; `tool_prompt` renders the tools for the last two.

mod constrained;
mod react;
mod tool_calling;
mod tool_prompt;

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;

use contract_runtime::{Context, Outcome, Registry, ToolCall};
use parking_lot::Mutex;
use serde_json::Value;
use tokio::sync::oneshot;

pub use constrained::{ConstrainedAgent, reply_schema};
pub use react::ReActAgent;
pub use tool_calling::ToolCallingAgent;

use super::event::{Event, RunError};
use super::generator::{Emitter, Events};
use super::message::{Conversation, Message};
use super::model::{Delta, Model, Reasoning, Request, Usage};

/// Drives a model through a task: asks it, says which calls it wants, and emits its thoughts and its answer.
///
/// The [`ContractAgent`](super::ContractAgent) around it makes the calls and reports them. An implementation calls
/// [`Turn::before_request`] before each request. For each reply that calls tools it emits a `Thought`, which may be empty, and then
/// awaits [`Turn::call_all`]. For a reply that answers it emits an `Answer`. After either of them, [`Turn::feedback`] returns the
/// feedback for the model, if there is any.
pub trait InnerAgent: Send + Sync {
    /// Works on a task. Dropping the stream stops all work.
    fn stream(&self, turn: Turn) -> Events<'_>;

    /// Returns the name of the form in which it reads replies. A run is resumed by an agent of the same form; one without a name
    /// resumes any.
    fn form(&self) -> &'static str {
        ""
    }
}

impl<I: InnerAgent + ?Sized> InnerAgent for Arc<I> {
    fn stream(&self, turn: Turn) -> Events<'_> {
        (**self).stream(turn)
    }

    fn form(&self) -> &'static str {
        (**self).form()
    }
}

impl<I: InnerAgent + ?Sized> InnerAgent for Box<I> {
    fn stream(&self, turn: Turn) -> Events<'_> {
        (**self).stream(turn)
    }

    fn form(&self) -> &'static str {
        (**self).form()
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
    pub(crate) context: Context,
    pub(crate) answer_schema: Option<Arc<Value>>,
    exchange: Arc<Mutex<Exchange>>,
}

/// The state that an inner agent and the agent around it share.
#[derive(Debug, Default)]
struct Exchange {
    /// Feedback for the model, which it gets before it is asked again.
    feedback: Option<String>,
    /// The index of the message with the answer that is emitted next.
    answer: Option<usize>,
    /// The last reply of a resumed run, until the inner agent takes it.
    stored: Option<Message>,
    /// Whether the task is in the conversation already.
    resumed: bool,
    /// What the inner agent waits for.
    wanted: VecDeque<(Wanted, oneshot::Sender<Vec<Outcome>>)>,
}

/// What an inner agent asks the agent around it for.
#[derive(Debug)]
pub(crate) enum Wanted {
    /// To ask the model.
    Request,
    Calls(Registry, Vec<ToolCall>),
}

impl Turn {
    pub(crate) fn new(task: String, conversation: Conversation, context: Context) -> Self {
        Self {
            task,
            conversation,
            context,
            answer_schema: None,
            exchange: Arc::default(),
        }
    }

    /// Makes it the turn of a resumed run. `reply` is the last message of its conversation, if that is a reply.
    pub(crate) fn resumed(self, reply: Option<Message>) -> Self {
        let mut exchange = self.exchange.lock();
        exchange.stored = reply;
        exchange.resumed = true;
        drop(exchange);
        self
    }

    /// Takes the last reply of a resumed run. An inner agent acts on it as on a reply that it has just read from the model.
    ///
    /// The conversation does not have it yet. A run whose inner agent leaves it and asks the model ends.
    #[must_use]
    pub fn stored_reply(&self) -> Option<(String, Vec<ToolCall>, Option<Reasoning>)> {
        match self.exchange.lock().stored.take()? {
            Message::Assistant {
                text,
                calls,
                reasoning,
            } => Some((text, calls, reasoning)),
            _ => None,
        }
    }

    pub(crate) fn has_stored_reply(&self) -> bool {
        self.exchange.lock().stored.is_some()
    }

    /// Returns the JSON Schema of the answer, for [`Request::response_schema`](crate::Request::response_schema). `None` if any text
    /// will do, or if it is not the schema of an object. The task holds it in any case.
    #[must_use]
    pub fn answer_schema(&self) -> Option<&Value> {
        self.answer_schema.as_deref()
    }

    /// Returns a registry with the tools that the run may see, from which an inner agent makes its listing at its start; see
    /// [`Registry::visible_to`].
    #[must_use]
    pub fn visible(&self, registry: &Registry) -> Registry {
        registry.visible_to(&self.context)
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
        // A stored reply is paid for.
        if !self.has_stored_reply() {
            self.ask(Wanted::Request).await;
        }
    }

    /// Has the calls of one reply made as parts of the run, and returns their outcomes in the order of the calls.
    ///
    /// It does not return if a violation, a budget, a loop or a missing approver ends the run.
    pub async fn call_all(&self, registry: &Registry, calls: Vec<ToolCall>) -> Vec<Outcome> {
        self.ask(Wanted::Calls(registry.clone(), calls)).await
    }

    /// Each asker has a channel of its own, so that one that is dropped leaves nothing to the next.
    async fn ask(&self, wanted: Wanted) -> Vec<Outcome> {
        let (send, given) = oneshot::channel();
        self.exchange.lock().wanted.push_back((wanted, send));
        given.await.unwrap_or_default()
    }

    /// Takes the next thing that the inner agent waits for, and where to send the outcomes.
    pub(crate) fn take_wanted(&self) -> Option<(Wanted, oneshot::Sender<Vec<Outcome>>)> {
        let wanted = &mut self.exchange.lock().wanted;
        std::iter::from_fn(|| wanted.pop_front()).find(|(_, send)| !send.is_closed())
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
    if !turn.exchange.lock().resumed {
        let text = turn.task.clone();
        turn.conversation.push(Message::User { text });
    }
}

/// Reads one reply of a model, and returns its text, calls and reasoning; it may be stored. What `show` makes of a piece of text is
/// emitted as it arrives. A reply whose text is longer than `most` bytes is stopped.
async fn read_reply(
    turn: &Turn,
    model: &impl Model,
    request: Request<'_>,
    emitter: &Emitter,
    most: usize,
    mut show: impl FnMut(String) -> String + Send,
) -> Result<(String, Vec<ToolCall>, Option<Reasoning>), RunError> {
    if let Some(stored) = turn.stored_reply() {
        return Ok(stored);
    }
    let mut pieces = model.reply(request);
    let (mut text, mut calls, mut reasoning) = (String::new(), Vec::new(), None);
    let (mut begun, mut reported, mut failed) = (false, false, None);
    while let Some(piece) = poll_fn(|task| pieces.as_mut().poll_next(task)).await {
        begun |= piece.is_ok();
        match piece {
            Ok(Delta::Text(more)) => {
                text.push_str(&more);
                if text.len() > most {
                    break;
                }
                let text = show(more);
                if !text.is_empty() {
                    emitter.emit(Event::TextDelta { text }).await;
                }
            }
            Ok(Delta::Reasoning(text)) => emitter.emit(Event::Reasoning { text }).await,
            Ok(Delta::KeptReasoning(kept)) => reasoning = Some(kept),
            Ok(Delta::Call(call)) => calls.push(call),
            Ok(Delta::Usage(usage)) => {
                reported = true;
                emitter.emit(Event::Usage { usage }).await;
            }
            Err(error) => {
                failed = Some(RunError::Model { error });
                break;
            }
        }
    }
    // A reply that did not report its usage is counted as such.
    if begun && !reported {
        let usage = Usage::uncounted();
        emitter.emit(Event::Usage { usage }).await;
    }
    failed.map_or(Ok((text, calls, reasoning)), Err)
}
