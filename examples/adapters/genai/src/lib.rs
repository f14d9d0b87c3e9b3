//! Contracted tools in a loop over genai: an adapter to copy.

use std::error::Error;

use contract_runtime::{Context, Dialect, Registry, ToolCall};
use futures_util::StreamExt as _;
use genai::chat::{ChatMessage, ChatOptions, ChatRequest, ChatStreamEvent, Tool, ToolResponse};
use genai::{Client, ModelSpec};
use serde::Deserialize;
use serde_json::Value;

/// How often the model is asked for one answer.
const TURNS: usize = 20;

/// Returns the tools of a registry, for `ChatRequest::with_tools`.
///
/// # Errors
///
/// Those of [`Registry::export`].
pub fn tools(registry: &Registry) -> Result<Vec<Tool>, Box<dyn Error + Send + Sync>> {
    #[derive(Deserialize)]
    struct Exported {
        name: String,
        description: String,
        parameters: Value,
    }
    let exported = registry.export_text(Dialect::Neutral);
    let exported: Vec<Exported> = serde_json::from_str(exported)?;
    let tools = exported.into_iter().map(|tool| {
        Tool::new(tool.name)
            .with_description(tool.description)
            .with_schema(tool.parameters)
    });
    Ok(tools.collect())
}

/// Asks a model, and makes its calls until it answers. The context has the approver, and the run if there is one.
///
/// # Errors
///
/// Those of the client and of [`tools`], and a model that does not come to an answer.
pub async fn answer(
    client: &Client,
    model: impl Into<ModelSpec> + Clone,
    registry: &Registry,
    prompt: &str,
    context: &Context,
) -> Result<String, Box<dyn Error + Send + Sync>> {
    // Streamed arguments that are not JSON are kept as text; otherwise they are an error of the whole reply.
    let options = ChatOptions::default()
        .with_capture_content(true)
        .with_capture_tool_calls(true);
    let mut chat = ChatRequest::from_user(prompt).with_tools(tools(registry)?);
    for _ in 0..TURNS {
        let response = client.exec_chat_stream(model.clone(), chat.clone(), Some(&options));
        let mut stream = response.await?.stream;
        let mut end = None;
        while let Some(event) = stream.next().await {
            if let ChatStreamEvent::End(event) = event? {
                end = event.captured_content;
            }
        }
        let reply = end.ok_or("the model gave no reply")?;
        let calls: Vec<_> = reply.tool_calls().into_iter().cloned().collect();
        if calls.is_empty() {
            return Ok(reply.into_joined_texts().unwrap_or_default());
        }
        chat = chat.append_message(ChatMessage::assistant(reply));
        let made = calls.iter().map(|call| {
            let arguments = match &call.fn_arguments {
                Value::String(text) => text.clone(),
                arguments => arguments.to_string(),
            };
            ToolCall::new(call.call_id.as_str(), call.fn_name.as_str(), arguments)
        });
        let outcomes = registry.call_all(made).context(context.clone()).await;
        for (call, outcome) in calls.iter().zip(outcomes) {
            let result = outcome.into_result();
            chat = chat.append_message(ToolResponse::from_tool_call(call, result.text()));
        }
    }
    Err(format!("no answer after {TURNS} turns").into())
}
