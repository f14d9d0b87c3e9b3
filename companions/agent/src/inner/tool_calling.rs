//! An agent for models that call tools natively.

use contract_runtime::Registry;

use super::{InnerAgent, Turn, begin, read_reply};
use crate::event::{Event, RunError};
use crate::generator::{Emitter, Events, stream_with};
use crate::message::Message;
use crate::model::{Model, Request};

/// Lets a model call the tools of a registry until it answers.
///
/// Several calls of one reply run as [`Registry::call_all`] runs them: the read-only ones side by side, the others in order.
#[derive(Debug)]
pub struct ToolCallingAgent<M> {
    model: M,
    registry: Registry,
    system: Option<String>,
}

impl<M: Model> ToolCallingAgent<M> {
    /// Creates an agent from a model and the tools that it may call.
    pub fn new(model: M, registry: Registry) -> Self {
        Self {
            model,
            registry,
            system: None,
        }
    }

    /// Sets a system prompt.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    async fn work(&self, turn: &Turn, emitter: &Emitter) -> Result<(), RunError> {
        let registry = turn.visible(&self.registry);
        begin(turn, self.system.clone());
        loop {
            turn.before_request().await;
            let messages = turn.conversation.messages();
            let mut request = Request::new(&messages).tools(&registry);
            request.response_schema = turn.answer_schema();
            let (text, calls, reasoning) =
                read_reply(turn, &self.model, request, emitter, usize::MAX, |text| text).await?;
            drop(messages);
            let message = Message::Assistant {
                text: text.clone(),
                calls: calls.clone(),
                reasoning,
            };
            if calls.is_empty() && text.trim().is_empty() {
                turn.conversation.push(message);
                return Err(RunError::NoAnswer);
            }
            if calls.is_empty() {
                turn.push_answer(message);
                emitter.emit(Event::Answer { text }).await;
                let Some(text) = turn.feedback() else {
                    return Ok(());
                };
                turn.conversation.push(Message::User { text });
                continue;
            }
            turn.conversation.push(message);
            emitter.emit(Event::Thought { text }).await;
            for outcome in turn.call_all(&registry, calls).await {
                turn.conversation.push(Message::Tool {
                    call_id: outcome.id().to_owned(),
                    tool: outcome.tool().to_owned(),
                    status: outcome.status(),
                    effect: outcome.effect(),
                    text: outcome.into_result().text().to_owned(),
                });
            }
            if let Some(text) = turn.feedback() {
                turn.conversation.push(Message::User { text });
            }
        }
    }
}

impl<M: Model> InnerAgent for ToolCallingAgent<M> {
    fn form(&self) -> &'static str {
        "tool calls"
    }

    fn stream(&self, turn: Turn) -> Events<'_> {
        stream_with(move |emitter| async move {
            if let Err(error) = self.work(&turn, &emitter).await {
                emitter.emit(Event::Error { error }).await;
            }
        })
    }
}
