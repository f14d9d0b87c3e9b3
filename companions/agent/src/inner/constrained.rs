//! An agent for text-only models whose replies are constrained to one JSON object.

mod prompt;
mod reply;
mod schema;
mod transcript;

use contract_runtime::Registry;
use contract_runtime::ToolCall;

use serde_json::Value;

use reply::ParsedReply;
pub use schema::reply_schema;
use transcript::Transcript;

use super::{InnerAgent, Turn, begin, read_reply};
use crate::event::{Event, REPLY, RunError};
use crate::generator::{Emitter, Events, stream_with};
use crate::message::Message;
use crate::model::{Model, ModelError, Reasoning, Request};

/// Lets a text-only model call tools and answer, with each reply constrained to one JSON object.
///
/// ```
/// use contract_agent::{ConstrainedAgent, ContractAgent, Scripted};
/// use contract_runtime::prelude::*;
///
/// /// Set the temperature of a room, in degrees Celsius.
/// #[tool]
/// #[pre(degrees >= 5 && degrees <= 30)]
/// fn heat(degrees: u8) -> String {
///     format!("{degrees} degrees")
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(heat).build()?;
/// let model = Scripted::new()
///     .text(r#"{"reasoning":"Warm is 21.","type":"tool_call","tool":"heat","arguments":{"degrees":21}}"#)
///     .text(r#"{"type":"answer","content":"It will be warm."}"#);
/// let agent = ContractAgent::builder(ConstrainedAgent::new(model, registry)).build();
///
/// let result = agent.run("Make it warm.").await;
/// assert_eq!(result.answer.as_deref(), Some("It will be warm."));
/// # Ok(()) }
/// ```
///
/// Each request holds the instructions, the tools and the [`reply_schema`], for servers that take one. Whatever a server makes of
/// it, the agent reads each complete reply strictly. After a reply that is not valid, or that is longer than one mebibyte, the model
/// is told what was expected and asked again; see [`attempts`](Self::attempts).
///
/// Reasoning and answer are emitted as they arrive, as [`Event::TextDelta`]s without the JSON around them.
#[derive(Debug)]
pub struct ConstrainedAgent<M> {
    model: M,
    registry: Registry,
    attempts: u32,
    reasoning: bool,
    system: Option<String>,
}

/// The longest reply, in bytes: as much as a registry takes for the arguments of a call.
const LONGEST: usize = 1 << 20;

/// How many characters of a longer one the model reads again.
const SHOWN: usize = 1_000;

impl<M: Model> ConstrainedAgent<M> {
    /// Creates an agent from a model and the tools that it may call. A reply may begin with its reasoning.
    pub fn new(model: M, registry: Registry) -> Self {
        Self {
            model,
            registry,
            attempts: 3,
            reasoning: true,
            system: None,
        }
    }

    /// Removes the place for reasoning from replies.
    #[must_use]
    pub fn without_reasoning(mut self) -> Self {
        self.reasoning = false;
        self
    }

    /// Sets how often in a row the model is asked again after a reply that is not valid; the default is 3. With 0, such as for a
    /// server that enforces the schema, the first invalid reply ends the run.
    #[must_use]
    pub fn attempts(mut self, attempts: u32) -> Self {
        self.attempts = attempts;
        self
    }

    /// Sets a system prompt, which precedes the instructions for replies.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// One reply: its text and reasoning, and what it says, or a sentence for the model why it is of no use.
    async fn read(
        &self,
        turn: &Turn,
        schema: &Value,
        emitter: &Emitter,
    ) -> Result<(String, Option<Reasoning>, Result<ParsedReply, String>), RunError> {
        let messages = turn.conversation.messages();
        let request = Request::new(&messages).response_schema(schema);
        let mut transcript = Transcript::default();
        let show = |piece: String| transcript.push(&piece);
        let (mut text, calls, reasoning) =
            read_reply(turn, &self.model, request, emitter, LONGEST, show).await?;
        let parsed = match calls.first() {
            _ if text.len() > LONGEST => {
                text = text.chars().take(SHOWN).collect();
                Err(format!("it is longer than {LONGEST} bytes"))
            }
            Some(call) => Err(format!(
                "`{}` was called as a native tool; write the call as a JSON object in the text",
                call.name
            )),
            None => ParsedReply::read(&text, self.reasoning),
        };
        Ok((text, reasoning, parsed))
    }

    /// A reply that can be used, after as many as there may be that cannot.
    async fn reply(
        &self,
        turn: &Turn,
        schema: &Value,
        emitter: &Emitter,
    ) -> Result<ParsedReply, RunError> {
        let mut attempt = 0;
        loop {
            turn.before_request().await;
            let (text, reasoning, parsed) = self.read(turn, schema, emitter).await?;
            let reason = match parsed {
                Ok(parsed) => {
                    let message = Message::Assistant {
                        text,
                        calls: Vec::new(),
                        reasoning,
                    };
                    match parsed {
                        ParsedReply::Answer { .. } => turn.push_answer(message),
                        ParsedReply::Call { .. } => turn.conversation.push(message),
                    }
                    return Ok(parsed);
                }
                Err(reason) => reason,
            };
            attempt += 1;
            if attempt > self.attempts {
                let error = ModelError::Form { message: reason };
                return Err(RunError::Model { error });
            }
            let feedback = format!(
                "Your reply is not valid: {reason}. Reply again with one JSON object and nothing else."
            );
            turn.conversation.push(Message::Assistant {
                text,
                calls: Vec::new(),
                reasoning,
            });
            turn.conversation.push(Message::User {
                text: feedback.clone(),
            });
            let contract = REPLY.to_owned();
            emitter
                .emit(Event::Retry {
                    contract,
                    attempt,
                    feedback,
                })
                .await;
        }
    }

    async fn work(&self, turn: &Turn, emitter: &Emitter) -> Result<(), RunError> {
        let registry = turn.visible(&self.registry);
        let schema = reply_schema(&registry, self.reasoning);
        let system = prompt::system(self.system.as_deref(), &registry, self.reasoning);
        begin(turn, Some(system));
        let mut calls = turn.conversation.messages().len();
        loop {
            match self.reply(turn, &schema, emitter).await? {
                ParsedReply::Answer { reasoning, content } => {
                    if let Some(text) = reasoning {
                        emitter.emit(Event::Thought { text }).await;
                    }
                    emitter.emit(Event::Answer { text: content }).await;
                    let Some(text) = turn.feedback() else {
                        return Ok(());
                    };
                    turn.conversation.push(Message::User { text });
                }
                ParsedReply::Call {
                    reasoning,
                    tool,
                    arguments,
                } => {
                    let text = reasoning.unwrap_or_default();
                    emitter.emit(Event::Thought { text }).await;
                    calls += 1;
                    let call = ToolCall::new(format!("call-{calls}"), tool, arguments);
                    for outcome in turn.call_all(&registry, vec![call]).await {
                        let (tool, status) = (outcome.tool().to_owned(), outcome.status());
                        let text = prompt::result(&tool, status, outcome.into_result().text());
                        turn.conversation.push(Message::User { text });
                    }
                    if let Some(text) = turn.feedback() {
                        turn.conversation.push(Message::User { text });
                    }
                }
            }
        }
    }
}

impl<M: Model> InnerAgent for ConstrainedAgent<M> {
    fn form(&self) -> &'static str {
        "constrained"
    }

    fn stream(&self, turn: Turn) -> Events<'_> {
        stream_with(move |emitter| async move {
            if let Err(error) = self.work(&turn, &emitter).await {
                emitter.emit(Event::Error { error }).await;
            }
        })
    }
}
