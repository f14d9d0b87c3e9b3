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
use serde_json::{Value, json};
use tracing::{Span, field};

use super::fault::Faults;
use super::provider::Provider;
use crate::generator::Emitter;
use crate::model::{Delta, ModelError, Reasoning, Usage};

/// Gives out the pieces of a reply, and remembers whether there were any.
pub(super) struct ReplyEmitter<'m> {
    pub(super) provider: Provider,
    pub(super) model: &'m str,
    pub(super) emitter: Emitter<Result<Delta, ModelError>>,
    pub(super) span: Span,
    pub(super) begun: bool,
    /// The beginning of the text.
    pub(super) text: String,
}

/// How much of the text is remembered, in bytes: more than is shown where it is withheld.
const REMEMBERED: usize = 8_000;

/// What genai does not read: whether there was an event at all, a refusal beside the text of a reply or in its place, and reasoning
/// that goes back (genai trims it, and takes what only some servers want back for the same).
#[derive(Default)]
struct Seen {
    any: bool,
    /// The model that replied, by its provider's name.
    model: Option<String>,
    reason: Option<String>,
    said: String,
    reasoning: String,
    /// The tokens of reasoning in a stream of Anthropic's.
    reasoning_tokens: u64,
    /// The id of the call under each index of a stream of chat completions.
    ids: HashMap<u64, String>,
    /// Two calls have one index, and genai makes one of them.
    is_merged: bool,
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
        let model = ["/model", "/message/model", "/modelVersion"];
        if let Some(model) = model.into_iter().find_map(text) {
            self.model = Some(model.to_owned());
        }
        let completion = ["/choices/0/delta/refusal", "/choices/0/message/refusal"];
        if let Some(said) = completion.into_iter().find_map(text) {
            self.reason.get_or_insert_with(|| "refusal".to_owned());
            self.said.push_str(said);
        }
        let reasoning = [
            "/choices/0/delta/reasoning_content",
            "/choices/0/message/reasoning_content",
        ];
        if let Some(thought) = reasoning.into_iter().find_map(text) {
            self.reasoning.push_str(thought);
        }
        let pieces = body
            .pointer("/choices/0/delta/tool_calls")
            .and_then(Value::as_array);
        for piece in pieces.into_iter().flatten() {
            if let (Some(index), Some(id)) = (piece["index"].as_u64(), piece["id"].as_str())
                && !id.is_empty()
            {
                self.is_merged |= self.ids.entry(index).or_insert_with(|| id.to_owned()) != id;
            }
        }
        let tokens = body.pointer("/usage/output_tokens_details/thinking_tokens");
        if let Some(tokens) = tokens.and_then(Value::as_u64) {
            self.reasoning_tokens = tokens;
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
    reasoning: Vec<Value>,
    usage: Option<Usage>,
    reason: StopReason,
    seen: Seen,
}

pub(super) async fn streamed(
    client: &Client,
    target: ServiceTarget,
    chat: ChatRequest,
    options: ChatOptions,
    emitter: &mut ReplyEmitter<'_>,
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
            ChatStreamEvent::ReasoningChunk(piece) => emitter.reasoning(piece.content).await,
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
    if seen.is_merged {
        return Err(faults.unreadable(
            "several of its calls have one index; `streaming(false)` keeps them apart",
        ));
    }
    let end = end.ok_or(ModelError::Cut)?;
    let mut usage = end.captured_usage.as_ref().and_then(usage);
    if let Some(usage) = &mut usage {
        usage.reasoning_tokens = usage.reasoning_tokens.max(seen.reasoning_tokens);
    }
    let reason = end.captured_stop_reason.ok_or(ModelError::Cut)?;
    let content = end.captured_content.unwrap_or_default();
    let (calls, reasoning) = kept(emitter.provider, content.into_parts(), &seen);
    let ending = Ending {
        calls: numbered(calls, &written),
        reasoning,
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
    emitter: &mut ReplyEmitter<'_>,
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
    emitter
        .reasoning(reply.reasoning_content.unwrap_or_default())
        .await;
    for text in reply.content.texts() {
        emitter.text(text.to_owned()).await;
    }
    let (calls, reasoning) = kept(emitter.provider, reply.content.into_parts(), &seen);
    let unended = || faults.unreadable("it does not say why it ended");
    let ending = Ending {
        calls: numbered(calls, &HashMap::new()),
        reasoning,
        usage: usage(&reply.usage),
        reason: reply.stop_reason.ok_or_else(unended)?,
        seen,
    };
    emitter.ending(ending, faults).await
}

/// The calls of a reply, and what its provider wants back of its reasoning.
fn kept(provider: Provider, parts: Vec<ContentPart>, seen: &Seen) -> (Vec<Called>, Vec<Value>) {
    let (mut calls, mut kept) = (Vec::new(), Vec::new());
    if !seen.reasoning.is_empty() {
        kept.push(json!({"reasoning_content": seen.reasoning}));
    }
    for part in parts {
        match part {
            ContentPart::ToolCall(call) => {
                // Elsewhere they repeat what stands before the text.
                if provider == Provider::Gemini
                    && let Some([signature, ..]) = call.thought_signatures.as_deref()
                {
                    kept.push(json!({"signature": signature, "call": calls.len()}));
                }
                calls.push(call);
            }
            ContentPart::ThoughtSignature(signature) => kept.push(json!({"signature": signature})),
            // genai has the signature of a block before its text.
            ContentPart::ReasoningContent(text) if provider == Provider::Anthropic => {
                if let Some(Value::Object(block)) = kept.last_mut() {
                    block.insert("type".to_owned(), json!("thinking"));
                    block.insert("thinking".to_owned(), json!(text));
                }
            }
            ContentPart::Custom(part)
                if part.typ().is_some_and(|kind| {
                    kind == "redacted_thinking" || kind.starts_with("reasoning.")
                }) =>
            {
                kept.push(part.data);
            }
            _ => {}
        }
    }
    (calls, kept)
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
    let mut usage = Usage::new(
        tokens(counted.prompt_tokens),
        tokens(counted.completion_tokens),
    );
    if let Some(read) = &counted.prompt_tokens_details {
        usage.cached_tokens = tokens(read.cached_tokens);
    }
    if let Some(written) = &counted.completion_tokens_details {
        usage.reasoning_tokens = tokens(written.reasoning_tokens);
    }
    Some(usage)
}

impl ReplyEmitter<'_> {
    async fn text(&mut self, text: String) {
        if !text.is_empty() {
            if self.text.len() < REMEMBERED {
                self.text.push_str(&text);
            }
            self.give(Delta::Text(text)).await;
        }
    }

    async fn reasoning(&mut self, text: String) {
        if !text.is_empty() {
            self.give(Delta::Reasoning(text)).await;
        }
    }

    async fn ending(&mut self, ending: Ending, faults: Faults<'_>) -> Result<(), ModelError> {
        let (model, reason) = (ending.seen.model.as_deref(), ending.reason.raw());
        self.span.record("gen_ai.response.model", model);
        self.span
            .record("gen_ai.response.finish_reasons", field::debug([reason]));
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
            StopReason::Other(reason) if self.text.is_empty() && ending.calls.is_empty() => {
                Some(reason)
            }
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
        if !ending.reasoning.is_empty() {
            let reasoning = Reasoning::new(self.provider.name(), self.model, ending.reasoning);
            self.give(Delta::KeptReasoning(reasoning)).await;
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
