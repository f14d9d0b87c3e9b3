//! An agent for models that call tools natively.

use super::{InnerAgent, Turn, begin, observe, say};
use crate::agent::event::{Event, RunError};
use crate::agent::live::{Emitter, Events, live};
use crate::agent::message::Message;
use crate::agent::model::{Model, Request};
use crate::registry::Registry;

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
    /// An agent of a model and the tools that it may call.
    pub fn new(model: M, registry: Registry) -> Self {
        Self {
            model,
            registry,
            system: None,
        }
    }

    /// Says what is wanted of the model in general.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    async fn work(&self, turn: &Turn, emitter: &Emitter) -> Result<(), RunError> {
        begin(turn, || self.system.clone());
        loop {
            let messages = turn.conversation.messages();
            let request = Request::new(&messages).tools(&self.registry);
            let (text, calls) = say(&self.model, request, emitter).await?;
            drop(messages);
            let message = Message::Assistant {
                text: text.clone(),
                calls: calls.clone(),
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
            for call in &calls {
                let call = call.clone();
                emitter.emit(Event::Action { call }).await;
            }
            let outcomes = self
                .registry
                .call_all_with(calls, turn.context.clone())
                .await;
            for outcome in outcomes {
                let (call_id, tool, status) = (
                    outcome.id().to_owned(),
                    outcome.tool().to_owned(),
                    outcome.status(),
                );
                let text = observe(outcome, emitter).await;
                turn.conversation.push(Message::Tool {
                    call_id,
                    tool,
                    status,
                    text,
                });
            }
            if let Some(text) = turn.feedback() {
                turn.conversation.push(Message::User { text });
            }
        }
    }
}

impl<M: Model> InnerAgent for ToolCallingAgent<M> {
    fn stream(&self, turn: Turn) -> Events<'_> {
        live(move |emitter| async move {
            if let Err(error) = self.work(&turn, &emitter).await {
                emitter.emit(Event::Error { error }).await;
            }
        })
    }
}
