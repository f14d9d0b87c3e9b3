//! Each keyword in words.

use contract_schema::vocabulary::describe;
use serde_json::{Map, Value, json};

use crate::prose;

fn phrase(dropped: &Value) -> String {
    prose::phrases(dropped.as_object().expect("keywords")).join("; ")
}

#[test]
fn each_keyword_has_its_phrase() {
    for (keywords, expected) in [
        (json!({"minimum": 1}), "at least 1"),
        (json!({"maximum": 100}), "at most 100"),
        (json!({"minimum": 1, "maximum": 100}), "1 to 100"),
        (json!({"maximum": 5, "minimum": 5}), "exactly 5"),
        (json!({"exclusiveMinimum": 0}), "more than 0"),
        (json!({"exclusiveMaximum": 0.5}), "less than 0.5"),
        (json!({"multipleOf": 5}), "a multiple of 5"),
        (json!({"minLength": 3, "maxLength": 8}), "3 to 8 characters"),
        (json!({"minLength": 1}), "at least 1 character"),
        (json!({"maxItems": 8}), "at most 8 items"),
        (json!({"minItems": 2, "maxItems": 2}), "exactly 2 items"),
        (json!({"uniqueItems": true}), "no two items alike"),
        (json!({"uniqueItems": false}), ""),
        (json!({"pattern": "^[a-z]+$"}), "matches `^[a-z]+$`"),
        (json!({"format": "uri"}), "format uri"),
        (json!({"not": {"const": 0}}), "not 0"),
        (json!({"not": {"enum": [0, 1]}}), "none of 0, 1"),
        (json!({"not": {"pattern": "^a"}}), "does not match `^a`"),
        (json!({"not": {"type": "null"}}), "not null"),
        (json!({"not": {}}), "no value at all"),
        (json!({"not": {"minimum": 1, "maximum": 2}}), "not (1 to 2)"),
        (
            json!({"contains": {"const": "a"}}),
            "at least one item exactly \"a\"",
        ),
        (
            json!({"contains": {"minimum": 1}, "minContains": 2}),
            "at least 2 items at least 1",
        ),
        (json!({"enum": ["a", 1]}), "one of \"a\", 1"),
        (json!({"const": null}), "exactly null"),
        (
            json!({"anyOf": [{"maximum": 1}, {"minimum": 9}]}),
            "either at most 1 or at least 9",
        ),
        (
            json!({"allOf": [{"pattern": "a"}, {"not": {"const": "b"}}]}),
            "matches `a`; not \"b\"",
        ),
        (
            json!({"dependentRequired": {"a": ["b"]}}),
            "`a` only with `b`",
        ),
        (
            json!({"if": {"const": 1}, "then": false, "else": {"minimum": 3}}),
            "if exactly 1 then nothing; unless exactly 1 then at least 3",
        ),
        (json!({"default": 50}), "default 50"),
        // Absent is null is absent.
        (json!({"default": null}), ""),
        (json!({"examples": ["a", "b"]}), "such as \"a\", \"b\""),
        (
            json!({"contentEncoding": "base64"}),
            "contentEncoding: \"base64\"",
        ),
        (json!({"x-unit": "m", "title": "T", "$comment": "c"}), ""),
        // The order is that of the phrases, not of the keywords.
        (
            json!({"default": 3, "multipleOf": 3, "minimum": 0}),
            "at least 0; a multiple of 3; default 3",
        ),
    ] {
        assert_eq!(phrase(&keywords), expected, "{keywords}");
    }
}

#[test]
fn words_join_the_description_of_the_same_value() {
    let described = |text, phrases: &[String]| {
        let mut keywords = Map::from_iter([("type".to_owned(), json!("integer"))]);
        describe(&mut keywords, text, phrases);
        keywords.shift_remove("description")
    };
    assert_eq!(described(None, &[]), None);
    assert_eq!(described(Some("How many."), &[]), Some(json!("How many.")));
    let two = [
        "at least 1".to_owned(),
        "default 5".to_owned(),
        "at least 1".to_owned(),
    ];
    assert_eq!(
        described(Some(" "), &two),
        Some(json!("at least 1; default 5"))
    );
    assert_eq!(
        described(Some("How many."), &two),
        Some(json!("How many. (at least 1; default 5)"))
    );
    let sentences = ["1: First.".to_owned(), "2: And so on...".to_owned()];
    assert_eq!(
        described(None, &sentences),
        Some(json!("1: First; 2: And so on..."))
    );
}
