//! The forms in which a constraint is handed over.

use contract_agent::{Constraint, ConstraintError};
use contract_runtime::prelude::*;
use serde_json::{Value, json};

use crate::gbnf_reader::Gbnf;
use crate::tools::{accepts, registry};

/// Book a table.
#[tool]
#[pre(guests >= 1 && guests <= 12)]
fn book(guests: u8, note: Option<String>) {}

fn constraint(schema: Value) -> Constraint {
    Constraint::from_schema(schema).expect("the schema is sound")
}

#[test]
fn a_grammar_in_gbnf() {
    let registry = Registry::builder()
        .tool(book)
        .build()
        .expect("the tool is sound");
    let constraint = Constraint::replies(&registry, false).expect("the schema is sound");
    let gbnf = constraint.gbnf();
    let rules: Vec<&str> = gbnf
        .lines()
        .take_while(|line| !line.starts_with("value"))
        .collect();
    assert_eq!(
        rules,
        [
            r#"root ::= ws ("{" ws part-0 "," ws part-1 "," ws part-2 "}" ws | "{" ws part-3 "," ws part-4 "}" ws)"#,
            r#"ref-0 ::= "{" ws part-5 ("," ws part-6)? "}" ws"#,
            r#"part-0 ::= "\"type\"" ws ":" ws "\"tool_call\"" ws"#,
            r#"part-1 ::= "\"tool\"" ws ":" ws "\"book\"" ws"#,
            r#"part-2 ::= "\"arguments\"" ws ":" ws ref-0"#,
            r#"part-3 ::= "\"type\"" ws ":" ws "\"answer\"" ws"#,
            r#"part-4 ::= "\"content\"" ws ":" ws string"#,
            r#"part-5 ::= "\"guests\"" ws ":" ws integer"#,
            r#"part-6 ::= "\"note\"" ws ":" ws (string | null)"#,
        ]
    );
    Gbnf::read(&gbnf);
}

#[test]
fn white_space_may_stand_between_tokens_and_nothing_else_may() {
    let registry = Registry::builder()
        .tool(book)
        .build()
        .expect("the tool is sound");
    let constraint = Constraint::replies(&registry, true).expect("the schema is sound");
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
        // A bound is left to the call.
        let bound = text.contains("13");
        assert_eq!(gbnf.accepts(&text), taken || bound, "{text}");
    }
}

#[test]
fn the_json_schema_is_complete_and_has_the_same_verdict() {
    let registry = registry();
    let constraint = Constraint::replies(&registry, false).expect("the schema is sound");
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
fn what_a_grammar_approximates_is_listed() {
    for (schema, expected) in [
        (
            json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true, "contains": {"const": 3}}),
            vec![("uniqueItems", false), ("contains", false)],
        ),
        (
            json!({"type": "string", "pattern": "^[ab]*$", "minLength": 2, "maxLength": 3}),
            vec![("pattern", true)],
        ),
        (
            json!({"type": "string", "maxLength": 5_000}),
            vec![("maxLength", true)],
        ),
        (
            json!({"type": "object", "additionalProperties": {"type": "boolean"}}),
            vec![("additionalProperties", false)],
        ),
        (
            json!({"type": "string", "not": {"const": "root"}}),
            vec![("not", false)],
        ),
        (
            json!({"type": "string", "pattern": "x(^a|b)"}),
            vec![("pattern", false)],
        ),
        (
            json!({"type": "integer", "minimum": 0, "multipleOf": 25}),
            vec![("minimum", true), ("multipleOf", true)],
        ),
        (
            json!({"oneOf": [{"type": "integer"}, {"type": "number"}]}),
            vec![("oneOf", false)],
        ),
        (
            json!({"type": "object", "properties": {"a": {"type": "null"}}, "anyOf": [{"required": ["a"]}, {"required": ["b"]}]}),
            vec![("properties", true), ("anyOf", true), ("required", true)],
        ),
        (
            json!({"enum": [1, 5], "minimum": 4, "description": "a", "format": "b"}),
            vec![("minimum", true)],
        ),
        (json!({"type": ["string", "null"], "maxLength": 5}), vec![]),
    ] {
        let schema = json!({"type": "object", "properties": {"it": schema}, "required": ["it"]});
        let constraint = constraint(schema);
        let approximations = constraint.approximations();
        let listed: Vec<_> = approximations
            .iter()
            .map(|one| (&*one.keyword, one.only_gbnf))
            .collect();
        assert_eq!(listed, expected, "{constraint:?}");
        assert!(approximations.iter().all(|one| one.at == "/it"));
        constraint.recognizer().expect("llguidance compiles it");
        Gbnf::read(&constraint.gbnf());
    }
}

#[test]
fn gbnf_describes_the_shape_of_a_value() {
    let tuple = json!({"type": "array", "prefixItems": [{"type": "boolean"}, {"type": "integer"}], "minItems": 1, "items": false});
    let map = json!({"type": "object", "properties": {"a": true}, "additionalProperties": {"type": "integer"}});
    for (schema, accepted, refused) in [
        (
            json!({"type": "array", "items": {"type": "null"}, "minItems": 1, "maxItems": 2}),
            vec!["[null]", "[null,null]"],
            vec!["[]", "[null,null,null]", "[1]"],
        ),
        (
            tuple,
            vec!["[true]", "[true,1]"],
            vec!["[]", "[1]", "[true,1,1]"],
        ),
        (
            json!({"type": "array", "prefixItems": [{"type": "null"}], "maxItems": 2}),
            vec!["[]", "[null]", "[null,{}]"],
            vec!["[1]", "[null,1,1]"],
        ),
        (
            map,
            vec!["{}", "{\"a\":[]}", "{\"b\":1}", "{\"a\":1,\"b\":1,\"c\":2}"],
            vec!["{\"b\":true}", "{,\"b\":1}"],
        ),
        (
            json!({"type": "object", "properties": {"a": {"const": 1}, "b": {"const": 2}, "c": {"const": 3}}, "required": ["b", "d"]}),
            vec!["{\"b\":2,\"d\":0}", "{\"a\":1,\"b\":2,\"c\":3,\"d\":0}"],
            vec!["{}", "{\"a\":1}", "{\"b\":2}", "{\"b\":2,\"d\":0,\"e\":0}"],
        ),
        (
            json!({"type": "object", "additionalProperties": false}),
            vec!["{}"],
            vec!["{\"a\":1}"],
        ),
        (
            json!({"type": "object"}),
            vec!["{}", "{\"a\":{}}"],
            vec!["[]"],
        ),
        (
            json!({"type": "string", "minLength": 1, "maxLength": 2}),
            vec!["\"a\"", "\"\\u00e9\\ud83d\\ude00\""],
            vec!["\"\"", "\"abc\"", "\"\\ud83d\""],
        ),
        (
            json!({"type": ["integer", "null"]}),
            vec!["-10", "null"],
            vec!["1.5", "01", "-"],
        ),
        (
            json!({"type": "number"}),
            vec!["1.5e-7", "0"],
            vec!["1.", ".5"],
        ),
        (
            json!({"type": "integer", "enum": [1, "a"]}),
            vec!["1"],
            vec!["\"a\""],
        ),
        (
            json!({"allOf": [{"$ref": "#/$defs/T"}], "$defs": {"T": {"anyOf": [{"const": 0}, {"type": "array", "items": {"$ref": "#/$defs/T"}}]}}}),
            vec!["0", "[[0],[]]"],
            vec!["1", "[1]"],
        ),
    ] {
        let gbnf = constraint(schema).gbnf();
        let grammar = Gbnf::read(&gbnf);
        for (texts, expected) in [(accepted, true), (refused, false)] {
            for text in texts {
                assert_eq!(grammar.accepts(text), expected, "{text}\n{gbnf}");
            }
        }
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
        "the root: the reference `#/$defs/None` does not resolve inside the schema"
    );
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
