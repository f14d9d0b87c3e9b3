//! Reads the replies of providers, streamed and whole.

use std::collections::HashMap;
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

use contract_runtime::ToolCall;
use futures_core::Stream as _;
use genai::chat::{
    ChatOptions, ChatRequest, ChatStreamEvent, ContentPart, StopReason, ToolCall as Called,
};
use genai::{Client, ServiceTarget};
use parking_lot::Mutex;
use serde_json::Value;
use tracing::Span;

use super::fault::Faults;
use crate::generator::Emitter;
use crate::model::{Delta, ModelError, Usage};

/// Gives out the pieces of a reply, and remembers whether there were any.
pub(super) struct ReplyEmitter {
    pub(super) emitter: Emitter<Result<Delta, ModelError>>,
    pub(super) span: Span,
    pub(super) begun: bool,
    /// The beginning of the text.
    pub(super) text: String,
}

/// How much of the text is remembered, in bytes: more than is shown where it is withheld.
const REMEMBERED: usize = 8_000;

/// What genai does not read: whether there was an event at all, and a refusal beside the text of a reply or in its place.
#[derive(Default)]
struct Seen {
    any: bool,
    reason: Option<String>,
    said: String,
}

impl Seen {
    /// Reads a whole reply, or an event of one.
    fn note(&mut self, body: &Value) {
        let text = |place| {
            body.pointer(place)?
                .as_str()
                .filter(|text| !text.is_empty())
        };
        self.any = true;
        let completion = ["/choices/0/delta/refusal", "/choices/0/message/refusal"];
        if let Some(said) = completion.into_iter().find_map(text) {
            self.reason.get_or_insert_with(|| "refusal".to_owned());
            self.said.push_str(said);
        }
        if let Some(reason) = text("/promptFeedback/blockReason") {
            self.reason = Some(reason.to_owned());
        }
        let gemini = [
            "/candidates/0/finishMessage",
            "/promptFeedback/blockReasonMessage",
        ];
        if let Some(said) = gemini.into_iter().find_map(text) {
            said.clone_into(&mut self.said);
        }
    }

    /// The error of a reply that genai could not read. It takes a reply of Gemini without a candidate for a broken one.
    fn error(&self, error: genai::Error, faults: Faults<'_>) -> ModelError {
        match &self.reason {
            Some(reason) => faults.withheld(reason, &self.said),
            None => faults.of(error),
        }
    }
}

/// What a reply ends with.
struct Ending {
    calls: Vec<ToolCall>,
    usage: Option<Usage>,
    reason: StopReason,
    seen: Seen,
}

pub(super) async fn streamed(
    client: &Client,
    target: ServiceTarget,
    chat: ChatRequest,
    options: ChatOptions,
    emitter: &mut ReplyEmitter,
    faults: Faults<'_>,
) -> Result<(), ModelError> {
    let seen = Arc::new(Mutex::new(Seen::default()));
    let options = options.with_raw_frame_fn({
        let seen = Arc::clone(&seen);
        move |_, frame| match serde_json::from_str(frame.data) {
            Ok(body) => seen.lock().note(&body),
            Err(_) => seen.lock().any |= !frame.data.is_empty(),
        }
    });
    let reply = client
        .exec_chat_stream(target, chat, Some(&options))
        .await
        .map_err(|error| faults.of(error))?;
    let mut events = reply.stream;
    let mut written = HashMap::new();
    let mut end = None;
    while let Some(event) = poll_fn(|task| Pin::new(&mut events).poll_next(task)).await {
        match event.map_err(|error| seen.lock().error(error, faults))? {
            ChatStreamEvent::Chunk(piece) => emitter.text(piece.content).await,
            ChatStreamEvent::ToolCallChunk(piece) => {
                let call = piece.tool_call;
                if let Value::String(so_far) = call.fn_arguments {
                    written.insert((call.call_id, call.fn_name), so_far);
                }
            }
            ChatStreamEvent::End(reached) => {
                end = Some(reached);
                break;
            }
            _ => {}
        }
    }
    // Closed here where the server has more to say.
    drop(events);
    let seen = std::mem::take(&mut *seen.lock());
    if !seen.any {
        return Err(faults.unreadable("it contains no event"));
    }
    let end = end.ok_or(ModelError::Cut)?;
    let usage = end.captured_usage.as_ref().and_then(usage);
    let reason = end.captured_stop_reason.ok_or(ModelError::Cut)?;
    let content = end.captured_content.unwrap_or_default();
    let calls = content.into_tool_calls();
    let ending = Ending {
        calls: numbered(calls, &written),
        usage,
        reason,
        seen,
    };
    emitter.ending(ending, faults).await
}

pub(super) async fn whole(
    client: &Client,
    target: ServiceTarget,
    chat: ChatRequest,
    options: ChatOptions,
    emitter: &mut ReplyEmitter,
    faults: Faults<'_>,
) -> Result<(), ModelError> {
    let asked = client.exec_chat(target, chat, Some(&options));
    let Ok(reply) = tokio::time::timeout(faults.silence, asked).await else {
        return Err(faults.timeout());
    };
    let mut seen = Seen::default();
    let reply = reply.map_err(|error| {
        if let genai::Error::ChatResponseGeneration { response_body, .. } = &error {
            seen.note(response_body);
        }
        seen.error(error, faults)
    })?;
    let body = reply.captured_raw_body.unwrap_or_default();
    if body.get("error").is_some_and(|error| !error.is_null()) {
        return Err(faults.provider(&body));
    }
    seen.note(&body);
    let mut calls = Vec::new();
    for part in reply.content {
        match part {
            ContentPart::Text(text) => emitter.text(text).await,
            ContentPart::ToolCall(call) => calls.push(call),
            _ => {}
        }
    }
    let unended = || faults.unreadable("it does not say why it ended");
    let ending = Ending {
        calls: numbered(calls, &HashMap::new()),
        usage: usage(&reply.usage),
        reason: reply.stop_reason.ok_or_else(unended)?,
        seen,
    };
    emitter.ending(ending, faults).await
}

/// The calls of a reply, each with an id. genai gives arguments as values; where it gave their text before, that is kept, because it
/// has every key and every digit.
fn numbered(calls: Vec<Called>, written: &HashMap<(String, String), String>) -> Vec<ToolCall> {
    let call = |(number, call): (usize, Called)| {
        let key = (call.call_id, call.fn_name);
        let arguments = match call.fn_arguments {
            Value::String(text) => text,
            value => {
                let is_it =
                    |text: &&String| serde_json::from_str(text).ok().as_ref() == Some(&value);
                let text = written.get(&key).filter(is_it).cloned();
                text.unwrap_or_else(|| value.to_string())
            }
        };
        let (id, name) = key;
        let id = if id.is_empty() {
            format!("call_{number}")
        } else {
            id
        };
        ToolCall::new(id, name, arguments)
    };
    calls.into_iter().enumerate().map(call).collect()
}

/// What genai counted; `None` where the provider said nothing.
fn usage(counted: &genai::chat::Usage) -> Option<Usage> {
    let tokens = |count: Option<i32>| u64::try_from(count.unwrap_or_default()).unwrap_or_default();
    counted.prompt_tokens.or(counted.completion_tokens)?;
    Some(Usage::new(
        tokens(counted.prompt_tokens),
        tokens(counted.completion_tokens),
    ))
}

impl ReplyEmitter {
    async fn text(&mut self, text: String) {
        if !text.is_empty() {
            if self.text.len() < REMEMBERED {
                self.text.push_str(&text);
            }
            self.give(Delta::Text(text)).await;
        }
    }

    async fn ending(&mut self, ending: Ending, faults: Faults<'_>) -> Result<(), ModelError> {
        if let Some(usage) = ending.usage {
            self.span
                .record("gen_ai.usage.input_tokens", usage.input_tokens);
            self.span
                .record("gen_ai.usage.output_tokens", usage.output_tokens);
            self.give(Delta::Usage(usage)).await;
        }
        let withheld = match ending.reason {
            StopReason::MaxTokens(_) => return Err(ModelError::TooLong),
            StopReason::ContentFilter(reason) => Some(reason),
            // `MALFORMED_FUNCTION_CALL` and the like: nothing was said, which would pass for an empty answer.
            StopReason::Other(reason) if !self.begun && ending.calls.is_empty() => Some(reason),
            // genai leaves out pieces of calls without an index.
            StopReason::ToolCall(_) if ending.calls.is_empty() => {
                return Err(faults.unreadable("it ends for a call, and has none with an index"));
            }
            _ => ending.seen.reason,
        };
        if let Some(reason) = withheld {
            let said = match &*ending.seen.said {
                "" => &self.text,
                said => said,
            };
            return Err(faults.withheld(&reason, said));
        }
        for call in ending.calls {
            self.give(Delta::Call(call)).await;
        }
        Ok(())
    }

    async fn give(&mut self, piece: Delta) {
        self.begun |= !matches!(piece, Delta::Usage(_));
        self.emitter.emit(Ok(piece)).await;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use serde_json::{Value, json};

    use super::{Called, ToolCall, numbered};

    #[test]
    fn arguments_are_kept_as_they_were_written_and_every_call_has_an_id() {
        let called = |id: &str, arguments: Value| Called {
            call_id: id.to_owned(),
            fn_name: "f".to_owned(),
            fn_arguments: arguments,
            thought_signatures: None,
        };
        let key = |id: &str| (id.to_owned(), "f".to_owned());
        let text = r#"{"a": 1, "a": 2}"#;
        let written = HashMap::from([(key("1"), text.to_owned()), (key("2"), "{".to_owned())]);
        let calls = vec![
            called("1", json!({"a": 2})),
            // Another call with the same id.
            called("1", json!({"a": 3})),
            called("2", json!("{")),
            called("", json!({})),
        ];
        let expected = [
            ToolCall::new("1", "f", text),
            ToolCall::new("1", "f", r#"{"a":3}"#),
            ToolCall::new("2", "f", "{"),
            ToolCall::new("call_3", "f", "{}"),
        ];
        assert_eq!(numbered(calls, &written), expected);
    }
}
