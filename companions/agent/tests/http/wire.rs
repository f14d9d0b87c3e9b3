//! Replies in the protocols of the providers. Every reply costs ten tokens in, four of them cached, and five out, three of them
//! reasoning.
//!
//! Sources: `OpenAI` API reference, "Chat completion object" and "chunk object"; Anthropic API reference, "Messages" and
//! "Streaming messages"; Gemini API reference, `GenerateContentResponse`; all of 2026.

use contract_agent::Provider;
use serde_json::{Value, json};

use crate::server::Answer;

pub(crate) fn provider(path: &str) -> Provider {
    if path.contains("chat/completions") {
        Provider::OpenAi
    } else if path.contains("enerateContent") {
        Provider::Gemini
    } else {
        assert!(path.contains("/messages"), "no provider is asked at {path}");
        Provider::Anthropic
    }
}

/// The last event of chat completions.
pub(crate) const DONE: &str = "data: [DONE]\n\n";

/// An event without a name.
pub(crate) fn data(value: &Value) -> String {
    format!("data: {value}\n\n")
}

/// An event of Anthropic's.
pub(crate) fn named(name: &str, mut value: Value) -> String {
    value["type"] = json!(name);
    format!("event: {name}\ndata: {value}\n\n")
}

/// The name that servers give the model that replies.
pub(crate) const SERVED: &str = "some-model-2025-12-01";

/// A chunk of chat completions.
pub(crate) fn chunk(delta: &Value, reason: Option<&str>) -> String {
    data(&json!({
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
        "model": SERVED,
        "choices": [{"index": 0, "delta": delta, "finish_reason": reason}],
    }))
}

/// The events of a streamed reply.
pub(crate) fn events(provider: Provider, answer: &Answer) -> Vec<String> {
    match provider {
        Provider::OpenAi => chat_completion_chunks(answer),
        Provider::Anthropic => message_events(answer),
        _ => vec![data(&gemini(answer))],
    }
}

/// A reply as one JSON text.
pub(crate) fn whole(provider: Provider, answer: &Answer) -> String {
    match provider {
        Provider::OpenAi => chat_completion(answer).to_string(),
        Provider::Anthropic => message(answer).to_string(),
        _ => gemini(answer).to_string(),
    }
}

/// Two halves, however the letters are encoded.
fn halves(text: &str) -> [String; 2] {
    let half = text.chars().count() / 2;
    [
        text.chars().take(half).collect(),
        text.chars().skip(half).collect(),
    ]
}

/// The reasoning of a reply, and the reply.
fn taken_apart(answer: &Answer) -> (Option<&'static str>, &Answer) {
    match answer {
        Answer::Reasons(thought, answer) => (Some(thought), answer),
        _ => (None, answer),
    }
}

/// What a provider wants back of a reply with this reasoning.
pub(crate) fn reasoning(provider: Provider, thought: &str) -> Value {
    match provider {
        Provider::OpenAi => json!(thought),
        Provider::Anthropic => json!([
            {"type": "thinking", "thinking": thought, "signature": format!("signed {thought}")},
            {"type": "redacted_thinking", "data": "encrypted"},
        ]),
        _ => json!([format!("signed {thought}")]),
    }
}

/// What a request has of that, for each reply that it holds and that reasoned.
pub(crate) fn returned(provider: Provider, body: &Value) -> Vec<Value> {
    let messages = body["messages"].as_array().or(body["contents"].as_array());
    let messages = messages.into_iter().flatten();
    let replies = messages.filter(|one| one["role"] == "assistant" || one["role"] == "model");
    let parts = |all: &Value, of: fn(&Value) -> Option<Value>| {
        let parts = all.as_array().into_iter().flatten();
        Value::Array(parts.filter_map(of).collect())
    };
    let returned = replies.map(|reply| match provider {
        Provider::OpenAi => reply["reasoning_content"].clone(),
        Provider::Anthropic => parts(&reply["content"], |part| {
            let kind = part["type"].as_str()?;
            kind.contains("thinking").then(|| part.clone())
        }),
        _ => parts(&reply["parts"], |part| {
            part.get("thoughtSignature").cloned()
        }),
    });
    let is_there = |one: &Value| *one != Value::Null && *one != json!([]);
    returned.filter(is_there).collect()
}

fn chat_completion_chunks(answer: &Answer) -> Vec<String> {
    let (thought, answer) = taken_apart(answer);
    let mut events = vec![chunk(&json!({"role": "assistant", "content": ""}), None)];
    for half in thought.into_iter().flat_map(halves) {
        events.push(chunk(&json!({"reasoning_content": half}), None));
    }
    let reason = match answer {
        Answer::Says(text) => {
            events.extend(halves(text).map(|half| chunk(&json!({"content": half}), None)));
            "stop"
        }
        Answer::Calls(calls) => {
            for (index, (id, name, arguments)) in calls.iter().enumerate() {
                let function = json!({"name": name, "arguments": ""});
                let call =
                    json!({"index": index, "id": id, "type": "function", "function": function});
                events.push(chunk(&json!({"tool_calls": [call]}), None));
                for half in halves(arguments) {
                    let call = json!({"index": index, "function": {"arguments": half}});
                    events.push(chunk(&json!({"tool_calls": [call]}), None));
                }
            }
            "tool_calls"
        }
        other => panic!("{other:?} is no reply"),
    };
    events.push(chunk(&json!({}), Some(reason)));
    events.push(data(
        &json!({"choices": [], "usage": chat_completion_usage()}),
    ));
    events.push(DONE.to_owned());
    events
}

fn chat_completion_usage() -> Value {
    json!({
        "prompt_tokens": 10,
        "prompt_tokens_details": {"cached_tokens": 4},
        "completion_tokens": 5,
        "completion_tokens_details": {"reasoning_tokens": 3},
        "total_tokens": 15,
    })
}

fn chat_completion(answer: &Answer) -> Value {
    let (thought, answer) = taken_apart(answer);
    let mut message = match answer {
        Answer::Says(text) => json!({"role": "assistant", "content": text}),
        Answer::Calls(calls) => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|(id, name, arguments)| {
                    let function = json!({"name": name, "arguments": arguments});
                    json!({"id": id, "type": "function", "function": function})
                })
                .collect();
            json!({"role": "assistant", "content": null, "tool_calls": calls})
        }
        other => panic!("{other:?} is no reply"),
    };
    if let Some(thought) = thought {
        message["reasoning_content"] = json!(thought);
    }
    let reason = if matches!(answer, Answer::Says(_)) {
        "stop"
    } else {
        "tool_calls"
    };
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "model": SERVED,
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": chat_completion_usage(),
    })
}

fn message_events(answer: &Answer) -> Vec<String> {
    let (thought, answer) = taken_apart(answer);
    let usage = json!({"input_tokens": 6, "cache_read_input_tokens": 4, "output_tokens": 1});
    let message = json!({"role": "assistant", "model": SERVED, "content": [], "usage": usage});
    let start = json!({"message": message});
    let mut events = vec![named("message_start", start), named("ping", json!({}))];
    let mut block = |index: usize, content: Value, deltas: Vec<Value>| {
        let start = json!({"index": index, "content_block": content});
        events.push(named("content_block_start", start));
        for delta in deltas {
            let delta = json!({"index": index, "delta": delta});
            events.push(named("content_block_delta", delta));
        }
        events.push(named("content_block_stop", json!({"index": index})));
    };
    let mut offset = 0;
    if let Some(thought) = thought {
        let mut deltas = halves(thought)
            .map(|half| json!({"type": "thinking_delta", "thinking": half}))
            .to_vec();
        let signature = format!("signed {thought}");
        deltas.push(json!({"type": "signature_delta", "signature": signature}));
        let content = json!({"type": "thinking", "thinking": "", "signature": ""});
        block(0, content, deltas);
        let redacted = json!({"type": "redacted_thinking", "data": "encrypted"});
        block(1, redacted, Vec::new());
        offset = 2;
    }
    let reason = match answer {
        Answer::Says(text) => {
            let halves = halves(text).map(|half| json!({"type": "text_delta", "text": half}));
            block(offset, json!({"type": "text", "text": ""}), halves.to_vec());
            "end_turn"
        }
        Answer::Calls(calls) => {
            for (index, (id, name, arguments)) in calls.iter().enumerate() {
                let [first, second] = halves(arguments);
                let pieces = ["", &first, &second];
                let deltas =
                    pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
                let content = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                block(offset + index, content, deltas.to_vec());
            }
            "tool_use"
        }
        other => panic!("{other:?} is no reply"),
    };
    let usage = json!({"output_tokens": 5, "output_tokens_details": {"thinking_tokens": 3}});
    let end = json!({"delta": {"stop_reason": reason}, "usage": usage});
    events.push(named("message_delta", end));
    events.push(named("message_stop", json!({})));
    events
}

fn parsed(arguments: &str) -> Value {
    serde_json::from_str(arguments).expect("this protocol sends arguments as JSON")
}

fn message(answer: &Answer) -> Value {
    let (thought, answer) = taken_apart(answer);
    let (mut content, reason) = match answer {
        Answer::Says(text) => (json!([{"type": "text", "text": text}]), "end_turn"),
        Answer::Calls(calls) => {
            let calls = calls.iter().map(|(id, name, arguments)| {
                json!({"type": "tool_use", "id": id, "name": name, "input": parsed(arguments)})
            });
            (calls.collect(), "tool_use")
        }
        other => panic!("{other:?} is no reply"),
    };
    if let (Some(thought), Value::Array(content)) = (thought, &mut content) {
        let Value::Array(blocks) = reasoning(Provider::Anthropic, thought) else {
            unreachable!("they are blocks");
        };
        content.splice(..0, blocks);
    }
    json!({
        "type": "message",
        "role": "assistant",
        "model": SERVED,
        "content": content,
        "stop_reason": reason,
        "usage": {
            "input_tokens": 6,
            "cache_read_input_tokens": 4,
            "output_tokens": 5,
            "output_tokens_details": {"thinking_tokens": 3},
        },
    })
}

fn gemini(answer: &Answer) -> Value {
    let (thought, answer) = taken_apart(answer);
    let mut parts: Vec<Value> = match answer {
        Answer::Says(text) => vec![json!({"text": text})],
        Answer::Calls(calls) => calls
            .iter()
            .map(|(id, name, arguments)| {
                json!({"functionCall": {"id": id, "name": name, "args": parsed(arguments)}})
            })
            .collect(),
        other => panic!("{other:?} is no reply"),
    };
    if let Some(thought) = thought {
        parts[0]["thoughtSignature"] = json!(format!("signed {thought}"));
        parts.insert(0, json!({"text": thought, "thought": true}));
    }
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "modelVersion": SERVED,
        "usageMetadata": {
            "promptTokenCount": 10,
            "cachedContentTokenCount": 4,
            "candidatesTokenCount": 2,
            "thoughtsTokenCount": 3,
            "totalTokenCount": 15,
        },
    })
}
