//! What others make of the exports: a validator, and a grammar engine that model servers use.
//!
//! Arguments are given without keys that no type knows: the strict dialects close every object, and a call ignores such keys.

use std::sync::OnceLock;

use contract_dialects::StrictDialect;
use contract_runtime::prelude::*;
use contract_runtime::{Dialect, McpRevision};
use jsonschema::Validator;
use llguidance::api::TopLevelGrammar;
use llguidance::{Matcher, ParserFactory};
use serde_json::{Map, Value, json};

use super::exports_sample::SAMPLES;
use super::judges_tools::{Random, arguments, registry, value, with_recursion};
use super::{AnyDialect, export};

/// Where each dialect keeps the schema of the arguments.
pub(crate) const DIALECTS: [(AnyDialect, &str); 6] = [
    (AnyDialect::Plain(Dialect::Anthropic), "/input_schema"),
    (
        AnyDialect::Strict(StrictDialect::Anthropic),
        "/input_schema",
    ),
    (GEMINI, "/parameters"),
    (
        AnyDialect::Strict(StrictDialect::GeminiJsonSchema),
        "/parametersJsonSchema",
    ),
    (
        AnyDialect::Plain(Dialect::Mcp(McpRevision::November2025)),
        "/inputSchema",
    ),
    (
        AnyDialect::Plain(Dialect::Mcp(McpRevision::July2026)),
        "/inputSchema",
    ),
];

/// The dialect whose schemas are no JSON Schema.
pub(crate) const GEMINI: AnyDialect = AnyDialect::Strict(StrictDialect::GeminiParameters);

/// How many arguments are tried for each tool.
const ROUNDS: usize = 2_000;

pub(crate) fn validator(schema: &Value) -> Validator {
    jsonschema::draft202012::options()
        .build(schema)
        .unwrap_or_else(|error| panic!("{error}\n{schema:#}"))
}

/// A Gemini `Schema` as the JSON Schema that it stands for.
pub(crate) fn read_gemini(schema: &Value) -> Value {
    let mut out = Map::new();
    for (keyword, value) in schema.as_object().unwrap() {
        let value = match (keyword.as_str(), value) {
            ("nullable", _) => continue,
            ("type", kind) => json!(kind.as_str().unwrap().to_lowercase()),
            ("items", schema) => read_gemini(schema),
            ("anyOf", Value::Array(branches)) => branches.iter().map(read_gemini).collect(),
            ("properties", Value::Object(members)) => {
                let members = members.iter();
                members
                    .map(|(name, schema)| (name.clone(), read_gemini(schema)))
                    .collect()
            }
            (_, data) => data.clone(),
        };
        out.insert(keyword.clone(), value);
    }
    if schema.get("nullable") == Some(&json!(true)) {
        return json!({"anyOf": [out, {"type": "null"}]});
    }
    Value::Object(out)
}

fn schema(
    registry: &Registry,
    dialect: impl Into<AnyDialect>,
    pointer: &str,
    tool: &str,
) -> Option<Value> {
    let dialect = dialect.into();
    let (export, not_strict) = export(registry, dialect).ok()?;
    if !not_strict.is_empty() {
        return None;
    }
    let tools = export.as_array().unwrap();
    let one = tools
        .iter()
        .find(|one| one["name"] == tool || one["function"]["name"] == tool)
        .unwrap();
    let schema = one.pointer(pointer)?.clone();
    Some(match dialect {
        GEMINI => read_gemini(&schema),
        _ => schema,
    })
}

struct Case {
    registry: Registry,
    tool: String,
    accepted: Vec<Value>,
    refused: Vec<Value>,
}

/// Every tool with the arguments that it accepts and refuses, made once: each is a call.
fn cases() -> &'static [Case] {
    static CASES: OnceLock<Vec<Case>> = OnceLock::new();
    CASES.get_or_init(|| {
        let samples = SAMPLES
            .iter()
            .map(|sample| (sample.registry(), ROUNDS / 10));
        let registries = samples.chain([(registry(), ROUNDS)]);
        let cases = registries.flat_map(|(registry, rounds)| {
            let names: Vec<_> = registry
                .tools()
                .map(|tool| tool.name().to_owned())
                .collect();
            let case = move |tool: String| {
                let (accepted, refused) = arguments(&registry, &tool, rounds);
                Case {
                    registry: registry.clone(),
                    tool,
                    accepted,
                    refused,
                }
            };
            names.into_iter().map(case).collect::<Vec<_>>()
        });
        cases.collect()
    })
}

#[test]
fn every_export_accepts_all_that_a_call_accepts() {
    let mut without = 0;
    for case in cases() {
        let Case {
            registry,
            tool,
            accepted,
            ..
        } = case;
        without += usize::from(accepted.len() < 10);
        for (dialect, pointer) in DIALECTS {
            // What cannot be said is a problem, and a tool without parameters has no schema in Gemini.
            let Some(schema) = schema(registry, dialect, pointer, tool) else {
                assert!(dialect == GEMINI || tool == "nothing", "{dialect}: {tool}");
                continue;
            };
            let validator = validator(&schema);
            for given in accepted {
                assert!(
                    validator.is_valid(given),
                    "{dialect}: {tool}({given})\n{schema:#}"
                );
            }
        }
    }
    // Not of every condition the generator finds what it wants.
    assert!(without < cases().len() / 4, "{without}");
}

#[test]
fn recursive_types_are_accepted_where_they_can_be_said() {
    let registry = with_recursion();
    let (accepted, _) = arguments(&registry, "recursive", 300);
    assert!(accepted.len() > 20);
    for (dialect, pointer) in DIALECTS {
        if matches!(
            dialect,
            AnyDialect::Strict(StrictDialect::Anthropic) | GEMINI
        ) {
            let problems = match export(&registry, dialect) {
                Ok((_, not_strict)) => not_strict,
                Err(error) => error.problems().to_vec(),
            };
            let problem = problems[0].to_string();
            assert!(problem.contains("`/properties/note"), "{problem}");
            continue;
        }
        let schema = schema(&registry, dialect, pointer, "recursive").unwrap();
        let validator = validator(&schema);
        for given in &accepted {
            assert!(validator.is_valid(given), "{dialect}: {given}\n{schema:#}");
        }
    }
}

/// Reads one text byte by byte, as a model that is held to the grammar would write it.
struct Grammar(Matcher);

impl Grammar {
    fn new(schema: &Value) -> Self {
        let tokens = toktrie::ApproximateTokEnv::single_byte_env();
        let factory = ParserFactory::new_simple(&tokens).unwrap();
        let mut options = schema.clone();
        // As `Value` writes itself.
        options["x-guidance"] = json!({"whitespace_flexible": false});
        let grammar = TopLevelGrammar::from_json_schema(options);
        let matcher = Matcher::new(factory.create_parser(grammar));
        assert!(!matcher.is_error(), "{:?}\n{schema:#}", matcher.get_error());
        Self(matcher)
    }

    fn accepts(&self, text: &str) -> bool {
        let mut matcher = self.0.deep_clone();
        let tokens: Vec<u32> = text.bytes().map(u32::from).collect();
        let read = matcher.validate_tokens(&tokens).unwrap() == tokens.len();
        read && matcher.consume_tokens(&tokens).is_ok() && matcher.is_accepting().unwrap()
    }
}

/// Null where a property may be absent: how the strict `OpenAI` dialect writes it.
fn filled(given: &Value, schema: &Value, root: &Value) -> Value {
    if let Some(target) = schema.get("$ref").and_then(Value::as_str) {
        return filled(given, root.pointer(&target[1..]).unwrap(), root);
    }
    if let Some(branches) = schema.get("anyOf").and_then(Value::as_array) {
        let mut whole = root.clone();
        let filled = branches
            .iter()
            .map(|branch| (filled(given, branch, root), branch));
        let fitting = filled.into_iter().find(|(value, branch)| {
            whole["properties"] = json!({"it": branch});
            whole["required"] = json!(["it"]);
            validator(&whole).is_valid(&json!({"it": value}))
        });
        return fitting.map_or_else(|| given.clone(), |(value, _)| value);
    }
    match given {
        Value::Object(members) if schema.get("properties").is_some() => {
            let properties = schema["properties"].as_object().unwrap();
            let known = properties.iter().map(|(name, schema)| {
                let value = members
                    .get(name)
                    .map_or(Value::Null, |value| filled(value, schema, root));
                (name.clone(), value)
            });
            known.collect()
        }
        Value::Array(items) if schema.get("items").is_some() => items
            .iter()
            .map(|item| filled(item, &schema["items"], root))
            .collect(),
        other => other.clone(),
    }
}

#[test]
fn a_grammar_engine_takes_the_strict_exports_and_exactly_their_instances() {
    let strict = [
        (StrictDialect::Anthropic, "/input_schema"),
        (StrictDialect::OpenAiChat, "/function/parameters"),
    ];
    for (dialect, pointer) in strict {
        for case in cases() {
            let tool = &case.tool;
            let schema = schema(&case.registry, dialect, pointer, tool).unwrap();
            let grammar = Grammar::new(&schema);
            let validator = validator(&schema);
            let fill = |given: &Value| match dialect {
                StrictDialect::OpenAiChat => filled(given, &schema, &schema),
                _ => given.clone(),
            };
            for given in case.accepted.iter().take(15).map(fill) {
                let text = given.to_string();
                assert!(
                    grammar.accepts(&text),
                    "{dialect}: {tool}({text})\n{schema:#}"
                );
            }
            for given in case.refused.iter().take(15).map(fill) {
                let text = given.to_string();
                let expected = validator.is_valid(&given);
                assert_eq!(
                    grammar.accepts(&text),
                    expected,
                    "{dialect}: {tool}({text})\n{schema:#}"
                );
            }
        }
    }
}

#[test]
fn what_a_type_refuses_a_strict_grammar_refuses() {
    let registry = registry();
    let (dialect, pointer) = (StrictDialect::Anthropic, "/input_schema");
    for (tool, arguments) in [
        ("nothing", json!({"key": 1})),
        ("numbers", json!({"count": "1"})),
        ("choices", json!({"speed": "quick"})),
        ("lists", json!({"tags": []})),
        (
            "nested",
            json!({"from": {"x": 1, "z": 2}, "shapes": [], "to": []}),
        ),
    ] {
        let schema = schema(&registry, dialect, pointer, tool).unwrap();
        assert!(
            !Grammar::new(&schema).accepts(&arguments.to_string()),
            "{tool}({arguments})"
        );
    }
    // The generator reaches both sides of the schemas.
    let mut random = Random::new(3);
    let schema = schema(&registry, dialect, pointer, "choices").unwrap();
    let made = (0..50).map(|_| value(&schema, &schema, &mut random));
    let validator = validator(&schema);
    assert!(made.filter(|given| validator.is_valid(given)).count() > 5);
}
