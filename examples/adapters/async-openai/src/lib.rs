//! Contracted tools in a loop over async-openai: an adapter to copy.

use std::error::Error;

use async_openai::Client;
use async_openai::config::Config;
use async_openai::types::chat::{
    ChatCompletionMessageToolCalls, ChatCompletionRequestAssistantMessage,
    ChatCompletionRequestMessage, ChatCompletionRequestToolMessage,
    ChatCompletionRequestUserMessage, ChatCompletionTools, CreateChatCompletionRequestArgs,
};
use contract_dialects::{StrictDialect, StrictExport as _};
use contract_runtime::approval::{ApprovalRequest, Decision};
use contract_runtime::{Context, Registry, ToolCall};

/// How often the model is asked for one answer.
const TURNS: usize = 20;

/// Asks a model, and makes its calls until it answers.
///
/// # Errors
///
/// Those of the client and of [`StrictExport::export_strict`](contract_dialects::StrictExport::export_strict), and a model that does not come to an answer.
pub async fn answer<C: Config>(
    client: &Client<C>,
    model: &str,
    registry: &Registry,
    prompt: &str,
    mut decide: impl AsyncFnMut(&ApprovalRequest) -> Decision,
) -> Result<String, Box<dyn Error + Send + Sync>> {
    let exported = registry.export_strict(StrictDialect::OpenAiChat)?;
    let tools: Vec<ChatCompletionTools> = serde_json::from_value(exported.tools)?;
    let mut messages: Vec<ChatCompletionRequestMessage> =
        vec![ChatCompletionRequestUserMessage::from(prompt).into()];
    for _ in 0..TURNS {
        let request = CreateChatCompletionRequestArgs::default()
            .model(model)
            .messages(messages.clone())
            .tools(tools.clone())
            .build()?;
        let response = client.chat().create(request).await?;
        let choice = response.choices.into_iter().next();
        let message = choice.ok_or("the model gave no reply")?.message;
        let calls = message.tool_calls.unwrap_or_default();
        if calls.is_empty() {
            return Ok(message.content.unwrap_or_default());
        }
        let reply = ChatCompletionRequestAssistantMessage {
            content: message.content.map(Into::into),
            tool_calls: Some(calls.clone()),
            ..ChatCompletionRequestAssistantMessage::default()
        };
        messages.push(reply.into());
        for call in calls {
            // The other kind is of tools without a schema, which a registry has not.
            let ChatCompletionMessageToolCalls::Function(call) = call else {
                continue;
            };
            let (id, function) = (call.id, call.function);
            let call = ToolCall::new(id.as_str(), function.name, function.arguments);
            let result = ChatCompletionRequestToolMessage {
                content: called(registry, call, &mut decide).await.into(),
                tool_call_id: id,
            };
            messages.push(result.into());
        }
    }
    Err(format!("no answer after {TURNS} turns").into())
}

/// Makes one call, asks where it asks, and returns what the model reads.
async fn called(
    registry: &Registry,
    call: ToolCall,
    decide: &mut impl AsyncFnMut(&ApprovalRequest) -> Decision,
) -> String {
    let mut outcome = registry.call(call.clone()).await;
    if let Some(request) = outcome.approval_request() {
        let answer = request.answer(decide(request).await);
        let context = Context::new().answer(answer);
        outcome = registry.call(call).context(context).await;
    }
    outcome.into_result().text().to_owned()
}
