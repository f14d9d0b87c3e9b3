//! Random handshakes and rules.

use contract_manifest::ToolManifest;
use contract_runtime::Registry;
use contract_runtime::{DynamicSpec, Tool};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{condition, custom, handshake, known};
use crate::toolbelt::expression::{ParsedRule, parse_rule};
use crate::toolbelt::{Limits, Rules, Toolbelt, sanitize};

fn any_json() -> impl Strategy<Value = Value> {
    let words = prop::sample::select(vec![
        "type",
        "object",
        "string",
        "properties",
        "x",
        "$ref",
        "#",
        "#/properties/x",
        "http://127.0.0.1/",
        "pattern",
        "^a+$",
        "((",
        "rule",
        "conditions",
        "pre",
        "id",
        "kind",
        "args.x > 1",
        "enum",
        "anyOf",
        "not",
        "items",
        "required",
        "additionalProperties",
        "$defs",
        "minimum",
        "description",
        "\u{202e}",
        "writeOnly",
        "paths",
        "/x",
        "described",
    ]);
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        words.clone().prop_map(Value::from),
        ".{0,8}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((words.clone(), inner), 0..6).prop_map(|members| members
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect()),
        ]
    })
}

/// A tool of which one member is anything at all.
fn nearly_a_tool() -> impl Strategy<Value = Value> {
    let keys = prop::sample::select(vec![
        "name",
        "title",
        "description",
        "package",
        "hints",
        "input_schema",
        "output_schema",
        "timeout_ms",
        "conditions",
    ]);
    let inside = prop::sample::select(vec![
        "id",
        "kind",
        "predicate",
        "sentence",
        "rule",
        "parameters",
        "lowering",
    ]);
    prop_oneof![
        (keys, any_json()).prop_map(|(key, value)| custom(|tool| tool[key] = value)),
        any_json().prop_map(|value| custom(|tool| tool["input_schema"]["properties"]["x"] = value)),
        (inside, any_json()).prop_map(|(key, value)| custom(|tool| {
            let mut condition = condition("args.x > 1");
            condition[key] = value;
            tool["conditions"] = json!([condition]);
        })),
        "[ -~]{0,40}"
            .prop_map(|rule| custom(|tool| tool["conditions"] = json!([condition(&rule)]))),
        any_json(),
    ]
}

proptest! {
    /// What is taken makes a registry, and every other tool is refused by name: a handshake decides nothing else.
    #[test]
    fn any_handshake_is_judged(tools in prop::collection::vec(nearly_a_tool(), 0..6)) {
        let count = tools.len();
        let handshake = handshake(&tools);
        prop_assume!(handshake.is_ok());
        let (Ok(handshake), Ok(known)) = (handshake, known()) else { return Ok(()) };
        let belt = Toolbelt::of(&handshake, &known, &Limits::default());
        prop_assert!(belt.tools().len() + belt.refused().len() <= count);
        for tool in &handshake.custom_tools {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or("");
            let shown = sanitize(name, 64);
            let taken = belt.tools().any(|tool| tool.name == name);
            prop_assert!(taken || belt.refused().iter().any(|one| one.name == shown), "{name}");
        }
        let tools = belt.tools().map(|tool| {
            let mut spec = DynamicSpec::new(&tool.name, &tool.description).input_schema(tool.input_schema.clone());
            if let Some(output) = &tool.output_schema {
                spec = spec.output_schema(output.clone());
            }
            Tool::dynamic(spec, |_| async { Ok::<_, String>("".into()) })
        });
        let built = Registry::builder().with(tools.collect::<Vec<_>>()).build();
        prop_assert!(built.is_ok(), "{:?}", built.err());
        for tool in belt.tools() {
            let rules = Rules::new(tool).map_err(TestCaseError::fail)?;
            rules.first_broken(&Map::from_iter([("x".to_owned(), json!(1))]));
        }
    }

    #[test]
    fn any_rule_is_read_or_not(rule in "[()\\[\\]{}a-z0-9.,:?!'\"&|<>=+*% \\\\-]{0,200}") {
        if let Some(ParsedRule::Evaluable(..)) = parse_rule(&rule) {
            let tool = custom(|tool| tool["conditions"] = json!([condition(&rule)]));
            let tool: Result<ToolManifest, _> = serde_json::from_value(tool);
            prop_assert!(tool.is_ok_and(|tool| Rules::new(&tool).is_ok()));
        }
    }
}
