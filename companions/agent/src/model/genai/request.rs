//! Converts a conversation and its tools to a provider's request.

use std::time::Duration;

use contract_dialects::{StrictDialect, StrictExport as _};
use contract_runtime::{Dialect, Status, ToolCall};
use genai::chat::{
    CacheControl, ChatMessage, ChatOptions, ChatRequest, ContentPart, CustomPart, JsonSpec,
    MessageContent, ReasoningEffort as Effort, ToolCall as Called, ToolResponse,
};
use serde_json::{Map, Value, json};

use super::provider::Provider;
use super::secrets::Secrets;
use crate::message::Message;
use crate::model::{ModelError, Reasoning, Request};

/// What every request of a model has.
#[derive(Clone)]
pub(super) struct Settings {
    pub(super) model: String,
    pub(super) provider: Provider,
    pub(super) endpoint: String,
    /// The chosen one, if any.
    pub(super) dialect: Option<StrictDialect>,
    pub(super) streams: bool,
    pub(super) constrains: bool,
    pub(super) silence: Duration,
    pub(super) retries: u32,
    pub(super) max_tokens: Option<u32>,
    pub(super) temperature: Option<f64>,
    pub(super) effort: Option<ReasoningEffort>,
    pub(super) tool_choice: Option<ToolChoice>,
    pub(super) caches: bool,
    pub(super) extra_body: Map<String, Value>,
    pub(super) secrets: Secrets,
}

/// How much a model thinks before it speaks; genai chooses the field, or the number of tokens, by provider and model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ReasoningEffort {
    /// Not at all.
    Off,
    /// Little.
    Low,
    /// More.
    Medium,
    /// Much.
    High,
    /// As much as the model can.
    Max,
    /// At most so many tokens; chat completions have no field for it.
    Tokens(u32),
}

/// Which tools a model may call, or must.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ToolChoice {
    /// Any, or none.
    Auto,
    /// None.
    Off,
    /// At least one. A model that must call a tool does not answer.
    Required,
    /// The one of this name. A model that must call a tool does not answer.
    Tool(String),
}

/// What has been said. All results of one reply are one message.
pub(super) fn conversation(messages: &[Message], settings: &Settings) -> ChatRequest {
    let provider = settings.provider;
    let is_result = |message: &Message| matches!(message, Message::Tool { .. });
    let groups = messages.chunk_by(|one, next| is_result(one) && is_result(next));
    let said = groups.filter_map(|group| match group.first()? {
        Message::System { text, .. } => Some(ChatMessage::system(text.as_str())),
        Message::User { text } => Some(ChatMessage::user(text.as_str())),
        Message::Assistant {
            text,
            calls,
            reasoning,
        } => {
            let is_own = |given: &&Reasoning| {
                given.provider == provider.name() && given.model == settings.model
            };
            let kept = reasoning.as_ref().filter(is_own);
            assistant(text, calls, kept.map_or(&[], |kept| &kept.data), provider)
        }
        Message::Tool { .. } => {
            let results: Vec<ContentPart> = group
                .iter()
                .filter_map(|message| result(message, provider))
                .collect();
            Some(ChatMessage::tool(MessageContent::from_parts(results)))
        }
    });
    let mut said: Vec<ChatMessage> = said.collect();
    // The end of what is cached: all before it is, the tools too. Other providers find it themselves.
    if settings.caches
        && provider == Provider::Anthropic
        && let Some(last) = said.last_mut()
    {
        last.options = Some(CacheControl::Ephemeral.into());
    }
    ChatRequest::from_messages(said)
}

fn result(message: &Message, provider: Provider) -> Option<ContentPart> {
    let Message::Tool {
        call_id,
        tool,
        status,
        text,
        ..
    } = message
    else {
        return None;
    };
    if provider != Provider::Anthropic {
        let response = ToolResponse::new(call_id, text.as_str()).with_fn_name(tool);
        return Some(ContentPart::ToolResponse(response));
    }
    // Only here can be said that a call did not end well, and genai has no word for it.
    Some(ContentPart::Custom(CustomPart {
        model_iden: None,
        data: json!({
            "type": "tool_result",
            "tool_use_id": call_id,
            "content": text,
            "is_error": *status != Status::Ok,
        }),
    }))
}

fn assistant(
    text: &str,
    calls: &[ToolCall],
    reasoning: &[Value],
    provider: Provider,
) -> Option<ChatMessage> {
    // Anthropic and Gemini refuse a message without content; others miss one that is left out.
    if text.is_empty() && calls.is_empty() && provider != Provider::OpenAi {
        return None;
    }
    let string = |kept: &Value, key| Some(kept.get(key)?.as_str()?.to_owned());
    let mut parts: Vec<ContentPart> = reasoning
        .iter()
        .filter_map(|kept| {
            Some(match provider {
                Provider::Gemini if kept.get("call").is_some() => return None,
                Provider::Gemini => ContentPart::ThoughtSignature(string(kept, "signature")?),
                _ => string(kept, "reasoning_content").map_or_else(
                    || ContentPart::from_custom(kept.clone(), None),
                    ContentPart::ReasoningContent,
                ),
            })
        })
        .collect();
    if !text.is_empty() || calls.is_empty() {
        parts.push(ContentPart::Text(text.to_owned()));
    }
    parts.extend(calls.iter().enumerate().map(|(place, call)| {
        let mut own = reasoning
            .iter()
            .filter(|kept| kept.get("call") == Some(&json!(place)));
        ContentPart::ToolCall(Called {
            call_id: call.id.clone(),
            fn_name: call.name.clone(),
            fn_arguments: Value::Object(arguments(&call.arguments)),
            thought_signatures: own
                .find_map(|kept| string(kept, "signature"))
                .map(|signature| vec![signature]),
        })
    }));
    Some(ChatMessage::assistant(MessageContent::from_parts(parts)))
}

/// The arguments of an earlier call. Providers demand an object here, or answer with an error: what the model wrote instead
/// of one goes back inside of one.
fn arguments(text: &str) -> Map<String, Value> {
    if text.trim().is_empty() {
        return Map::new();
    }
    match serde_json::from_str(text) {
        Ok(Value::Object(arguments)) => arguments,
        Ok(Value::Null) => Map::new(),
        _ => Map::from_iter([("invalid_json".to_owned(), text.into())]),
    }
}

/// What else is said in the request. The body of `extra_body` replaces what genai wrote under the same names.
pub(super) fn options(
    request: &Request<'_>,
    settings: &Settings,
) -> Result<ChatOptions, ModelError> {
    let mut body = Map::new();
    let effort = settings.effort;
    let mut options = ChatOptions::default()
        // Of Gemini it asks for thoughts, which models that cannot think refuse.
        .with_capture_reasoning_content(
            settings.provider != Provider::Gemini
                || effort.is_some_and(|effort| effort != ReasoningEffort::Off),
        )
        .with_capture_usage(true)
        .with_capture_tool_calls(true)
        .with_capture_raw_body(true)
        .with_stream_header_timeout(settings.silence)
        .with_stream_read_timeout(settings.silence);
    if let Some(tools) = tools(request, settings)? {
        body.insert("tools".to_owned(), tools);
        // Without tools it is refused.
        options.tool_choice = settings.tool_choice.clone().map(|choice| match choice {
            ToolChoice::Auto => genai::chat::ToolChoice::Auto,
            ToolChoice::Off => genai::chat::ToolChoice::None,
            ToolChoice::Required => genai::chat::ToolChoice::Required,
            ToolChoice::Tool(name) => genai::chat::ToolChoice::Tool { name },
        });
    }
    options.reasoning_effort = effort.map(|effort| match effort {
        ReasoningEffort::Off => Effort::Zero,
        ReasoningEffort::Low => Effort::Low,
        ReasoningEffort::Medium => Effort::Medium,
        ReasoningEffort::High => Effort::High,
        ReasoningEffort::Max => Effort::Max,
        ReasoningEffort::Tokens(most) => Effort::Budget(most),
    });
    // For some models genai turns caching off without it.
    options.cache_control = settings.caches.then_some(CacheControl::Ephemeral5m);
    match settings.provider {
        Provider::OpenAi => {
            // genai reads `-high`, `-medium` and the like off the end of a name; a budget stops that, and is not sent.
            options.reasoning_effort.get_or_insert(Effort::Budget(0));
            body.insert("model".to_owned(), json!(settings.model));
        }
        Provider::Anthropic => {
            body.insert("model".to_owned(), json!(settings.model));
        }
        // The name stands in the address.
        Provider::Gemini => {}
    }
    if let Some(schema) = request.response_schema.filter(|_| settings.constrains) {
        match settings.provider {
            Provider::OpenAi => {
                let format = json!({"name": "reply", "strict": true, "schema": schema});
                let format = json!({"type": "json_schema", "json_schema": format});
                body.insert("response_format".to_owned(), format);
            }
            // With an effort, genai has to write both into one object.
            Provider::Anthropic if effort.is_none() => {
                let format = json!({"type": "json_schema", "schema": schema});
                body.insert("output_config".to_owned(), json!({"format": format}));
            }
            // Models before Gemini 3 refuse a schema beside tools.
            Provider::Gemini if body.contains_key("tools") => {}
            _ => {
                options = options.with_response_format(JsonSpec::new("reply", schema.clone()));
            }
        }
    }
    options.stop_sequences = request.stop.to_vec();
    options.max_tokens = request.max_tokens.or(settings.max_tokens);
    options.temperature = settings.temperature;
    body.extend(settings.extra_body.clone());
    options.extra_body = Some(Value::Object(body));
    Ok(options)
}

/// The tools exactly as they are exported; genai would make others of them where they are strict.
fn tools(request: &Request<'_>, settings: &Settings) -> Result<Option<Value>, ModelError> {
    let Some(registry) = request.tools else {
        return Ok(None);
    };
    let strict = |dialect| {
        registry
            .export_strict(dialect)
            .map(|exported| exported.tools)
            .map_err(|error| ModelError::Tools {
                message: error.to_string(),
            })
    };
    let plain = |dialect| registry.export(dialect).clone();
    let export = match (settings.dialect, settings.provider) {
        (Some(dialect), _) => strict(dialect)?,
        (None, Provider::OpenAi) => plain(Dialect::OpenAiChat),
        (None, Provider::Anthropic) => plain(Dialect::Anthropic),
        (None, Provider::Gemini) => strict(StrictDialect::GeminiJsonSchema)?,
    };
    // An empty list is refused.
    if export.as_array().is_none_or(Vec::is_empty) {
        return Ok(None);
    }
    Ok(Some(match settings.provider {
        Provider::OpenAi | Provider::Anthropic => export,
        Provider::Gemini => json!([{"functionDeclarations": export}]),
    }))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::arguments;

    #[test]
    fn earlier_arguments_are_always_an_object() {
        let object = |text| serde_json::Value::Object(arguments(text));
        assert_eq!(object(r#"{"b":1,"a":2}"#), json!({"b": 1, "a": 2}));
        assert_eq!(object(" "), json!({}));
        assert_eq!(object("null"), json!({}));
        assert_eq!(object("[1]"), json!({"invalid_json": "[1]"}));
        assert_eq!(object(r#"{"a":"#), json!({"invalid_json": r#"{"a":"#}));
    }
}
