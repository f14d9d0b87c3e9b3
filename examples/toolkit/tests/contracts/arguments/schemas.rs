//! What the schemas admit, and nothing else.

use contract_runtime::prelude::*;
use contract_runtime::{Detection, Lowering, Status};
use jsonschema::Validator;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value};

use super::validator;
use crate::common::{Ground, call, check, ended, mutations, samples, valid};

/// How often each tool gets arguments that its schema admits; each time they are also spoiled in some hundred ways.
const ROUNDS: usize = 30;

/// Models write null for what they leave out.
fn without_nulls(arguments: &Value, schema: &Value) -> Value {
    let members = arguments.as_object().unwrap().iter();
    let given = members.filter(|(name, value)| {
        let known = schema["properties"].get(name.as_str()).is_some();
        !(known && value.is_null())
    });
    given
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect::<Map<_, _>>()
        .into()
}

/// The conditions of which the schema does not say all: only they may refuse what the schema admits.
fn untold(registry: &Registry, tool: &str) -> Vec<String> {
    let tool = registry.tool(tool).unwrap();
    let untold = tool
        .conditions()
        .iter()
        .filter(|one| one.lowering() != Lowering::Exact);
    untold.map(|one| one.id().to_owned()).collect()
}

/// D1, P3
#[test]
fn what_the_schemas_admit_is_taken_and_each_single_mistake_is_refused() {
    let ground = Ground::new();
    let registry = ground.registry();
    let mut runner = TestRunner::deterministic();
    for tool in registry.tools() {
        let (name, schema) = (tool.name(), tool.input_schema());
        let (judge, untold) = (validator(schema), untold(&registry, name));
        let arguments =
            valid(schema, schema).prop_filter("not admitted", |one| judge.is_valid(one));
        let (mut taken, mut refused) = (0, 0);
        for _ in 0..ROUNDS {
            let arguments = arguments.new_tree(&mut runner).unwrap().current();
            let outcome = check(&registry, name, &arguments.to_string());
            match outcome.violation() {
                Some(violation) => assert!(
                    untold.contains(&violation.contract),
                    "{name}({arguments}) is admitted by the schema, and {} refused it",
                    violation.contract
                ),
                None => assert!(outcome.is_ok(), "{name}({arguments}): {}", ended(&outcome)),
            }
            taken += usize::from(outcome.is_ok());
            for (place, arguments) in mutations(&arguments, schema) {
                refused += usize::from(judged(&registry, name, &judge, &place, &arguments));
            }
        }
        assert!(taken > ROUNDS / 10, "{name} took only {taken} of {ROUNDS}");
        assert!(refused > ROUNDS, "{name} refused only {refused}");
    }
}

/// Whether the arguments were refused; what the independent judge refuses must be.
fn judged(
    registry: &Registry,
    name: &str,
    judge: &Validator,
    place: &str,
    arguments: &Value,
) -> bool {
    let outcome = check(registry, name, &arguments.to_string());
    let schema = registry.tool(name).unwrap().input_schema();
    let admitted = judge.is_valid(arguments) || judge.is_valid(&without_nulls(arguments, schema));
    let shown: String = arguments.to_string().chars().take(300).collect();
    match outcome.status() {
        Status::Ok => assert!(admitted, "{name} took {shown}"),
        Status::Violation => {
            let violation = outcome.violation().unwrap();
            assert_eq!(
                violation.detection,
                Detection::PredicateFalse,
                "{violation}"
            );
        }
        Status::InvalidArguments => {
            assert!(!admitted, "{name} refused {shown}: {}", ended(&outcome));
            let problems = outcome.invalid_arguments().unwrap().problems().to_vec();
            assert!(!problems.is_empty());
            let there = |pointer: &str| {
                pointer == format!("/{place}") || pointer.starts_with(&format!("/{place}/"))
            };
            let missing = arguments.get(place).is_none();
            assert!(
                missing || problems.iter().any(|one| there(&one.pointer)),
                "{name}: the mistake is at `{place}`, and was reported at {problems:?}"
            );
        }
        other => panic!("{name}({shown}) ended as {other}"),
    }
    !outcome.is_ok()
}

/// D1
#[test]
fn a_call_with_one_mistake_changes_no_file() {
    let ground = Ground::new();
    let registry = ground.registry();
    let before = ground.snapshot();
    for tool in registry.tools() {
        let judge = validator(tool.input_schema());
        for arguments in samples(tool.name()) {
            for (_, spoiled) in mutations(&arguments, tool.input_schema()) {
                if !judge.is_valid(&spoiled)
                    && !judge.is_valid(&without_nulls(&spoiled, tool.input_schema()))
                {
                    let outcome = call(&registry, tool.name(), &spoiled);
                    assert!(!outcome.is_ok(), "{}({spoiled})", tool.name());
                }
            }
        }
    }
    assert_eq!(before, ground.snapshot());
}

/// D1
#[test]
fn what_is_no_object_of_arguments_is_refused() {
    let ground = Ground::new();
    let registry = ground.registry();
    for tool in registry.tools() {
        for text in [
            "[]",
            "5",
            "true",
            "\"notes.txt\"",
            "{",
            "}",
            "{]",
            "{\"path\"",
            "{\"path\":}",
            "{path: \"notes.txt\"}",
            "{'path': 'notes.txt'}",
            "{\"path\":\"notes.txt\",}",
            "{\"path\":\"notes.txt\"}x",
            "{} {}",
            "\u{feff}{}",
            "\0",
            "nul",
            "NaN",
            "{\"path\":NaN}",
            "// no\n{}",
        ] {
            let outcome = check(&registry, tool.name(), text);
            assert_eq!(
                outcome.status(),
                Status::InvalidArguments,
                "{}({text})",
                tool.name()
            );
        }
    }
}

/// D2
#[test]
fn a_key_given_twice_is_refused_however_it_is_spelled() {
    let ground = Ground::new();
    let registry = ground.registry();
    for tool in registry.tools() {
        for arguments in samples(tool.name()) {
            for (key, value) in arguments.as_object().unwrap() {
                let rest = arguments.to_string();
                let rest = rest.strip_prefix('{').unwrap();
                let first = key.chars().next().unwrap();
                let escaped = format!("\\u{:04x}{}", u32::from(first), &key[1..]);
                for again in [key, &escaped] {
                    for text in [
                        format!("{{\"{again}\":{value},{rest}"),
                        format!("{{\"{again}\":null,{rest}"),
                        format!(
                            "{},\"{again}\":{value}}}",
                            arguments.to_string().strip_suffix('}').unwrap()
                        ),
                    ] {
                        refused_everywhere(&registry, tool.name(), &text);
                    }
                }
            }
        }
    }
}

/// Of a check, of a call, and of a call that came over the wire with its arguments as an object.
fn refused_everywhere(registry: &Registry, tool: &str, text: &str) {
    let wire = format!(r#"{{"id":"1","name":"{tool}","arguments":{text}}}"#);
    for outcome in [
        check(registry, tool, text),
        registry.call(ToolCall::new("1", tool, text)).blocking(),
        registry
            .call(ToolCall::from_json(wire.as_bytes()).unwrap())
            .blocking(),
    ] {
        assert_eq!(outcome.status(), Status::InvalidArguments, "{tool}({text})");
    }
}
