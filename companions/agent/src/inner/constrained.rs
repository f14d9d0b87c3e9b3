//! An agent for models that write text, held to a grammar.

mod prompt;
mod reply;
mod spoken;

use std::future::poll_fn;

use super::{Cost, InnerAgent, Turn, observe};
use crate::agent::constraint::{Constraint, ConstraintError};
use crate::agent::event::{Event, RunError};
use crate::agent::live::{Emitter, Events, live};
use crate::agent::message::Message;
use crate::agent::model::{Delta, Model, ModelFault, Request};
use crate::registry::Registry;
use crate::tool::ToolCall;
use reply::Written;
use spoken::Spoken;

/// Lets a model that writes text call tools and answer, each reply being one JSON object.
///
/// ```
/// use contract_runtime::agent::{ConstrainedAgent, ContractAgent, Scripted};
/// use contract_runtime::prelude::*;
///
/// /// Set the temperature of a room, in degrees Celsius.
/// #[tool]
/// #[pre(degrees >= 5 && degrees <= 30)]
/// fn heat(degrees: u8) -> String {
///     format!("{degrees} degrees")
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let registry = Registry::builder().tool(heat).build()?;
/// let model = Scripted::new()
///     .text(r#"{"reasoning":"Warm is 21.","type":"tool_call","tool":"heat","arguments":{"degrees":21}}"#)
///     .text(r#"{"type":"answer","content":"It will be warm."}"#);
/// let agent = ContractAgent::builder(ConstrainedAgent::new(model, registry)?).build();
///
/// let result = agent.run("Make it warm.").await;
/// assert_eq!(result.answer.as_deref(), Some("It will be warm."));
/// # Ok(()) }
/// ```
///
/// The model gets its instructions, the tools and the [`Constraint`] with every request. An engine that holds its model to
/// the constraint says so with [`Enforcement::ByEngine`]; otherwise each reply is read as it comes, and at the first character
/// that cannot be part of a reply, and at the end of a mebibyte, the model is stopped, told what was expected, and asked again. Without the feature `grammar`
/// a reply is read when it is complete.
///
/// Reasoning and answer are told while they come, as [`Event::TextDelta`]s without the JSON around them.
#[derive(Debug)]
pub struct ConstrainedAgent<M> {
    model: M,
    registry: Registry,
    constraint: Constraint,
    enforcement: Enforcement,
    reasoning: bool,
    system: Option<String>,
}

/// Who sees to it that a reply keeps its constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Enforcement {
    /// The engine of the model, such as `Masked`. A reply that breaks the constraint all the same
    /// ends the run.
    ByEngine,
    /// The agent: a reply that breaks the constraint is stopped, and the model is told and asked again.
    RejectAndAsk {
        /// How often in a row.
        attempts: u32,
    },
}

impl Default for Enforcement {
    fn default() -> Self {
        Self::RejectAndAsk { attempts: 3 }
    }
}

/// The longest reply, in bytes: as much as a registry takes for the arguments of a call.
const LONGEST: usize = 1 << 20;

/// How much of a piece is read at once, in bytes, so that a run can end in the middle of a long one.
const SLICE: usize = 4 << 10;

/// A text in slices of whole characters.
fn slices(mut text: &str) -> impl Iterator<Item = &str> {
    std::iter::from_fn(move || {
        let end = (SLICE..text.len()).find(|end| text.is_char_boundary(*end));
        let (slice, rest) = text.split_at(end.unwrap_or(text.len()));
        text = rest;
        (!slice.is_empty()).then_some(slice)
    })
}

/// Why a reply is of no use, as a sentence for the model; and what there was of it.
struct Broken {
    text: String,
    reason: String,
}

impl<M: Model> ConstrainedAgent<M> {
    /// An agent of a model and the tools that it may call. A reply may begin with its reasoning.
    ///
    /// # Errors
    ///
    /// [`ConstraintError`] when the tools are too much for a grammar.
    pub fn new(model: M, registry: Registry) -> Result<Self, ConstraintError> {
        Ok(Self {
            constraint: Constraint::replies(&registry, true)?,
            model,
            registry,
            enforcement: Enforcement::default(),
            reasoning: true,
            system: None,
        })
    }

    /// Leaves no place for reasoning in a reply.
    ///
    /// # Errors
    ///
    /// [`ConstraintError`] as of [`new`](Self::new).
    pub fn without_reasoning(mut self) -> Result<Self, ConstraintError> {
        self.constraint = Constraint::replies(&self.registry, false)?;
        self.reasoning = false;
        Ok(self)
    }

    /// Who sees to it that a reply keeps the constraint.
    #[must_use]
    pub fn enforcement(mut self, enforcement: Enforcement) -> Self {
        self.enforcement = enforcement;
        self
    }

    /// Says what is wanted of the model in general, before the instructions for its replies.
    #[must_use]
    pub fn system(mut self, text: impl Into<String>) -> Self {
        self.system = Some(text.into());
        self
    }

    /// What every reply is held to.
    #[must_use]
    pub fn constraint(&self) -> &Constraint {
        &self.constraint
    }

    /// One reply, read as it comes; it ends where it breaks its constraint.
    async fn read(
        &self,
        turn: &Turn,
        emitter: &Emitter,
    ) -> Result<Result<String, Broken>, RunError> {
        let mut cost = Cost::default();
        let read = self.read_until_it_breaks(turn, emitter, &mut cost).await;
        cost.close(emitter).await;
        read
    }

    async fn read_until_it_breaks(
        &self,
        turn: &Turn,
        emitter: &Emitter,
        cost: &mut Cost,
    ) -> Result<Result<String, Broken>, RunError> {
        let messages = turn.conversation.messages();
        let request = Request::new(&messages).constraint(&self.constraint);
        let mut pieces = self.model.reply(request);
        let (mut text, mut spoken) = (String::new(), Spoken::default());
        #[cfg(feature = "grammar")]
        let mut matching = match self.enforcement {
            Enforcement::ByEngine => None,
            Enforcement::RejectAndAsk { .. } => Some(
                self.constraint
                    .matching()
                    .map_err(|error| ungrammatical(&error))?,
            ),
        };
        while let Some(piece) = poll_fn(|task| pieces.as_mut().poll_next(task)).await {
            let piece = piece.map_err(|error| RunError::model(&error))?;
            cost.note(&piece);
            match piece {
                Delta::Text(more) => {
                    if text.len() + more.len() > LONGEST {
                        let reason = format!("it is longer than {LONGEST} bytes");
                        return Ok(Err(Broken { text, reason }));
                    }
                    for more in slices(&more) {
                        text.push_str(more);
                        #[cfg(feature = "grammar")]
                        if let Some(Err(mismatch)) =
                            matching.as_mut().map(|matching| matching.push(more))
                        {
                            let reason = mismatch.to_string();
                            return Ok(Err(Broken { text, reason }));
                        }
                        let text = spoken.push(more);
                        if !text.is_empty() {
                            emitter.emit(Event::TextDelta { text }).await;
                        }
                    }
                }
                Delta::Call(call) => {
                    let reason = format!(
                        "`{}` was called beside the text; write the call as the JSON object",
                        call.name
                    );
                    return Ok(Err(Broken { text, reason }));
                }
                Delta::Usage(usage) => emitter.emit(Event::Usage { usage }).await,
            }
        }
        #[cfg(feature = "grammar")]
        if let Some(Err(mismatch)) = matching.map(crate::agent::constraint::Matching::finish) {
            let reason = mismatch.to_string();
            return Ok(Err(Broken { text, reason }));
        }
        Ok(Ok(text))
    }

    /// A reply that can be used, after as many as there may be that cannot.
    async fn reply(&self, turn: &Turn, emitter: &Emitter) -> Result<Written, RunError> {
        let attempts = match self.enforcement {
            Enforcement::ByEngine => 0,
            Enforcement::RejectAndAsk { attempts } => attempts,
        };
        let mut attempt = 0;
        loop {
            let read = self.read(turn, emitter).await?;
            let Broken { text, reason } = match read {
                Ok(text) => match Written::read(&text, self.reasoning) {
                    Ok(written) => {
                        let message = Message::Assistant {
                            text,
                            calls: Vec::new(),
                        };
                        match written {
                            Written::Answer { .. } => turn.push_answer(message),
                            Written::Call { .. } => turn.conversation.push(message),
                        }
                        return Ok(written);
                    }
                    Err(reason) => Broken { text, reason },
                },
                Err(broken) => broken,
            };
            attempt += 1;
            if attempt > attempts {
                let message = format!(
                    "its reply is not one of the JSON objects that it was asked for: {reason}"
                );
                let fault = ModelFault::Constraint;
                return Err(RunError::Model { message, fault });
            }
            let feedback = format!(
                "This is not a reply: {reason}. Reply again with one JSON object and nothing else."
            );
            turn.conversation.push(Message::Assistant {
                text,
                calls: Vec::new(),
            });
            turn.conversation.push(Message::User {
                text: feedback.clone(),
            });
            let contract = "agent.reply".to_owned();
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
        let system = prompt::system(self.system.as_deref(), &self.registry, self.reasoning);
        let system = Message::System { text: system };
        if !turn.conversation.messages().contains(&system) {
            turn.conversation.push(system);
        }
        let text = turn.task.clone();
        turn.conversation.push(Message::User { text });
        let mut calls = turn.conversation.messages().len();
        loop {
            match self.reply(turn, emitter).await? {
                Written::Answer { reasoning, content } => {
                    if let Some(text) = reasoning {
                        emitter.emit(Event::Thought { text }).await;
                    }
                    emitter.emit(Event::Answer { text: content }).await;
                    let Some(text) = turn.feedback() else {
                        return Ok(());
                    };
                    turn.conversation.push(Message::User { text });
                }
                Written::Call {
                    reasoning,
                    tool,
                    arguments,
                } => {
                    let text = reasoning.unwrap_or_default();
                    emitter.emit(Event::Thought { text }).await;
                    calls += 1;
                    let call = ToolCall::new(format!("call-{calls}"), tool, arguments);
                    emitter.emit(Event::Action { call: call.clone() }).await;
                    let outcome = self.registry.call_with(call, turn.context.clone()).await;
                    let (tool, status) = (outcome.tool().to_owned(), outcome.status());
                    let text = observe(outcome, emitter).await;
                    let mut text = prompt::result(&tool, status, &text);
                    if let Some(feedback) = turn.feedback() {
                        text.push('\n');
                        text.push_str(&feedback);
                    }
                    turn.conversation.push(Message::User { text });
                }
            }
        }
    }
}

#[cfg(feature = "grammar")]
fn ungrammatical(error: &ConstraintError) -> RunError {
    RunError::Model {
        message: error.to_string(),
        fault: ModelFault::Constraint,
    }
}

impl<M: Model> InnerAgent for ConstrainedAgent<M> {
    fn stream(&self, turn: Turn) -> Events<'_> {
        live(move |emitter| async move {
            if let Err(error) = self.work(&turn, &emitter).await {
                emitter.emit(Event::Error { error }).await;
            }
        })
    }
}
