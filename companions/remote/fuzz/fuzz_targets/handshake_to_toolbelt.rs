//! Arbitrary tools of a stranger: each is taken or refused, what is taken makes a registry; no panic, no full stack.
//!
//! `cargo +nightly fuzz run handshake_to_toolbelt` in `companions/remote`.

#![no_main]

use contract_manifest::ToManifest as _;
use contract_runtime::prelude::*;
use contract_runtime::DynamicSpec;
use contract_remote::protocol::{Handshake, TaskId};
use contract_remote::{Limits, Toolbelt};
use libfuzzer_sys::fuzz_target;
use serde_json::{Value, json};

fuzz_target!(|bytes: &[u8]| {
    let Some((selector, rest)) = bytes.split_first() else {
        return;
    };
    let Ok(text) = std::str::from_utf8(rest) else {
        return;
    };
    let json = || serde_json::from_str::<Value>(text).ok();
    let tools = match selector % 5 {
        0 => json().and_then(|tools| tools.as_array().cloned()),
        1 => json().map(|schema| vec![tool("input_schema", schema)]),
        2 => json().map(|schema| vec![tool("output_schema", schema)]),
        3 => json().map(|conditions| vec![tool("conditions", conditions)]),
        _ => Some(vec![tool("conditions", json!([condition(text)]))]),
    };
    if let Some(tools) = tools {
        judged(tools);
    }
});

fn tool(key: &str, value: Value) -> Value {
    let mut tool = json!({
        "name": "tool",
        "description": "Do something.",
        "package": "",
        "hints": {},
        "input_schema": {"type": "object", "properties": {"x": {"type": "integer"}}},
        "conditions": [],
    });
    tool[key] = value;
    tool
}

fn condition(rule: &str) -> Value {
    json!({
        "id": "tool.pre[0]", "kind": "pre", "predicate": "x", "parameters": ["x"], "lowering": "described", "sentence": "x",
        "rule": {"id": "tool.pre[0]", "rule": rule, "message": "no", "paths": ["/x"]},
    })
}

fn judged(tools: Vec<Value>) {
    let count = tools.len();
    let handshake = json!({
        "protocol": 1,
        "task": TaskId::random(),
        "epoch": 0,
        "journal": TaskId::random(),
        "known_tools": [],
        "custom_tools": tools,
        "platform": {"working_directory": "/", "system": "linux", "architecture": "x86_64", "parallel": 1},
        "unacknowledged": [],
    });
    let handshake: Handshake = serde_json::from_value(handshake).expect("a handshake");
    let known = Registry::builder().build().expect("no tools").manifest();
    let belt = Toolbelt::of(&handshake, &known, &Limits::default());
    assert_eq!(
        belt.tools().len() + belt.refused().len(),
        count.min(belt.tools().len() + 1_000)
    );
    let taken = belt.tools().map(|tool| {
        let spec = DynamicSpec::new(&tool.name, &tool.description);
        let spec = spec.input_schema(tool.input_schema.clone());
        Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("")) })
    });
    let built = Registry::builder().with(taken.collect::<Vec<_>>()).build();
    assert!(built.is_ok(), "{:?}", built.err());
}
