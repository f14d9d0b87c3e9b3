//! The forms in which a constraint is handed over.

use contract_runtime::agent::{Constraint, ConstraintError};
use contract_runtime::prelude::*;
use serde_json::{Value, json};

use crate::exact::{Mutant, mutants};
use crate::reader::Gbnf;
use crate::tools::{accepts, arguments, registry};

/// Book a table.
#[tool]
#[pre(guests >= 1 && guests <= 12)]
fn book(guests: u8, note: Option<String>) {}

fn constraint(schema: Value) -> Constraint {
    Constraint::from_schema(schema).expect("it can be said")
}

#[test]
fn a_grammar_in_gbnf() {
    let registry = Registry::builder()
        .tool(book)
        .build()
        .expect("the tool is sound");
    let constraint = Constraint::replies(&registry, false).expect("it can be said");
    let gbnf = constraint.gbnf();
    let lines: Vec<&str> = gbnf.lines().collect();
    assert_eq!(
        lines[0],
        concat!(
            r#"root ::= ws "{" ws "\"type\"" ws ":" ws "\"tool_call\"" ws rest-0-0 "}" ws"#,
            r#" | "{" ws "\"type\"" ws ":" ws "\"answer\"" ws rest-0-0-2 "}" ws"#,
        ),
        "{gbnf}"
    );
    assert!(lines.contains(&r#"t1 ::= [1-9] | "1" [0-2]"#), "{gbnf}");
    Gbnf::read(&gbnf);
}

#[test]
fn a_regular_expression_accepts_what_the_grammar_accepts() {
    let registry = registry();
    let values = [
        (
            "lists",
            json!({"some": [1, 255], "pair": [true, -7], "nested": [[true, false], []]}),
        ),
        (
            "optional",
            json!({"first": 3, "second": "a\u{e9}\"", "fourth": null}),
        ),
        ("nothing", json!({})),
        (
            "choices",
            json!({"scale": "kelvin", "exact": true, "shape": {"kind": "square", "side": 7}, "order": {"buy": 2}, "letter": "x"}),
        ),
    ];
    for (tool, value) in values {
        let constraint = arguments(&registry, tool).expect("it can be said");
        let regex = constraint.regex().expect("nothing contains itself");
        let regex =
            regex_lite::Regex::new(&format!("^(?:{regex})$")).expect("a regular expression");
        let schema = registry.tool(tool).expect("it is there").input_schema();
        let mutants = mutants(&value, schema).into_iter().map(Mutant::value);
        let mut taken = 0;
        for text in mutants.chain([value]).map(|value| value.to_string()) {
            let expected = accepts(&constraint, &text);
            taken += usize::from(expected);
            assert_eq!(regex.is_match(&text), expected, "{tool}({text})\n{regex}");
        }
        assert!(taken > 0, "{tool}");
    }
}

#[test]
fn what_contains_itself_is_no_regular_expression() {
    let registry = registry();
    let error = arguments(&registry, "nested")
        .expect("it can be said")
        .regex()
        .unwrap_err();
    assert!(
        matches!(error, ConstraintError::Recursive { .. }),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains("hand over GBNF, Lark or the JSON Schema"),
        "{error}"
    );
}

#[test]
fn white_space_may_stand_between_tokens_and_nothing_else_may() {
    let registry = Registry::builder()
        .tool(book)
        .build()
        .expect("the tool is sound");
    let constraint = Constraint::replies(&registry, true).expect("it can be said");
    let gbnf = Gbnf::read(&constraint.gbnf());
    let reply = r#"{"reasoning":"two","type":"tool_call","tool":"book","arguments":{"guests":2}}"#;
    let pretty = reply.replace(':', " : ").replace(',', ",\n  ");
    for (text, taken) in [
        (reply.to_owned(), true),
        (pretty, true),
        (format!("\n {reply}\n"), true),
        (format!("Sure! {reply}"), false),
        (format!("{reply} Done."), false),
        (format!("```json\n{reply}\n```"), false),
        (format!("{reply}{reply}"), false),
        (reply.replace("book", "cook"), false),
        (reply.replace('2', "13"), false),
        (reply.replace("two", "\\ud83d\\ude00 \\n"), true),
        (reply.replace("two", "\\ud83d"), false),
        (reply.replace("two", "a\nb"), false),
    ] {
        assert_eq!(accepts(&constraint, &text), taken, "{text}");
        assert_eq!(gbnf.accepts(&text), taken, "{text}");
    }
}

#[test]
fn the_json_schema_is_complete_and_has_the_same_verdict() {
    let registry = registry();
    let constraint = Constraint::replies(&registry, false).expect("it can be said");
    let validator = jsonschema::draft202012::options()
        .build(constraint.json_schema())
        .expect("a schema");
    for (reply, taken) in [
        (json!({"type": "answer", "content": "yes"}), true),
        (json!({"type": "answer"}), false),
        (
            json!({"type": "tool_call", "tool": "nothing", "arguments": {}}),
            true,
        ),
        (
            json!({"type": "tool_call", "tool": "none", "arguments": {}}),
            false,
        ),
        (
            json!({"type": "tool_call", "tool": "nested", "arguments": {"from": {"x": 1, "y": null}, "tree": {"name": "a", "children": [{"name": "b"}]}}}),
            true,
        ),
        (
            json!({"type": "tool_call", "tool": "nested", "arguments": {"from": {"x": 1, "y": 256}, "tree": {"name": "a"}}}),
            false,
        ),
        (
            json!({"type": "tool_call", "tool": "nested", "arguments": {"from": {"x": 1}, "tree": {"name": "a", "children": [{}]}}}),
            false,
        ),
    ] {
        assert_eq!(validator.is_valid(&reply), taken, "{reply}");
        assert_eq!(accepts(&constraint, &reply.to_string()), taken, "{reply}");
    }
}

#[test]
fn what_a_grammar_cannot_say_is_listed() {
    let array = json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true, "contains": {"const": 3}});
    let both = json!({"type": "string", "pattern": "^[ab]*$", "minLength": 2, "maxLength": 3});
    let many = json!({"type": "string", "maxLength": 5_000});
    let map = json!({"type": "object", "additionalProperties": {"type": "boolean"}});
    let not = json!({"type": "string", "not": {"const": "root"}});
    let edge = json!({"type": "string", "pattern": "x(^a|b)"});
    let step = json!({"type": "number", "multipleOf": 0.25});
    let far = json!({"type": "integer", "minimum": 0, "maximum": 1_000_000, "multipleOf": 25});
    let either = json!({"oneOf": [{"type": "integer"}, {"type": "number"}]});
    for (schema, expected) in [
        (array, vec![("uniqueItems", false), ("contains", false)]),
        (both, vec![("minLength", true)]),
        (many, vec![("maxLength", true)]),
        (map, vec![("keys that differ", false)]),
        (not, vec![("not", false)]),
        (edge, vec![("pattern", false)]),
        (step, vec![("multipleOf", false)]),
        (far, vec![("multipleOf", true)]),
        (
            json!({"type": "integer", "multipleOf": 7}),
            vec![("multipleOf", false)],
        ),
        (either, vec![("oneOf", false)]),
        (json!({"type": "string", "maxLength": 5}), vec![]),
    ] {
        let schema = json!({"type": "object", "properties": {"it": schema}, "required": ["it"]});
        let constraint = constraint(schema);
        let listed: Vec<_> = constraint
            .weakened()
            .iter()
            .map(|one| (&*one.keyword, one.only_gbnf))
            .collect();
        assert_eq!(listed, expected, "{constraint:?}");
        assert!(constraint.weakened().iter().all(|one| one.at == "/it"));
        constraint.matching().expect("the engine reads the grammar");
        Gbnf::read(&constraint.gbnf());
    }
}

#[test]
fn what_only_lark_can_say_lark_says() {
    let both =
        constraint(json!({"type": "string", "pattern": "^[ab]*$", "minLength": 2, "maxLength": 3}));
    for (text, taken) in [
        ("\"a\"", false),
        ("\"ab\"", true),
        ("\"abba\"", false),
        ("\"ax\"", false),
    ] {
        assert_eq!(accepts(&both, text), taken, "{text}");
    }
    let far = constraint(
        json!({"type": "integer", "minimum": -10_000, "maximum": 1_000_000, "multipleOf": 25}),
    );
    for (text, taken) in [
        ("700", true),
        ("710", false),
        ("-25", true),
        ("-10025", false),
        ("1000025", false),
        ("0", true),
    ] {
        assert_eq!(accepts(&far, text), taken, "{text}");
    }
}

#[test]
fn what_is_no_schema_is_an_error() {
    let itself = json!({"$ref": "#/$defs/A", "$defs": {"A": {"anyOf": [{"$ref": "#/$defs/A"}]}}});
    assert!(matches!(
        Constraint::from_schema(itself),
        Err(ConstraintError::Schema(_))
    ));
    let error = Constraint::from_schema(json!({"$ref": "#/$defs/None"})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "``: the reference `#/$defs/None` does not resolve inside the schema"
    );
}

#[test]
fn what_would_be_a_grammar_without_an_end_is_an_error() {
    let limit = |schema: Value| match Constraint::from_schema(schema) {
        Err(ConstraintError::TooLarge { what, .. }) => what,
        other => panic!("{other:?}"),
    };
    let step = |number: usize| json!({"type": "object", "properties": {"it": {"$ref": format!("#/$defs/D{number}")}}});
    // More levels than a grammar may have, and fewer than a schema.
    let chain: serde_json::Map<_, _> = (0..80)
        .map(|number| (format!("D{number}"), step(number + 1)))
        .chain([("D80".to_owned(), json!({"type": "boolean"}))])
        .collect();
    assert_eq!(
        limit(json!({"$ref": "#/$defs/D0", "$defs": chain})),
        "levels"
    );
    let choice = |number: usize| json!({"anyOf": (0..8).map(|value| json!({"minimum": number * value})).collect::<Vec<_>>()});
    let choices: Vec<_> = (1..9).map(choice).collect();
    assert_eq!(limit(json!({"allOf": choices})), "alternatives");
}

#[test]
fn listed_values_keep_the_other_keywords() {
    let constraint =
        constraint(json!({"enum": [1, 5, 9, "a", "bcd", null], "minimum": 4, "maxLength": 2}));
    for (text, taken) in [
        ("1", false),
        ("5", true),
        ("\"a\"", true),
        ("\"bcd\"", false),
        ("null", true),
    ] {
        assert_eq!(accepts(&constraint, text), taken, "{text}");
    }
}
