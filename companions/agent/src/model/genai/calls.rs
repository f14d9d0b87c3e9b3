//! Assembles tool calls that are streamed in pieces.

use contract_runtime::ToolCall;
use genai::chat::ToolCall as Called;
use serde_json::Value;

/// Tool calls as they come, with their arguments as the model wrote them.
#[derive(Debug, Default)]
pub(super) struct Calls(Vec<Slot>);

#[derive(Debug)]
struct Slot {
    index: Option<u64>,
    call: ToolCall,
}

impl Calls {
    /// A whole call of a chat-completions reply.
    pub(super) fn push_whole(&mut self, call: &Value) {
        let mut alone = Self::default();
        alone.piece(call);
        self.0.append(&mut alone.0);
    }

    /// A piece of a call in a chat-completions reply. Some servers leave the index out, and some give one index to several calls.
    pub(super) fn piece(&mut self, piece: &Value) {
        let index = piece.get("index").and_then(Value::as_u64);
        let text = |pointer| piece.pointer(pointer).and_then(Value::as_str);
        let id = text("/id").unwrap_or_default();
        let named = text("/function/name").is_some_and(|name| !name.is_empty());
        let continued = self.0.iter().rposition(|slot| {
            let same_call = id.is_empty() || slot.call.id.is_empty() || slot.call.id == id;
            // Without an index and an id, a name is all that begins a call.
            let begins = index.is_none() && id.is_empty() && named && !slot.call.name.is_empty();
            slot.index == index && same_call && !begins
        });
        let place = continued.unwrap_or_else(|| {
            let call = ToolCall::new(id, "", "");
            self.0.push(Slot { index, call });
            self.0.len() - 1
        });
        let Some(Slot { call, .. }) = self.0.get_mut(place) else {
            return;
        };
        if call.id.is_empty() {
            id.clone_into(&mut call.id);
        }
        if call.name.is_empty() {
            text("/function/name")
                .unwrap_or_default()
                .clone_into(&mut call.name);
        }
        match piece.pointer("/function/arguments") {
            Some(Value::String(more)) => call.arguments.push_str(more),
            None | Some(Value::Null) => {}
            Some(whole) => call.arguments = whole.to_string(),
        }
    }

    /// A call as genai tells it: with the text so far, or with arguments that are JSON already.
    pub(super) fn push_called(&mut self, told: &Called) {
        let arguments = match &told.fn_arguments {
            Value::String(so_far) => so_far.clone(),
            whole => whole.to_string(),
        };
        let in_pieces = told.fn_arguments.is_string();
        // Two calls may have one id. The text so far of the same call only grows.
        let grows = |call: &ToolCall| {
            let same = call.id == told.call_id && call.name == told.fn_name;
            in_pieces && same && arguments.starts_with(&call.arguments)
        };
        match self.0.last_mut() {
            Some(Slot { call, .. }) if grows(call) => {
                call.arguments = arguments;
            }
            _ => self.0.push(Slot {
                index: None,
                call: ToolCall::new(told.call_id.as_str(), told.fn_name.as_str(), arguments),
            }),
        }
    }

    /// All of them, each with an id.
    pub(super) fn take(&mut self) -> Vec<ToolCall> {
        let slots = std::mem::take(&mut self.0).into_iter().enumerate();
        slots
            .map(|(number, Slot { mut call, .. })| {
                if call.id.is_empty() {
                    call.id = format!("call_{number}");
                }
                call
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use contract_runtime::ToolCall;
    use serde_json::{Value, json};

    use super::Calls;

    fn of(pieces: &[Value]) -> Vec<ToolCall> {
        let mut calls = Calls::default();
        for piece in pieces {
            calls.piece(piece);
        }
        calls.take()
    }

    fn piece(index: Option<u64>, id: Option<&str>, name: Option<&str>, arguments: &str) -> Value {
        json!({"index": index, "id": id, "function": {"name": name, "arguments": arguments}})
    }

    #[test]
    fn pieces_of_several_calls_may_come_in_any_order() {
        let calls = of(&[
            piece(Some(1), Some("b"), Some("two"), ""),
            piece(Some(0), Some("a"), Some("one"), r#"{"x""#),
            piece(Some(1), None, None, r#"{"y":2}"#),
            piece(Some(0), None, None, r":1}"),
        ]);
        let expected = [
            ToolCall::new("b", "two", r#"{"y":2}"#),
            ToolCall::new("a", "one", r#"{"x":1}"#),
        ];
        assert_eq!(calls, expected);
    }

    #[test]
    fn calls_without_an_index_or_with_the_same_one_are_told_apart_by_their_ids() {
        for index in [None, Some(0)] {
            let calls = of(&[
                piece(index, Some("a"), Some("one"), "{}"),
                piece(index, Some("b"), Some("one"), "{"),
                piece(index, None, None, "}"),
            ]);
            let expected = [
                ToolCall::new("a", "one", "{}"),
                ToolCall::new("b", "one", "{}"),
            ];
            assert_eq!(calls, expected, "{index:?}");
        }
    }

    #[test]
    fn a_call_without_an_id_gets_one_and_arguments_may_be_an_object() {
        let calls = of(&[json!({"function": {"name": "one", "arguments": {"x": 1}}})]);
        assert_eq!(calls, [ToolCall::new("call_0", "one", r#"{"x":1}"#)]);
    }

    #[test]
    fn two_calls_of_one_id_whose_arguments_come_so_far_are_two() {
        let mut calls = Calls::default();
        let pieces = [
            ("one", ""),
            ("one", "{\"x\""),
            ("one", "{\"x\":1}"),
            ("one", ""),
            ("one", "{}"),
            ("two", "{}"),
        ];
        for (name, so_far) in pieces {
            calls.push_called(&genai::chat::ToolCall {
                call_id: "a".to_owned(),
                fn_name: name.to_owned(),
                fn_arguments: json!(so_far),
                thought_signatures: None,
            });
        }
        let expected = [
            ToolCall::new("a", "one", r#"{"x":1}"#),
            ToolCall::new("a", "one", "{}"),
            ToolCall::new("a", "two", "{}"),
        ];
        assert_eq!(calls.take(), expected);
    }

    #[test]
    fn calls_without_index_and_id_are_told_apart_by_their_names() {
        let calls = of(&[
            piece(None, None, Some("one"), "{"),
            piece(None, None, None, "}"),
            piece(None, None, Some("one"), "{}"),
        ]);
        let expected = [
            ToolCall::new("call_0", "one", "{}"),
            ToolCall::new("call_1", "one", "{}"),
        ];
        assert_eq!(calls, expected);
    }
}
