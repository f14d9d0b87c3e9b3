//! Models of real providers, over HTTP.
//!
//! The crate `genai` makes the requests and reads the replies. Three things do not go through its hands, because it would change
//! them: the tools, which go out exactly as [`Registry::export`](contract_runtime::Registry::export) has them (genai rewrites strict
//! schemas, and knows neither `input_examples` nor Gemini's `parameters`); the name of the model (genai reads `-high` and the like
//! off its end); and the address and the headers.

mod builder;
mod environment;
mod fault;
mod provider;
mod reply;
mod request;
mod retries;
mod secrets;

use std::fmt;

use genai::resolver::{AuthData, Endpoint};
use genai::{Client, Headers, ModelIden, ServiceTarget};
use tracing::{Instrument as _, Span, field};

pub use builder::{GenaiBuildError, GenaiModelBuilder};
use fault::Faults;
pub use provider::Provider;
use reply::ReplyEmitter;
use request::Settings;
pub use request::{ReasoningEffort, ToolChoice};
use secrets::without_secrets;

use super::{Model, ModelError, Reply, Request};
use crate::generator::stream_with;

/// A model of a real provider: any server that speaks `OpenAI` chat completions, Anthropic messages or Gemini.
///
/// ```no_run
/// use contract_agent::{ContractAgent, GenaiModel, Provider, ToolCallingAgent};
/// use contract_runtime::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // The key is read from OPENAI_API_KEY, and belongs to the endpoint in OPENAI_BASE_URL, where there is one.
/// let model = GenaiModel::builder("gpt-5.2").build()?;
///
/// // Any other server that speaks one of the protocols; without a key, unless one is given.
/// let local = GenaiModel::builder("llama3.3:70b")
///     .provider(Provider::OpenAi)
///     .endpoint("http://localhost:11434/v1")
///     .build()?;
///
/// let agent = ContractAgent::builder(ToolCallingAgent::new(local, registry!().build()?)).build();
/// println!("{:?}", agent.run("What is 7 / 2?").await.answer);
/// # let _ = model; Ok(()) }
/// ```
///
/// - It runs inside of a tokio runtime. Dropping a reply closes its connection.
/// - A server that is busy, fails or is not there is asked again, after the wait that it asks for; see
///   [`retries`](GenaiModelBuilder::retries).
/// - Redirects are not followed, and keys appear in no error, no span and no `Debug` output.
/// - Arguments of streamed calls reach the dispatcher as the model wrote them over chat completions and Anthropic messages. Elsewhere
///   they arrive as JSON values: of equal keys only the last is there, and spacing and the exact form of numbers are lost.
/// - What the model thinks before it speaks is given out as [`Delta::Reasoning`](crate::Delta::Reasoning) where the provider tells it. What
///   the provider wants back of it goes back to this provider and model: `reasoning_content` of chat completions, thinking blocks of
///   Anthropic, and thought signatures of Gemini. `reasoning_details` of chat completions go back only where replies are not streamed.
#[derive(Clone)]
pub struct GenaiModel {
    client: Client,
    settings: Settings,
}

impl GenaiModel {
    /// Starts with the name of a model, as its provider spells it.
    ///
    /// ```
    /// use contract_agent::{GenaiModel, Provider};
    ///
    /// let model = GenaiModel::builder("claude-opus-4-1").key("..").timeout(std::time::Duration::from_secs(60)).build()?;
    /// assert_eq!(model.provider(), Provider::Anthropic);
    /// # Ok::<(), contract_agent::GenaiBuildError>(())
    /// ```
    pub fn builder(model: impl Into<String>) -> GenaiModelBuilder {
        GenaiModelBuilder::new(model.into())
    }

    /// Starts with the model that the environment names: of the first provider, in the order of [`Provider::ALL`], for
    /// which a key or an endpoint is set.
    ///
    /// | provider | key | model | endpoint |
    /// |---|---|---|---|
    /// | chat completions | `OPENAI_API_KEY` | `OPENAI_MODEL` | `OPENAI_BASE_URL` |
    /// | Anthropic | `ANTHROPIC_API_KEY` | `ANTHROPIC_MODEL` | `ANTHROPIC_BASE_URL` |
    /// | Gemini | `GEMINI_API_KEY`, else `GOOGLE_API_KEY` | `GEMINI_MODEL` | `GOOGLE_GEMINI_BASE_URL` |
    ///
    /// ```no_run
    /// use contract_agent::GenaiModel;
    ///
    /// let model = GenaiModel::from_environment()?.max_tokens(4_000).build()?;
    /// # Ok::<(), contract_agent::GenaiBuildError>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`GenaiBuildError::NoProvider`] and [`GenaiBuildError::NoModel`], where nothing is said.
    pub fn from_environment() -> Result<GenaiModelBuilder, GenaiBuildError> {
        environment::model(&|variable: &str| std::env::var(variable).ok())
    }

    /// Returns the protocol that the model speaks.
    #[must_use]
    pub const fn provider(&self) -> Provider {
        self.settings.provider
    }

    /// Asks until there is a reply, or none is to be had.
    async fn ask(
        &self,
        request: &Request<'_>,
        emitter: &mut ReplyEmitter<'_>,
    ) -> Result<(), ModelError> {
        let mut tries = 1;
        loop {
            let faults = Faults {
                secrets: &self.settings.secrets,
                silence: self.settings.silence,
                tries,
            };
            let error = match self.once(request, emitter, faults).await {
                Ok(()) => return Ok(()),
                Err(error) => error,
            };
            let wait = retries::wait(self.settings.retries, &error, tries);
            let Some(wait) = wait.filter(|_| !emitter.begun) else {
                return Err(error);
            };
            tracing::warn!(wait = ?wait, tries, "retrying the request: {error}");
            tokio::time::sleep(wait).await;
            tries += 1;
        }
    }

    async fn once(
        &self,
        request: &Request<'_>,
        emitter: &mut ReplyEmitter<'_>,
        faults: Faults<'_>,
    ) -> Result<(), ModelError> {
        let settings = &self.settings;
        let chat = request::conversation(request.messages, settings);
        let options = request::options(request, settings)?;
        let (client, target) = (&self.client, self.target());
        if settings.streams {
            reply::streamed(client, target, chat, options, emitter, faults).await
        } else {
            reply::whole(client, target, chat, options, emitter, faults).await
        }
    }

    /// Where a request goes. The key is among the headers of the client.
    fn target(&self) -> ServiceTarget {
        let settings = &self.settings;
        let url = settings
            .provider
            .url(&settings.endpoint, &settings.model, settings.streams);
        ServiceTarget {
            endpoint: Endpoint::from_owned(settings.endpoint.as_str()),
            auth: AuthData::RequestOverride {
                url,
                headers: Headers::default(),
            },
            model: ModelIden::new(settings.provider.facts().adapter, settings.model.as_str()),
        }
    }

    fn span(&self) -> Span {
        let settings = &self.settings;
        tracing::info_span!(
            "chat",
            otel.name = format_args!("chat {}", settings.model),
            otel.kind = "client",
            gen_ai.operation.name = "chat",
            gen_ai.provider.name = settings.provider.facts().in_spans,
            gen_ai.request.model = %settings.model,
            gen_ai.response.model = field::Empty,
            gen_ai.response.finish_reasons = field::Empty,
            gen_ai.usage.input_tokens = field::Empty,
            gen_ai.usage.output_tokens = field::Empty,
            error.r#type = field::Empty,
        )
    }
}

impl Model for GenaiModel {
    fn name(&self) -> &str {
        &self.settings.model
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        let span = self.span();
        Box::pin(stream_with(move |emitter| {
            let inside = span.clone();
            async move {
                let mut emitter = ReplyEmitter {
                    emitter,
                    provider: self.settings.provider,
                    model: &self.settings.model,
                    span: inside,
                    begun: false,
                    text: String::new(),
                };
                let outcome = if tokio::runtime::Handle::try_current().is_ok() {
                    self.ask(&request, &mut emitter).await
                } else {
                    Err(ModelError::NoRuntime)
                };
                if let Err(error) = outcome {
                    let written = serde_json::to_value(&error).unwrap_or_default();
                    emitter.span.record("error.type", written["kind"].as_str());
                    emitter.emitter.emit(Err(error)).await;
                }
            }
            .instrument(span)
        }))
    }
}

/// Without key, headers and the secret parts of the endpoint.
impl fmt::Debug for GenaiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GenaiModel")
            .field("model", &self.settings.model)
            .field("provider", &self.settings.provider)
            .field("endpoint", &without_secrets(&self.settings.endpoint))
            .finish_non_exhaustive()
    }
}
