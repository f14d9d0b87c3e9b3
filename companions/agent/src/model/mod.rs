//! The interface between an agent and a language model.

mod error;
#[cfg(feature = "genai")]
mod genai;
mod replay;
mod scripted;

use std::pin::Pin;

use contract_runtime::Registry;
use contract_runtime::ToolCall;
use futures_core::Stream;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use error::ModelError;
pub use replay::{Recorder, RecordingError, Replay};
pub use scripted::Scripted;

#[cfg(feature = "genai")]
pub use self::genai::{
    GenaiBuildError, GenaiModel, GenaiModelBuilder, Provider, ReasoningEffort, ToolChoice,
};
use super::message::Message;

/// A language model, which gets a conversation and streams a reply.
pub trait Model: Send + Sync {
    /// Returns the name of the model, for people.
    fn name(&self) -> &str;

    /// Replies to a conversation. Dropping the stream ends the reply.
    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a>;
}

impl<M: Model + ?Sized> Model for Box<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        (**self).reply(request)
    }
}

impl<M: Model + ?Sized> Model for std::sync::Arc<M> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        (**self).reply(request)
    }
}

/// The stream of the pieces of a reply.
pub type Reply<'a> = Pin<Box<dyn Stream<Item = Result<Delta, ModelError>> + Send + 'a>>;

/// The input of a model.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Request<'a> {
    /// The conversation so far.
    pub messages: &'a [Message],
    /// The tools that the model may call; an adapter exports them in the dialect of its provider.
    pub tools: Option<&'a Registry>,
    /// Texts at which the reply ends.
    pub stop: &'a [String],
    /// The maximum number of tokens of the reply.
    pub max_tokens: Option<u32>,
    /// The JSON Schema of the reply; a model whose server takes none ignores it.
    pub response_schema: Option<&'a Value>,
}

impl<'a> Request<'a> {
    /// Creates a request with these messages and nothing else.
    #[must_use]
    pub const fn new(messages: &'a [Message]) -> Self {
        Self {
            messages,
            tools: None,
            stop: &[],
            max_tokens: None,
            response_schema: None,
        }
    }

    /// Lets the model call tools.
    #[must_use]
    pub const fn tools(mut self, registry: &'a Registry) -> Self {
        self.tools = Some(registry);
        self
    }

    /// Asks for a reply that satisfies a JSON Schema.
    #[must_use]
    pub const fn response_schema(mut self, schema: &'a Value) -> Self {
        self.response_schema = Some(schema);
        self
    }
}

/// A piece of a reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Delta {
    /// More text.
    Text(String),
    /// More of what the model thinks before it speaks.
    Reasoning(String),
    /// The reasoning of the whole reply, as its provider wants it back.
    KeptReasoning(Reasoning),
    /// A complete tool call.
    Call(ToolCall),
    /// The token usage of the reply.
    Usage(Usage),
}

/// The reasoning of a reply in the form in which it goes back: only to the provider and the model that gave it, and unchanged.
///
/// Providers refuse a conversation in which a reply with calls lacks it, or has that of another model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reasoning {
    /// The provider that gave it.
    pub provider: String,
    /// The model that gave it.
    pub model: String,
    /// Texts, signatures and encrypted blocks, in a form that only the adapter of this provider reads.
    pub data: Vec<Value>,
}

impl Reasoning {
    /// Creates the reasoning of a reply of this provider and model, for a [`Model`] of your own.
    pub fn new(provider: impl Into<String>, model: impl Into<String>, data: Vec<Value>) -> Self {
        Self {
            provider: provider.into(),
            model: model.into(),
            data,
        }
    }
}

/// Token usage of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Usage {
    /// Tokens that the model read.
    pub input_tokens: u64,
    /// Tokens that the model wrote.
    pub output_tokens: u64,
    /// How many of the tokens read were in the provider's cache.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cached_tokens: u64,
    /// How many of the tokens written were reasoning.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub reasoning_tokens: u64,
    /// Replies without token counts, such as those that were stopped; their tokens are not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub uncounted_replies: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Usage {
    /// Creates a usage from the tokens read and written.
    #[must_use]
    pub const fn new(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            cached_tokens: 0,
            reasoning_tokens: 0,
            uncounted_replies: 0,
        }
    }

    /// One reply that did not say what it cost.
    pub(super) const fn uncounted() -> Self {
        Self {
            uncounted_replies: 1,
            ..Self::new(0, 0)
        }
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, more: Self) {
        self.input_tokens = self.input_tokens.saturating_add(more.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(more.output_tokens);
        self.cached_tokens = self.cached_tokens.saturating_add(more.cached_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(more.reasoning_tokens);
        let uncounted = &mut self.uncounted_replies;
        *uncounted = uncounted.saturating_add(more.uncounted_replies);
    }
}
