//! Tools, and agents that reach a model over HTTP.

use contract_agent::{
    ContractAgent, ContractAgentBuilder, Event, GenaiModel, GenaiModelBuilder, Provider, RunResult,
    ToolCallingAgent,
};
use contract_runtime::Status;
use contract_runtime::prelude::*;

use crate::server::Server;

/// Take a square root.
#[tool(read_only)]
#[pre(of >= 0.0, "no root of a negative number")]
pub(crate) fn root(
    /// The number.
    of: f64,
    /// How many digits to keep.
    #[arg(default = 2)]
    digits: u8,
) -> String {
    format!("{:.*}", usize::from(digits), of.sqrt())
}

/// Keep a note.
#[tool]
#[pre(!text.is_empty())]
pub(crate) fn note(text: String) -> usize {
    text.chars().count()
}

pub(crate) fn registry() -> Registry {
    Registry::builder()
        .tool(root)
        .tool(note)
        .build()
        .expect("the tools are sound")
}

pub(crate) const KEY: &str = "sk-nobody-may-read-this";

/// A model of this provider, at this server.
pub(crate) fn model(server: &Server, provider: Provider) -> GenaiModelBuilder {
    GenaiModel::builder("some-model-high")
        .provider(provider)
        .endpoint(server.url())
        .key(KEY)
}

/// An agent of a model that is asked over chat completions, with streaming.
pub(crate) fn agent(server: &Server) -> ContractAgent<ToolCallingAgent<GenaiModel>> {
    built(model(server, Provider::OpenAi)).build()
}

pub(crate) fn built(
    model: GenaiModelBuilder,
) -> ContractAgentBuilder<ToolCallingAgent<GenaiModel>> {
    let model = model.build().expect("the model can be built");
    let inner = ToolCallingAgent::new(model, registry()).system("Be brief.");
    ContractAgent::builder(inner)
}

/// The sentence of the error that ended a run, which has no answer.
#[track_caller]
pub(crate) fn ended(result: &RunResult) -> String {
    assert!(!result.success, "{result:?}");
    assert_eq!(result.answer, None);
    let error = result.error.as_ref().expect("an error ended the run");
    let Some(Event::Error { error: last }) = result.steps.last() else {
        panic!("nothing comes after the error: {:?}", result.steps);
    };
    assert_eq!(last, error);
    error.to_string()
}

/// How each call ended, and what the model was told of it.
pub(crate) fn observed(result: &RunResult) -> Vec<(Status, String)> {
    let events = result.steps.iter();
    events
        .filter_map(|event| match event {
            Event::Observation { status, text, .. } => Some((*status, text.clone())),
            _ => None,
        })
        .collect()
}
