//! A number arrives as it was sent.

use contract_runtime::Status;
use serde_json::{Value, json};

use super::validator;
use crate::common::{Ground, check, ended, samples};

/// Names of parameters whose schema admits integers.
fn integers(schema: &Value) -> Vec<String> {
    let judge = |one: &Value| {
        let mut whole = schema.clone();
        whole["properties"] = json!({"it": one});
        whole["required"] = json!([]);
        let judge = validator(&whole);
        judge.is_valid(&json!({"it": 1})) && !judge.is_valid(&json!({"it": "x"}))
    };
    let properties = schema["properties"].as_object().unwrap();
    properties
        .iter()
        .filter(|(_, one)| judge(one))
        .map(|(name, _)| name.clone())
        .collect()
}

/// D5
#[test]
fn a_number_is_taken_whole_or_refused() {
    let ground = Ground::new();
    let registry = ground.registry();
    let mut seen = 0;
    for tool in registry.tools() {
        let sample = &samples(tool.name())[0];
        for name in integers(tool.input_schema()) {
            seen += 1;
            let with = |number: &str| {
                let mut rest = sample.clone();
                rest.as_object_mut().unwrap().shift_remove(&name);
                let rest = rest.to_string();
                let comma = if rest == "{}" { "" } else { "," };
                let text = format!("{{\"{name}\":{number}{comma}{}", &rest[1..]);
                check(&registry, tool.name(), &text)
            };
            for same in ["1", "1.0", "1.000", "10e-1", "0.1e1"] {
                let outcome = with(same);
                assert!(
                    matches!(outcome.status(), Status::Ok | Status::Violation),
                    "{}({name} = {same}): {}",
                    tool.name(),
                    ended(&outcome)
                );
                assert_eq!(outcome.status(), with("1").status(), "{name} = {same}");
            }
            for never in [
                "1.5",
                "1e400",
                "-1e400",
                "18446744073709551616",
                "1e20",
                "-9223372036854775809",
                "\"1\"",
                "\"\"",
                "true",
                "[1]",
                "01",
                "+1",
                ".5",
                "1.",
                "0x1",
                "1_000",
                "Infinity",
                "-Infinity",
                "NaN",
                "1e",
                "--1",
            ] {
                let outcome = with(never);
                assert!(
                    !outcome.is_ok(),
                    "{}({name} = {never}) was taken",
                    tool.name()
                );
            }
            // Beyond what a float can tell apart: refused, or told exactly.
            let outcome = with("9007199254740993");
            if let Some(violation) = outcome.violation() {
                assert!(
                    violation.to_string().contains("9007199254740993"),
                    "{violation}"
                );
            }
        }
    }
    assert!(seen > 0, "no tool has an integer");
}
