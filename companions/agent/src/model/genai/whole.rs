//! A reply that comes at once.

use genai::chat::{ChatOptions, ChatRequest, ContentPart, StopReason};
use serde_json::Value;

use super::GenaiModel;
use super::calls::Calls;
use super::fault::Faults;
use super::frames;
use super::provider::Provider;
use super::spoken::{Spoken, usage};
use crate::agent::model::ModelError;

pub(super) async fn reply(
    model: &GenaiModel,
    chat: ChatRequest,
    options: ChatOptions,
    spoken: &mut Spoken,
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
        return chat_completion(&body, spoken, faults).await;
    }
    let reply = reply.map_err(|error| faults.of(error))?;
    let mut calls = Calls::default();
    for part in reply.content {
        match part {
            ContentPart::Text(text) => spoken.text(text).await,
            ContentPart::ToolCall(call) => calls.told(&call),
            _ => {}
        }
    }
    let usage = usage(&reply.usage);
    spoken
        .ending(calls.take(), Some(usage), reply.stop_reason)
        .await
}

async fn chat_completion(
    body: &Value,
    spoken: &mut Spoken,
    faults: Faults<'_>,
) -> Result<(), ModelError> {
    let Some(message) = body.pointer("/choices/0/message") else {
        return Err(match body.get("error") {
            Some(_) => faults.provider(body),
            None => faults.unreadable("it has no `choices`"),
        });
    };
    match message.get("content") {
        Some(Value::String(text)) => spoken.text(text.clone()).await,
        // Parts of several kinds, of which texts are given out.
        Some(Value::Array(parts)) => {
            for text in parts.iter().filter_map(|part| part.get("text")?.as_str()) {
                spoken.text(text.to_owned()).await;
            }
        }
        _ => {}
    }
    let mut calls = Calls::default();
    let made = message.get("tool_calls").and_then(Value::as_array);
    for call in made.into_iter().flatten() {
        calls.whole(call);
    }
    let reason = body.pointer("/choices/0/finish_reason");
    let reason = reason
        .and_then(Value::as_str)
        .map(|reason| StopReason::from(reason.to_owned()));
    spoken
        .ending(calls.take(), frames::usage(body), reason)
        .await
}
