//! Replies that are not streamed.

use genai::chat::{ChatOptions, ChatRequest, ContentPart, StopReason};
use serde_json::Value;

use super::GenaiModel;
use super::calls::Calls;
use super::fault::Faults;
use super::frames::{self, Refusal};
use super::provider::Provider;
use super::reply_emitter::{ReplyEmitter, usage};
use crate::model::ModelError;

pub(super) async fn reply(
    model: &GenaiModel,
    chat: ChatRequest,
    options: ChatOptions,
    emitter: &mut ReplyEmitter,
    faults: Faults<'_>,
) -> Result<(), ModelError> {
    let asked = model.client.exec_chat(model.target(), chat, Some(&options));
    let Ok(reply) = tokio::time::timeout(model.settings.silence, asked).await else {
        return Err(faults.timeout());
    };
    if model.provider() == Provider::OpenAi {
        // genai refuses a reply whose arguments it cannot read; they are judged elsewhere.
        let body = match reply {
            Ok(reply) => reply.captured_raw_body.unwrap_or_default(),
            Err(genai::Error::ChatResponseGeneration { response_body, .. }) => *response_body,
            Err(error) => return Err(faults.of(error)),
        };
        return chat_completion(&body, emitter, faults).await;
    }
    let reply = reply.map_err(|error| faults.of(error))?;
    let mut calls = Calls::default();
    for part in reply.content {
        match part {
            ContentPart::Text(text) => emitter.text(text).await,
            ContentPart::ToolCall(call) => calls.push_called(&call),
            _ => {}
        }
    }
    let mut refusal = Refusal::default();
    if let Some(body) = &reply.captured_raw_body {
        refusal.gemini(body);
    }
    let usage = usage(&reply.usage);
    emitter
        .ending(
            calls.take(),
            Some(usage),
            reply.stop_reason,
            refusal,
            faults,
        )
        .await
}

async fn chat_completion(
    body: &Value,
    emitter: &mut ReplyEmitter,
    faults: Faults<'_>,
) -> Result<(), ModelError> {
    let Some(message) = body.pointer("/choices/0/message") else {
        return Err(match body.get("error") {
            Some(_) => faults.provider(body),
            None => faults.unreadable("it has no `choices`"),
        });
    };
    match message.get("content") {
        Some(Value::String(text)) => emitter.text(text.clone()).await,
        // Parts of several kinds, of which texts are given out.
        Some(Value::Array(parts)) => {
            for text in parts.iter().filter_map(|part| part.get("text")?.as_str()) {
                emitter.text(text.to_owned()).await;
            }
        }
        _ => {}
    }
    let mut calls = Calls::default();
    let made = message.get("tool_calls").and_then(Value::as_array);
    for call in made.into_iter().flatten() {
        calls.push_whole(call);
    }
    let reason = body.pointer("/choices/0/finish_reason");
    let reason = reason
        .and_then(Value::as_str)
        .map(|reason| StopReason::from(reason.to_owned()));
    let mut refusal = Refusal::default();
    refusal.completion(Some(message));
    emitter
        .ending(calls.take(), frames::usage(body), reason, refusal, faults)
        .await
}
