//! Any bytes in, exactly one outcome out, never a panic.

use std::collections::BTreeMap;

use contract_runtime::prelude::*;
use contract_runtime::{Status, ToolResult};
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Tree {
    name: String,
    below: Vec<Tree>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind")]
enum Shape {
    Dot,
    Disk { radius: f64 },
    Group { parts: Vec<Shape> },
}

/// Take a bit of everything.
#[tool]
#[pre(count < 1_000, "{count} is too many")]
#[post(|out| out.len() < 10_000)]
fn everything(
    text: &str,
    count: i64,
    ratio: Option<f64>,
    flags: Vec<bool>,
    map: BTreeMap<String, u8>,
    tree: Option<Tree>,
    shape: Option<Shape>,
    any: Option<Value>,
    #[arg(default = 'x')] letter: char,
    #[arg(secret)] key: Option<u128>,
) -> String {
    format!("{text}{count}{ratio:?}{flags:?}{map:?}{tree:?}{shape:?}{any:?}{letter}{key:?}")
}

fn registry() -> Registry {
    Registry::builder().tool(everything).build().unwrap()
}

thread_local! {
    static REGISTRY: Registry = registry();
}

/// Texts that are JSON, nearly JSON or something else.
fn text() -> impl Strategy<Value = String> {
    let word = prop_oneof![
        Just("{"),
        Just("}"),
        Just("["),
        Just("]"),
        Just(":"),
        Just(","),
        Just("\""),
        Just(" "),
        Just("\\"),
        Just("null"),
        Just("true"),
        Just("\"text\""),
        Just("\"count\""),
        Just("\"tree\""),
        Just("\"name\""),
        Just("\"below\""),
        Just("\"kind\""),
        Just("\"Disk\""),
        Just("\"any\""),
        Just("1"),
        Just("-0"),
        Just("1e5"),
        Just("1e999"),
        Just("0.1"),
        Just("\\ud800"),
        Just("\u{0}"),
        Just("ü"),
        Just("99999999999999999999999999999999999999999"),
        Just("\"map\""),
        Just("\"letter\""),
        Just("\"key\""),
        Just("\"flags\""),
        Just("\"shape\""),
        Just("\"Group\""),
        Just("\"parts\""),
    ];
    let words = prop::collection::vec(word, 0..40).prop_map(|words| words.concat());
    let members = prop::collection::vec((key(), value()), 0..12).prop_map(|members| {
        let members: Vec<String> = members
            .into_iter()
            .map(|(key, value)| format!("{key}:{value}"))
            .collect();
        format!("{{{}}}", members.join(","))
    });
    prop_oneof![
        1 => any::<String>(),
        2 => words,
        6 => members,
        1 => (0..300_usize).prop_map(|depth| format!(r#"{{"any":{}"#, "[".repeat(depth))),
        1 => (0..300_usize).prop_map(|depth| {
            format!(r#"{{"text":"","count":1,"flags":[],"map":{{}},"any":{}{}}}"#, "[".repeat(depth), "]".repeat(depth))
        }),
        1 => (0..200_usize).prop_map(|depth| {
            let open = r#"{"name":"n","below":["#.repeat(depth);
            format!(r#"{{"text":"","count":1,"flags":[],"map":{{}},"tree":{open}{}}}"#, "]}".repeat(depth))
        }),
    ]
}

fn key() -> impl Strategy<Value = String> {
    prop_oneof![
        10 => prop::sample::select(vec![
            "text", "count", "ratio", "flags", "map", "tree", "shape", "any", "letter", "key",
        ]).prop_map(|key| format!("\"{key}\"")),
        1 => any::<String>().prop_map(|key| Value::from(key).to_string()),
    ]
}

fn value() -> impl Strategy<Value = String> {
    let leaf = prop_oneof![
        Just("null".to_owned()),
        any::<bool>().prop_map(|value| value.to_string()),
        any::<i64>().prop_map(|value| value.to_string()),
        any::<u128>().prop_map(|value| value.to_string()),
        any::<f64>().prop_map(|value| format!("{value:e}")),
        any::<String>().prop_map(|value| Value::from(value).to_string()),
        any::<char>().prop_map(|value| Value::from(value.to_string()).to_string()),
        Just(r#"{"kind":"Dot"}"#.to_owned()),
        Just(r#"{"kind":"Disk","radius":1}"#.to_owned()),
        Just(r#"{"name":"n","below":[]}"#.to_owned()),
        Just("[]".to_owned()),
        Just("{}".to_owned()),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[{}]", items.join(","))),
            prop::collection::vec((key(), inner.clone()), 0..4).prop_map(|members| {
                let members: Vec<String> = members
                    .into_iter()
                    .map(|(key, value)| format!("{key}:{value}"))
                    .collect();
                format!("{{{}}}", members.join(","))
            }),
            inner
                .clone()
                .prop_map(|inner| format!(r#"{{"name":"n","below":[{inner}]}}"#)),
            inner.prop_map(|inner| format!(r#"{{"kind":"Group","parts":[{inner}]}}"#)),
        ]
    })
}

/// Judges the one outcome of a call.
fn one_outcome(call: &ToolCall) {
    let registry = REGISTRY.with(Registry::clone);
    let before = registry.statistics();
    let outcome = registry.call(call.clone()).blocking();
    let after = registry.statistics();
    assert_eq!(after.calls(), before.calls() + 1);
    let status = outcome.status();
    assert_eq!(after.ended(status), before.ended(status) + 1);
    assert_ne!(status, Status::Panicked, "{call:?}");
    assert!(
        [
            Status::Ok,
            Status::InvalidArguments,
            Status::Violation,
            Status::UnknownTool
        ]
        .contains(&status),
        "{call:?} ended as {status}"
    );
    let ways = [
        outcome.output().is_some(),
        outcome.violation().is_some(),
        outcome.invalid_arguments().is_some(),
        status == Status::UnknownTool,
    ];
    assert_eq!(ways.into_iter().filter(|way| *way).count(), 1);
    if let Some(invalid) = outcome.invalid_arguments() {
        assert!(!invalid.problems().is_empty());
        assert!(invalid.to_string().chars().count() <= 2_000);
    }
    let result = outcome.into_result();
    assert_eq!(
        (result.id.as_str(), result.name.as_str()),
        (call.id.as_str(), call.name.as_str())
    );
    let wire = serde_json::to_string(&result).unwrap();
    assert_eq!(serde_json::from_str::<ToolResult>(&wire).unwrap(), result);
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_arguments_come_to_exactly_one_outcome(arguments in text()) {
        one_outcome(&ToolCall::new("1", "everything", arguments));
    }

    #[test]
    fn any_bytes_are_a_call_or_are_not(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        if let Ok(call) = ToolCall::from_json(&bytes) {
            one_outcome(&call);
        }
    }

    #[test]
    fn any_text_around_any_arguments_is_a_call_or_is_not(
        id in any::<String>(), name in "everything|other|", arguments in text(), quoted in any::<bool>(), cut in 0..400_usize,
    ) {
        let arguments = if quoted { Value::from(arguments).to_string() } else { arguments };
        let whole = format!(r#"{{"id":{},"name":"{name}","arguments":{arguments}}}"#, Value::from(id));
        let bytes = &whole.as_bytes()[..whole.len().min(cut.max(1) * 4)];
        if let Ok(call) = ToolCall::from_json(bytes) {
            one_outcome(&call);
        }
    }
}
