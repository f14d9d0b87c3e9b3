//! An agent for models that only write text.

mod lenient;
mod parse;
mod prompt;

pub use lenient::Repair;

use super::{InnerAgent, Turn, begin, say};
use crate::agent::event::{Event, RunError};
use crate::agent::live::{Emitter, Events, live};
use crate::agent::message::Message;
use crate::agent::model::{Model, Request};
use crate::registry::Registry;
use crate::tool::ToolCall;
use parse::Step;

/// Lets a model call the tools of a registry by writing so in text, until it answers (`ReAct`: Yao et al., 2022).
///
/// The prompt holds each tool with all that its contract says. Several ways to write a call are understood; what is half
/// written is repaired only where that has one meaning, and the repair is an event. What cannot be understood is said to
/// the model, three times in a row at most.
///
/// ```
/// use contract_runtime::agent::{ContractAgent, ReActAgent, Scripted};
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
    /// An agent of a model and the tools that it may call.
    pub fn new(model: M, registry: Registry) -> Self {
        Self {
            model,
            registry,
            system: None,
        }
    }

    /// Says what is wanted of the model in general; how to call tools is added.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    async fn work(&self, turn: &Turn, emitter: &Emitter) -> Result<(), RunError> {
        begin(turn, || {
            Some(prompt::system(self.system.as_deref(), &self.registry))
        });
        let stop = ["\nObservation:".to_owned()];
        let (mut calls, mut unclear) = (0_u64, 0);
        loop {
            let messages = turn.conversation.messages();
            let mut request = Request::new(&messages);
            request.stop = &stop;
            let (text, _) = say(&self.model, request, emitter).await?;
            drop(messages);
            let parsed = parse::parse(&text, &self.registry);
            let message = Message::Assistant {
                text,
                calls: Vec::new(),
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
                Step::Call {
                    tool,
                    arguments,
                    repairs,
                } => {
                    unclear = 0;
                    calls += 1;
                    let text = parsed.thought;
                    emitter.emit(Event::Thought { text }).await;
                    let call = ToolCall::new(format!("call-{calls}"), tool, arguments);
                    self.call(turn, emitter, call, repairs).await
                }
            };
            turn.conversation.push(Message::User { text: told });
        }
    }

    /// Makes a call, and gives what the model reads of it.
    async fn call(
        &self,
        turn: &Turn,
        emitter: &Emitter,
        call: ToolCall,
        repairs: Vec<Repair>,
    ) -> String {
        if !repairs.is_empty() {
            let call_id = call.id.clone();
            emitter.emit(Event::Repaired { call_id, repairs }).await;
        }
        emitter.emit(Event::Action { call: call.clone() }).await;
        let outcome = self.registry.call_with(call, turn.context.clone()).await;
        let text = super::observe(outcome, emitter).await;
        match turn.feedback() {
            Some(feedback) => format!("Observation: {text}\n{feedback}"),
            None => format!("Observation: {text}"),
        }
    }
}

impl<M: Model> InnerAgent for ReActAgent<M> {
    fn stream(&self, turn: Turn) -> Events<'_> {
        live(move |emitter| async move {
            if let Err(error) = self.work(&turn, &emitter).await {
                emitter.emit(Event::Error { error }).await;
            }
        })
    }
}
