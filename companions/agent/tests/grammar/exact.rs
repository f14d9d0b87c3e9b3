//! Near misses: what a call refuses the grammar refuses, and what a call takes the grammar takes.

use contract_runtime::agent::{Constraint, TokenMask, Vocabulary};
use contract_runtime::prelude::*;
use serde_json::{Map, Value, json};

use crate::reader::Gbnf;
use crate::tools::{Random, accepts, arguments, judge, registry, sample};

/// A value that differs in one place from one that is taken, and whether a call takes more there than a grammar says.
pub(crate) struct Mutant {
    value: Value,
    lenient: bool,
}

impl Mutant {
    pub(crate) fn value(self) -> Value {
        self.value
    }
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

/// Holds the verdicts of a call against those of the grammar; gives how often each verdict was given.
pub(crate) fn compare(
    registry: &Registry,
    tool: &str,
    rounds: usize,
    random: &mut Random,
) -> (usize, usize) {
    // What accepts nothing has no grammar.
    let Some(constraint) = arguments(registry, tool) else {
        return (0, 0);
    };
    let mask =
        TokenMask::new(&constraint, &Vocabulary::bytes()).expect("the engine reads the grammar");
    let gbnf = Gbnf::read(&constraint.gbnf());
    let schema = registry.tool(tool).expect("it is there").input_schema();
    let (mut taken, mut refused) = (0, 0);
    for _ in 0..rounds {
        let Some(text) = sample(&mask, random) else {
            continue;
        };
        let value: Value = serde_json::from_str(&text).expect("JSON");
        let mut mutants = mutants(&value, schema);
        while mutants.len() > 120 {
            mutants.swap_remove(random.below(mutants.len()));
        }
        for Mutant { value, lenient } in mutants {
            let text = value.to_string();
            let verdict = judge(registry, tool, &text);
            let accepted = accepts(&constraint, &text);
            let about = || {
                format!(
                    "{tool}({text}): {verdict:?}\n{schema:#}\n{}",
                    constraint.lark()
                )
            };
            // What no schema says is a violation at the call.
            let told = verdict
                .as_ref()
                .is_err_and(|error| error.contains("requires"))
                && !is_exact(registry, tool);
            if accepted && !told && constraint.weakened().is_empty() {
                assert!(verdict.is_ok(), "{}", about());
            }
            // A variant of an enum ignores what it does not know.
            if verdict.is_ok() && !lenient && tool != "choices" && !odd(&text) {
                assert!(accepted, "{}", about());
            }
            let only_gbnf = constraint.weakened().iter().any(|one| one.only_gbnf);
            if text.len() < 400 && (accepted || !only_gbnf) {
                assert_eq!(
                    gbnf.accepts(&text),
                    accepted,
                    "{}\n{}",
                    about(),
                    constraint.gbnf()
                );
            }
            if accepted { taken += 1 } else { refused += 1 }
        }
    }
    (taken, refused)
}

/// Spellings of numbers that a bounded range does not take.
fn odd(text: &str) -> bool {
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
fn a_near_miss_is_refused_by_the_grammar_and_by_a_call() {
    let registry = registry();
    let mut random = Random::new(3);
    for tool in registry.tools() {
        let (taken, refused) = compare(&registry, tool.name(), 5, &mut random);
        println!("{}: {taken} taken, {refused} refused", tool.name());
        assert!(refused > 10, "{}: {refused}", tool.name());
    }
}

#[test]
fn bounds_hold_to_the_last_digit() {
    let registry = registry();
    let constraint = arguments(&registry, "integers").expect("it can be said");
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
        ("1", "8", "18446744073709551616", least),
        ("1", "8", "-1", least),
        ("1", "8", most, "-9223372036854775809"),
        ("1", "8", most, "9223372036854775808"),
    ] {
        let text = text(low, fours, largest, smallest);
        assert!(!accepts(&constraint, &text), "{text}");
        assert!(judge(&registry, "integers", &text).is_err(), "{text}");
    }
}

#[test]
fn what_rounds_to_an_exclusive_bound_is_refused() {
    let constraint =
        Constraint::from_schema(json!({"type": "number", "minimum": 0.25, "exclusiveMaximum": 1}));
    let constraint = constraint.expect("it can be said");
    for taken in [
        "0.25",
        "0.99999999999999",
        "0.9",
        "0.5000000000000000000000000001",
    ] {
        assert!(accepts(&constraint, taken), "{taken}");
    }
    for refused in [
        "1",
        "1.0",
        "0.99999999999999999999",
        "0.2499",
        "0.0",
        "-0.5",
        "2",
        ".5",
        "0.",
        "5e-1",
    ] {
        assert!(!accepts(&constraint, refused), "{refused}");
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
    let constraint = Constraint::replies(&registry, false).expect("it can be said");
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
