//! The calls of a sequence, and how they are written in a test.

use std::fmt::Write as _;

use contract_runtime::Registry;
use serde::Serialize;
use serde_json::{Value, json};

use crate::subject::write_rust;

/// One call of a sequence.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SequenceCall {
    /// The name of the tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
    /// Whether the call belongs to the same turn as the one before it, so that its model has not read what that one returned.
    pub same_turn: bool,
    /// The arguments that an earlier call returned.
    #[serde(skip)]
    pub(super) returned: Vec<Returned>,
}

/// Where an argument comes from.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Returned {
    /// The place in the arguments, as a JSON pointer.
    pub(super) argument: String,
    /// The call that returned the value, and the place in its result.
    pub(super) call: usize,
    pub(super) place: String,
}

impl SequenceCall {
    /// Reads one that was kept.
    pub(super) fn read(kept: &Value) -> Option<Self> {
        Some(Self {
            tool: kept.get("tool")?.as_str()?.to_owned(),
            arguments: kept.get("arguments")?.clone(),
            same_turn: kept.get("same_turn").and_then(Value::as_bool) == Some(true),
            returned: Vec::new(),
        })
    }

    pub(super) fn write(&self) -> Value {
        let mut kept = json!({"tool": self.tool, "arguments": self.arguments});
        if self.same_turn
            && let Some(members) = kept.as_object_mut()
        {
            members.insert("same_turn".to_owned(), json!(true));
        }
        kept
    }
}

/// Writes the calls as lines of a test.
pub(super) fn lines(calls: &[SequenceCall], registry: &Registry) -> String {
    let tool = |call: &SequenceCall| registry.tool(&call.tool);
    let asks = calls.iter().filter_map(tool).any(|tool| tool.asks());
    let in_run = |call: &SequenceCall| {
        call.same_turn || tool(call).is_some_and(|tool| tool.asks_history() || tool.is_alone())
    };
    let writer = Writer {
        calls,
        in_run: calls.iter().any(in_run),
        asks,
    };
    writer.text()
}

struct Writer<'c> {
    calls: &'c [SequenceCall],
    in_run: bool,
    asks: bool,
}

impl Writer<'_> {
    fn text(&self) -> String {
        let mut text = String::new();
        if self.in_run {
            text.push_str("let run = Run::new();\n");
        }
        for (place, call) in self.calls.iter().enumerate() {
            let shares = self.calls.get(place + 1).is_some_and(|next| next.same_turn);
            if shares && !call.same_turn {
                text.push_str("let turn = run.turn();\n");
            }
            if self.is_used(place) {
                let _ = write!(text, "let {} = ", name(place));
            }
            self.write(
                place,
                call,
                if shares || call.same_turn {
                    "turn"
                } else {
                    "run"
                },
                &mut text,
            );
            text.push_str(match (place + 1 == self.calls.len(), self.is_used(place)) {
                (true, _) => "",
                (false, true) => ".value().unwrap();\n",
                (false, false) => ";\n",
            });
        }
        text
    }

    fn write(&self, place: usize, call: &SequenceCall, run: &str, text: &mut String) {
        let mut arguments = String::new();
        let returned = |at: &str| {
            let from = call.returned.iter().find(|one| one.argument == at)?;
            Some(name(from.call) + &index(&from.place))
        };
        write_rust(&call.arguments, &returned, &mut arguments);
        if !self.in_run && !self.asks {
            let _ = write!(
                text,
                "registry.call((\"\", {:?}, json!({arguments}))).await",
                call.tool
            );
            return;
        }
        let run = if self.in_run {
            format!(".run(&{run})")
        } else {
            String::new()
        };
        let approver = if self.asks {
            ".approver(|_| async { Decision::Approved(Approval::Once) })"
        } else {
            ""
        };
        let _ = write!(
            text,
            "registry.call((\"{}\", {:?}, json!({arguments}))).context(Context::new(){run}{approver}).await",
            place + 1,
            call.tool
        );
    }

    /// Whether a later call takes what this one returned.
    fn is_used(&self, place: usize) -> bool {
        let mut all = self.calls.iter().flat_map(|call| &call.returned);
        all.any(|one| one.call == place)
    }
}

fn name(place: usize) -> String {
    let names = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth",
    ];
    names
        .get(place)
        .map_or_else(|| format!("call_{place}"), ToString::to_string)
}

/// A JSON pointer as Rust indexes a value.
fn index(pointer: &str) -> String {
    let parts = pointer.split('/').skip(1).map(|part| {
        let part = part.replace("~1", "/").replace("~0", "~");
        match part.parse::<usize>() {
            Ok(number) => format!("[{number}]"),
            Err(_) => format!("[{part:?}]"),
        }
    });
    parts.collect()
}
