//! Near misses: what llguidance is said to enforce, it enforces; and every grammar accepts what a call accepts.

use contract_agent::Constraint;
use contract_runtime::Validator;
use contract_runtime::prelude::*;
use serde_json::{Map, Value, json};

use crate::gbnf_reader::Gbnf;
use crate::tools::{Random, accepts, arguments, judge, registry, sample};

/// A value that differs in one place from one that is taken, and whether a call takes more there than a grammar says.
pub(crate) struct Mutant {
    value: Value,
    lenient: bool,
}

/// Every number in a schema, and its neighbours.
fn edges(schema: &Value, out: &mut Vec<Value>) {
    match schema {
        Value::Number(number) => {
            if let Some(value) = number.as_i64() {
                out.extend([-1, 0, 1].map(|step| json!(value.saturating_add(step))));
                #[allow(clippy::cast_precision_loss, reason = "small bounds")]
                out.extend([-0.5, 0.5].map(|step| json!(value as f64 + step)));
            } else if let Some(value) = number.as_f64() {
                out.extend([-0.125, 0.0, 0.125].map(|step| json!(value + step)));
            }
        }
        Value::Array(items) => items.iter().for_each(|item| edges(item, out)),
        Value::Object(members) => members.values().for_each(|member| edges(member, out)),
        Value::String(text) => out.push(json!(text)),
        _ => {}
    }
}

/// Each value with one place changed.
pub(crate) fn mutants(value: &Value, schema: &Value) -> Vec<Mutant> {
    let mut palette = vec![
        json!(null),
        json!(true),
        json!(-1),
        json!(0),
        json!(1),
        json!(0.5),
        json!(1000),
        json!(""),
        json!("x"),
        json!("\u{e9}\"\\\n"),
        json!([]),
        json!({}),
    ];
    edges(schema, &mut palette);
    let mut out = Vec::new();
    change(value, &palette, &mut |value, lenient| {
        out.push(Mutant { value, lenient });
    });
    out
}

fn change(value: &Value, palette: &[Value], out: &mut dyn FnMut(Value, bool)) {
    for other in palette {
        if other != value {
            out(other.clone(), other.is_null());
        }
    }
    match value {
        Value::String(text) => {
            out(json!(format!("{text}a")), false);
            out(json!(format!("{text}\u{1f600}")), false);
            out(json!(text.chars().skip(1).collect::<String>()), false);
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                change(item, palette, &mut |item, lenient| {
                    let mut items = items.clone();
                    items[index] = item;
                    out(Value::Array(items), lenient);
                });
            }
            if let Some(last) = items.last() {
                let more = items.iter().chain([last]).cloned().collect();
                out(Value::Array(more), false);
            }
            out(items.iter().skip(1).cloned().collect(), false);
        }
        Value::Object(members) => {
            for (name, member) in members {
                change(member, palette, &mut |member, lenient| {
                    let mut members = members.clone();
                    members.insert(name.clone(), member);
                    out(Value::Object(members), lenient);
                });
                let less: Map<_, _> = members
                    .clone()
                    .into_iter()
                    .filter(|(other, _)| other != name)
                    .collect();
                out(Value::Object(less), false);
            }
            let mut more = members.clone();
            more.insert("unknown".to_owned(), json!(1));
            out(Value::Object(more), true);
        }
        _ => {}
    }
}

/// Compares the verdicts of a call with those of the grammars; returns how often llguidance accepted, and how often it refused.
pub(crate) fn compare(
    registry: &Registry,
    tool: &str,
    rounds: usize,
    random: &mut Random,
) -> (usize, usize) {
    let Some((constraint, mask)) = arguments(registry, tool) else {
        return (0, 0);
    };
    let gbnf = Gbnf::read(&constraint.gbnf());
    let schema = registry.tool(tool).expect("it is there").input_schema();
    let enforced =
        constraint.approximations().iter().all(|one| one.only_gbnf) && is_exact(registry, tool);
    let (mut accepted, mut refused) = (0, 0);
    for _ in 0..rounds {
        // GBNF has no properties that the schema does not name; and the reader of long texts is slow.
        let named = |text: &String| text.len() < 400 && gbnf.accepts(text);
        let Some(text) = sample(&mask, random).filter(named) else {
            continue;
        };
        let Ok(value) = serde_json::from_str(&text) else {
            continue;
        };
        let mut mutants = mutants(&value, schema);
        while mutants.len() > 120 {
            mutants.swap_remove(random.below(mutants.len()));
        }
        for Mutant { value, lenient } in mutants {
            let text = value.to_string();
            let verdict = judge(registry, tool, &text);
            let by_llguidance = accepts(&constraint, &text);
            let about = || format!("{tool}({text}): {verdict:?}\n{schema:#}");
            if by_llguidance && enforced {
                assert!(verdict.is_ok(), "{}", about());
            }
            // A variant of an enum ignores what it does not know.
            let lenient = lenient || tool == "choices";
            if verdict.is_ok() && !lenient && !spelled_otherwise(&text) {
                assert!(by_llguidance, "{}", about());
                if text.len() < 400 {
                    assert!(gbnf.accepts(&text), "{}\n{}", about(), constraint.gbnf());
                }
            }
            if by_llguidance {
                accepted += 1;
            } else {
                refused += 1;
            }
        }
    }
    (accepted, refused)
}

/// Spellings of numbers that a grammar does not have.
fn spelled_otherwise(text: &str) -> bool {
    let bytes = text.as_bytes();
    bytes
        .windows(2)
        .any(|pair| pair[0].is_ascii_digit() && pair[1] == b'e')
        || text.contains(".0")
}

fn is_exact(registry: &Registry, tool: &str) -> bool {
    let tool = registry.tool(tool).expect("it is there");
    tool.conditions()
        .iter()
        .all(|one| one.lowering() == contract_runtime::Lowering::Exact)
}

#[test]
fn grammars_accept_every_near_miss_that_a_call_accepts() {
    let registry = registry();
    let mut random = Random::new(3);
    for tool in registry.tools() {
        let (accepted, refused) = compare(&registry, tool.name(), 6, &mut random);
        println!("{}: {accepted} accepted, {refused} refused", tool.name());
        let none = tool.name() == "nothing";
        assert!(
            (accepted > 0 || none) && refused > 10,
            "{}: {accepted}",
            tool.name()
        );
    }
}

#[test]
fn bounds_hold_as_far_as_they_are_listed_as_enforced() {
    let registry = registry();
    let (constraint, _) = arguments(&registry, "integers").expect("llguidance compiles it");
    let approximated = constraint.approximations();
    let at: Vec<&str> = approximated
        .iter()
        .filter(|one| !one.only_gbnf)
        .map(|one| one.at.as_str())
        .collect();
    assert_eq!(at, ["/not_zero", "/largest", "/smallest", "/smallest"]);
    let text = |low: &str, fours: &str, largest: &str, smallest: &str| {
        format!(
            r#"{{"low":{low},"wide":0,"not_zero":1,"fours":{fours},"largest":{largest},"smallest":{smallest}}}"#
        )
    };
    let (most, least) = ("18446744073709551615", "-9223372036854775808");
    assert!(accepts(&constraint, &text("365", "8", most, least)));
    for (low, fours, largest, smallest) in [
        ("366", "8", most, least),
        ("0", "8", most, least),
        ("01", "8", most, least),
        ("1", "6", most, least),
        ("1", "8", "-1", least),
    ] {
        let text = text(low, fours, largest, smallest);
        assert!(!accepts(&constraint, &text), "{text}");
        assert!(judge(&registry, "integers", &text).is_err(), "{text}");
    }
}

/// What llguidance would read otherwise than a call is left to the call.
#[test]
fn llguidance_refuses_nothing_that_a_call_accepts() {
    let huge = 18_446_744_073_709_551_615_u64;
    for (schema, text) in [
        (json!({"type": "string", "format": "date"}), "\"someday\""),
        (json!({"type": "string", "pattern": "x(^a|b)"}), "\"xb\""),
        (json!({"type": "string", "pattern": "^a|b$"}), "\"cb\""),
        (
            json!({"type": "string", "pattern": "[$^]\\\\$"}),
            "\"^\\\\\"",
        ),
        (
            json!({"type": "integer", "maximum": huge}),
            "18446744073709551615",
        ),
        (json!({"const": huge}), "18446744073709551615"),
        (
            json!({"$ref": "#/$defs/a%20b", "$defs": {"a b": {"enum": [1]}}}),
            "1",
        ),
        (
            json!({"$ref": "#/$defs/a~1b", "$defs": {"a/b": {"enum": [1]}}}),
            "1",
        ),
        (
            json!({"type": "object", "propertyNames": {"maxLength": 1}}),
            "{\"a\":1}",
        ),
        (json!(true), "[1,{}]"),
    ] {
        let validator = Validator::of_value(schema.clone()).expect("a schema");
        assert_eq!(validator.check(text), Ok(()), "{schema}");
        let constraint = Constraint::from_schema(schema.clone()).expect("a schema");
        assert!(accepts(&constraint, text), "{schema}");
        assert!(Gbnf::read(&constraint.gbnf()).accepts(text), "{schema}");
    }
}

#[test]
fn references_of_two_tools_do_not_meet() {
    let tool = |name: &str, kind: &str| {
        let spec = DynamicSpec::new(name, "It.").input_schema(json!({
            "type": "object",
            "properties": {"it": {"$ref": "#/$defs/Same"}, "again": {"$ref": "#/properties/it"}},
            "required": ["it"],
            "additionalProperties": false,
            "$defs": {"Same": {"anyOf": [{"type": kind}, {"type": "array", "items": {"$ref": "#/$defs/Same"}}]}},
        }));
        Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("")) })
    };
    let tools = vec![tool("flag", "boolean"), tool("count", "integer")];
    let registry = Registry::builder()
        .with(tools)
        .build()
        .expect("the tools are sound");
    let constraint = Constraint::replies(&registry, false).expect("a schema");
    let call = |tool: &str, it: &str| {
        format!(r#"{{"type":"tool_call","tool":"{tool}","arguments":{{"it":{it},"again":{it}}}}}"#)
    };
    for (text, taken) in [
        (call("flag", "[[true],false]"), true),
        (call("count", "[[7],[],8]"), true),
        (call("flag", "[[7]]"), false),
        (call("count", "[true]"), false),
    ] {
        assert_eq!(accepts(&constraint, &text), taken, "{text}");
        let validator = jsonschema::draft202012::options()
            .build(constraint.json_schema())
            .expect("a schema");
        assert_eq!(
            validator.is_valid(&serde_json::from_str(&text).expect("JSON")),
            taken,
            "{text}"
        );
    }
}
