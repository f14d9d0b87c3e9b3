//! The calls of a sequence, and how they are written in a test.

use contract_runtime::Registry;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::json::write_rust;

/// One call of a sequence.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SequenceCall {
    /// The name of the tool.
    pub tool: String,
    /// The arguments.
    pub arguments: Value,
    /// Whether the call belongs to the same turn as the one before it, so that its model has not read what that one returned.
    #[serde(default)]
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

/// Writes the calls as lines of a test.
pub(super) fn lines(calls: &[SequenceCall], registry: &Registry) -> String {
    let tool = |call: &SequenceCall| registry.tool(&call.tool);
    let asks = calls.iter().filter_map(tool).any(|tool| tool.asks());
    let in_run = calls.iter().any(|call| {
        call.same_turn || tool(call).is_some_and(|tool| tool.asks_history() || tool.is_alone())
    });
    let mut lines = Vec::new();
    if in_run {
        lines.push("let run = Run::new();".to_owned());
    }
    for (place, call) in calls.iter().enumerate() {
        let is_shared = calls.get(place + 1).is_some_and(|next| next.same_turn);
        if is_shared && !call.same_turn {
            lines.push("let turn = run.turn();".to_owned());
        }
        let mut arguments = String::new();
        let returned = |at: &str| {
            let from = call.returned.iter().find(|one| one.argument == at)?;
            Some(name(from.call) + &index(&from.place))
        };
        write_rust(&call.arguments, &returned, &mut arguments);
        let (mut id, mut context) = (String::new(), String::new());
        if in_run || asks {
            id = (place + 1).to_string();
            context.push_str(".context(Context::new()");
            if in_run {
                let is_turn = is_shared || call.same_turn;
                context.push_str(if is_turn { ".run(&turn)" } else { ".run(&run)" });
            }
            if asks {
                context.push_str(".approver(|_| async { Decision::Approved(Approval::Once) })");
            }
            context.push(')');
        }
        let tool = &call.tool;
        let line = format!("registry.call(({id:?}, {tool:?}, json!({arguments}))){context}.await");
        let mut taken = calls.iter().flat_map(|call| &call.returned);
        lines.push(if place + 1 == calls.len() {
            line
        } else if taken.any(|from| from.call == place) {
            format!("let {} = {line}.value().unwrap();", name(place))
        } else {
            line + ";"
        });
    }
    lines.join("\n")
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
