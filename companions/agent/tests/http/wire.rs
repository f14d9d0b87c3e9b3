//! Replies in the protocols of the providers. Every reply costs ten tokens in and five out.
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

/// A chunk of chat completions.
pub(crate) fn chunk(delta: &Value, reason: Option<&str>) -> String {
    data(&json!({
        "id": "chatcmpl-1",
        "object": "chat.completion.chunk",
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

fn chat_completion_chunks(answer: &Answer) -> Vec<String> {
    let mut events = vec![chunk(&json!({"role": "assistant", "content": ""}), None)];
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
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    events.push(data(&json!({"choices": [], "usage": usage})));
    events.push(DONE.to_owned());
    events
}

fn chat_completion(answer: &Answer) -> Value {
    let message = match answer {
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
    let reason = if matches!(answer, Answer::Says(_)) {
        "stop"
    } else {
        "tool_calls"
    };
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": reason}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    })
}

fn message_events(answer: &Answer) -> Vec<String> {
    let usage = json!({"input_tokens": 10, "output_tokens": 1});
    let start = json!({"message": {"role": "assistant", "content": [], "usage": usage}});
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
    let reason = match answer {
        Answer::Says(text) => {
            let halves = halves(text).map(|half| json!({"type": "text_delta", "text": half}));
            block(0, json!({"type": "text", "text": ""}), halves.to_vec());
            "end_turn"
        }
        Answer::Calls(calls) => {
            for (index, (id, name, arguments)) in calls.iter().enumerate() {
                let [first, second] = halves(arguments);
                let pieces = ["", &first, &second];
                let deltas =
                    pieces.map(|piece| json!({"type": "input_json_delta", "partial_json": piece}));
                let content = json!({"type": "tool_use", "id": id, "name": name, "input": {}});
                block(index, content, deltas.to_vec());
            }
            "tool_use"
        }
        other => panic!("{other:?} is no reply"),
    };
    let end = json!({"delta": {"stop_reason": reason}, "usage": {"output_tokens": 5}});
    events.push(named("message_delta", end));
    events.push(named("message_stop", json!({})));
    events
}

fn parsed(arguments: &str) -> Value {
    serde_json::from_str(arguments).expect("this protocol sends arguments as JSON")
}

fn message(answer: &Answer) -> Value {
    let (content, reason) = match answer {
        Answer::Says(text) => (json!([{"type": "text", "text": text}]), "end_turn"),
        Answer::Calls(calls) => {
            let calls = calls.iter().map(|(id, name, arguments)| {
                json!({"type": "tool_use", "id": id, "name": name, "input": parsed(arguments)})
            });
            (calls.collect(), "tool_use")
        }
        other => panic!("{other:?} is no reply"),
    };
    json!({
        "type": "message",
        "role": "assistant",
        "content": content,
        "stop_reason": reason,
        "usage": {"input_tokens": 10, "output_tokens": 5},
    })
}

fn gemini(answer: &Answer) -> Value {
    let parts: Vec<Value> = match answer {
        Answer::Says(text) => vec![json!({"text": text})],
        Answer::Calls(calls) => calls
            .iter()
            .map(|(id, name, arguments)| {
                json!({"functionCall": {"id": id, "name": name, "args": parsed(arguments)}})
            })
            .collect(),
        other => panic!("{other:?} is no reply"),
    };
    json!({
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP"}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
    })
}
