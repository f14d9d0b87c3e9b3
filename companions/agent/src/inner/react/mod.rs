//! An agent for text-only models (`ReAct`).

mod channels;
mod marks;
mod object;
mod parse;
mod prompt;

use contract_runtime::Registry;
use contract_runtime::ToolCall;

use parse::Step;

use super::{InnerAgent, Turn, begin, read_reply};
use crate::event::{Event, RunError};
use crate::generator::{Emitter, Events, stream_with};
use crate::message::Message;
use crate::model::{Model, Request};

/// Lets a text-only model call the tools of a registry until it answers (`ReAct`: Yao et al., 2022).
///
/// The prompt holds each tool with all that its contract says. Several ways to write a call are understood. What can be read in
/// two ways, what is not valid JSON and what is cut off runs nothing: the model is told so, three times in a row at most. An action
/// ends its reply, nothing but a thought precedes it, and none is read between `<think>` and `</think>`, in a code fence, or in another
/// channel than `final`.
///
/// ```
/// use contract_agent::{ContractAgent, ReActAgent, Scripted};
/// use contract_runtime::prelude::*;
///
/// /// Add two numbers.
/// #[tool]
/// fn add(a: i64, b: i64) -> i64 {
///     a.saturating_add(b)
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(add).build()?;
/// let model = Scripted::new()
///     .text("Thought: I add.\nAction: add\nAction Input: {\"a\": 2, \"b\": 3}")
///     .text("Answer: 5");
/// let agent = ContractAgent::builder(ReActAgent::new(model, registry)).build();
/// assert_eq!(agent.run("What is 2 + 3?").await.answer.as_deref(), Some("5"));
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct ReActAgent<M> {
    model: M,
    registry: Registry,
    system: Option<String>,
}

/// The most replies in a row that cannot be understood.
const UNCLEAR: usize = 3;

impl<M: Model> ReActAgent<M> {
    /// Creates an agent from a model and the tools that it may call.
    pub fn new(model: M, registry: Registry) -> Self {
        Self {
            model,
            registry,
            system: None,
        }
    }

    /// Sets a system prompt; the instructions for calling tools are appended.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    async fn work(&self, turn: &Turn, emitter: &Emitter) -> Result<(), RunError> {
        let registry = turn.visible(&self.registry);
        let system = prompt::system(self.system.as_deref(), &registry);
        begin(turn, Some(system));
        let stop = ["\nObservation:".to_owned()];
        let (mut calls, mut unclear) = (0_u64, 0);
        loop {
            turn.before_request().await;
            let messages = turn.conversation.messages();
            let mut request = Request::new(&messages);
            request.stop = &stop;
            let (text, _, reasoning) =
                read_reply(turn, &self.model, request, emitter, usize::MAX, |text| text).await?;
            drop(messages);
            let parsed = parse::parse(&text, &registry);
            let message = Message::Assistant {
                text,
                calls: Vec::new(),
                reasoning,
            };
            match parsed.step {
                Step::Answer(_) => turn.push_answer(message),
                _ => turn.conversation.push(message),
            }
            let told = match parsed.step {
                Step::Answer(text) => {
                    emitter.emit(Event::Answer { text }).await;
                    match turn.feedback() {
                        None => return Ok(()),
                        Some(feedback) => feedback,
                    }
                }
                Step::Unclear(why) => {
                    unclear += 1;
                    let text = parsed.thought;
                    emitter.emit(Event::Thought { text }).await;
                    if unclear == UNCLEAR {
                        return Err(RunError::Format { message: why });
                    }
                    why
                }
                Step::Call { tool, arguments } => {
                    unclear = 0;
                    calls += 1;
                    let text = parsed.thought;
                    emitter.emit(Event::Thought { text }).await;
                    let call = ToolCall::new(format!("call-{calls}"), tool, arguments);
                    self.call(turn, call).await;
                    match turn.feedback() {
                        None => continue,
                        Some(feedback) => feedback,
                    }
                }
            };
            turn.conversation.push(Message::User { text: told });
        }
    }

    /// Makes a call, and says what came of it.
    async fn call(&self, turn: &Turn, call: ToolCall) {
        for outcome in turn.call_all(&self.registry, vec![call]).await {
            let text = format!("Observation: {}", outcome.into_result().text());
            turn.conversation.push(Message::User { text });
        }
    }
}

impl<M: Model> InnerAgent for ReActAgent<M> {
    fn form(&self) -> &'static str {
        "react"
    }

    fn stream(&self, turn: Turn) -> Events<'_> {
        stream_with(move |emitter| async move {
            if let Err(error) = self.work(&turn, &emitter).await {
                emitter.emit(Event::Error { error }).await;
            }
        })
    }
}
