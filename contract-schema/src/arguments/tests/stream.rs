//! Compares the validator of texts with the walk over a tree.

use std::cell::Cell;
use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::super::stream::{Stop, judge};
use super::super::{conforms, examine, read_values};
use super::judge::{near_misses, schemas, values};
use super::schema_of;
use crate::InputSchema;

/// What both say of a text must be the same, where the validator of texts says anything.
fn agree(schema: &InputSchema, text: &str) -> Result<(), Stop> {
    let quick = judge(text, schema);
    let walked = examine(text, schema, false);
    let about = || format!("{text} by {}: {quick:?}, {walked:?}", schema.json());
    match quick {
        Ok(()) => {
            for coerce in [false, true] {
                let examined = examine(text, schema, coerce);
                let Ok(examined) = examined else {
                    panic!("{}", about());
                };
                // An object without members is written anew.
                let as_sent = examined.text == text || examined.text == "{}";
                assert!(as_sent && examined.coercions.is_empty(), "{}", about());
            }
            assert!(serde_json::from_str::<Value>(text).is_ok(), "{}", about());
        }
        Err(Stop::Refused) => assert!(walked.is_err(), "{}", about()),
        Err(Stop::Undecided) => {}
    }
    quick
}

/// Texts of numbers at the edges of what types hold, and of what is no number.
const ODD: &[&str] = &[
    "0",
    "-0",
    "-1",
    "5.0",
    "5.5",
    "1e2",
    "1E+2",
    "1e-2",
    "1e400",
    "-1e-400",
    "0e0",
    "127",
    "128",
    "255",
    "256",
    "-129",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9007199254740993.0",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "99999999999999999999999",
    "1.00000000000000000001",
    "3.5e38",
    "3.4028235e38",
    "3.4028236e38",
    "0.1",
    "2.50",
    "01",
    "1.",
    ".5",
    "+1",
    "-",
    "1e",
    "NaN",
];

/// Pieces that are put in somewhere.
const PIECES: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\\",
    " ",
    "\n",
    "\t",
    "\u{0}",
    "\u{1f}",
    "null",
    "true",
    "fals",
    "ä",
    "\\u00e4",
    "\\ud83d\\ude00",
    "\\ud800",
    "\\udc00",
    "\\n",
    "\\x",
    ",\"a\":1",
    "\"a\":1,",
    ",null",
    "\"b\"",
    "💚",
    "{}",
    "[[]]",
];

#[derive(Clone, Debug)]
enum Edit {
    Insert(Index, &'static str),
    Remove(Index, usize),
    Number(Index, &'static str),
    Repeat(Index, usize),
}

fn edits() -> impl Strategy<Value = Vec<Edit>> {
    let edit = prop_oneof![
        (any::<Index>(), select(PIECES)).prop_map(|(at, piece)| Edit::Insert(at, piece)),
        (any::<Index>(), 1..4_usize).prop_map(|(at, length)| Edit::Remove(at, length)),
        (any::<Index>(), select(ODD)).prop_map(|(at, number)| Edit::Number(at, number)),
        (any::<Index>(), 1..16_usize).prop_map(|(at, length)| Edit::Repeat(at, length)),
    ];
    prop::collection::vec(edit, 0..3)
}

/// A text after one edit; characters stay whole.
fn edited(text: &str, edit: &Edit) -> String {
    let letters: Vec<char> = text.chars().collect();
    let place = |at: &Index| at.index(letters.len() + 1);
    let part = |from: usize, to: usize| -> String {
        letters[from.min(letters.len())..to.min(letters.len())]
            .iter()
            .collect()
    };
    match edit {
        Edit::Insert(at, piece) => part(0, place(at)) + piece + &part(place(at), letters.len()),
        Edit::Remove(at, length) => part(0, place(at)) + &part(place(at) + length, letters.len()),
        Edit::Repeat(at, length) => {
            let end = place(at) + length;
            part(0, end) + &part(place(at), letters.len())
        }
        Edit::Number(at, number) => {
            // The first number from there on.
            let is_part = |c: &char| c.is_ascii_digit() || matches!(c, '.' | '-');
            let from = (place(at)..letters.len()).find(|index| is_part(&letters[*index]));
            let from = from.unwrap_or(letters.len());
            let to = (from..letters.len()).find(|index| !is_part(&letters[*index]));
            part(0, from) + number + &part(to.unwrap_or(letters.len()), letters.len())
        }
    }
}

fn texts() -> impl Strategy<Value = String> {
    let value = prop_oneof![values(), near_misses()];
    let spaced = any::<bool>();
    (value, edits(), spaced).prop_map(|(value, edits, spaced)| {
        let arguments = json!({ "v": value });
        let text = if spaced {
            format!("{arguments:#}")
        } else {
            arguments.to_string()
        };
        edits.iter().fold(text, |text, edit| edited(&text, edit))
    })
}

#[test]
fn what_is_decided_of_a_text_is_what_the_walk_over_its_tree_says() {
    let schemas = schemas();
    let (admitted, refused) = (Cell::new(0), Cell::new(0));
    proptest!(ProptestConfig::with_cases(500), |(text in texts())| {
        for schema in &schemas {
            match agree(schema, &text) {
                Ok(()) => admitted.set(admitted.get() + 1),
                Err(Stop::Refused) => refused.set(refused.get() + 1),
                Err(Stop::Undecided) => {}
            }
        }
    });
    // Nothing would be compared if all were left undecided.
    let counted = (admitted.get(), refused.get());
    assert!(counted.0 > 500 && counted.1 > 500, "{counted:?}");
}

/// Neither is left to a tree: a call with such arguments is as fast as it can be.
#[test]
fn ordinary_arguments_are_decided_without_a_tree() {
    let plain: &[(&InputSchema, &[&str])] = &[
        (
            &schema_of::<super::judge::Closed>(),
            &[
                r#"{"a":1}"#,
                r#"{"a":1,"b":null}"#,
                r#"{ "b" : "x\n\u00e4", "a" : 1 , "c" : [ {"a":2} ] }"#,
            ],
        ),
        (
            &schema_of::<Option<super::judge::Color>>(),
            &[r#""Red""#, r#""Green""#, "null"],
        ),
        (
            &schema_of::<super::judge::Shape>(),
            &[
                r#"{"type":"Square","side":18446744073709551615,"color":"Red"}"#,
                r#"{"r":-1.5e3,"type":"Circle"}"#,
                r#"{"type":"Point"}"#,
            ],
        ),
        (
            &schema_of::<Vec<super::judge::Step>>(),
            &[r#"["Stop",{"Go":-128},{"Turn":{"a":1,"b":true}}]"#, "[]"],
        ),
        (
            &schema_of::<super::judge::Loose>(),
            &["1", "2.5", r#""x""#, "[1,2]", r#"{"a":1}"#],
        ),
        (
            &schema_of::<BTreeMap<String, i64>>(),
            &["{}", r#"{"x":1,"y":-2}"#],
        ),
        (
            &schema_of::<BTreeMap<u32, bool>>(),
            &[r#"{"1":true,"20":false}"#],
        ),
        (
            &schema_of::<Value>(),
            &["null", r#"[1,2.5,"x",{"a":[true,false,null]}]"#],
        ),
    ];
    for (schema, values) in plain {
        for value in *values {
            let text = format!("{{\"v\":{value}}}");
            assert_eq!(agree(schema, &text), Ok(()), "{text}");
        }
    }
}

#[test]
fn equal_keys_are_found_at_every_depth_and_in_every_number() {
    let schema = schema_of::<Value>();
    let many = |twice: &str| {
        let keys = (0..20).map(|index| format!("\"k{index}\":0"));
        let mut keys: Vec<String> = keys.collect();
        keys.push(format!("\"{twice}\":0"));
        format!("{{\"v\":{{{}}}}}", keys.join(","))
    };
    assert_eq!(agree(&schema, &many("other")), Ok(()));
    for text in [
        r#"{"v":{"a":1,"a":2}}"#.to_owned(),
        r#"{"v":[{"b":{"a":1,"b":0,"a":2}}]}"#.to_owned(),
        r#"{"v":{"a":1,"\u0061":2}}"#.to_owned(),
        r#"{"v":1,"v":1}"#.to_owned(),
        many("k0"),
        many("k7"),
        many("k8"),
        many("k19"),
    ] {
        assert_eq!(agree(&schema, &text), Err(Stop::Undecided), "{text}");
        assert!(examine(&text, &schema, false).is_err(), "{text}");
    }
}

#[test]
fn the_depth_of_a_text_has_the_limit_of_its_parser() {
    let schema = schema_of::<Value>();
    let nested = |depth: usize| format!("{{\"v\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert_eq!(agree(&schema, &nested(126)), Ok(()));
    assert_eq!(agree(&schema, &nested(127)), Err(Stop::Undecided));
    assert!(examine(&nested(127), &schema, false).is_err());
}

#[test]
fn alternatives_in_alternatives_end() {
    let schema = InputSchema::from_object(json!({
        "type": "object",
        "properties": {"v": {"$ref": "#/$defs/Tree"}},
        "$defs": {"Tree": {"oneOf": [
            {"type": "array", "items": {"$ref": "#/$defs/Tree"}},
            {"type": "array", "items": {"$ref": "#/$defs/Tree"}, "minItems": 2},
            {"type": "null"},
        ]}},
    }));
    let schema = schema.unwrap();
    let text = format!("{{\"v\":{}null{}}}", "[".repeat(60), "]".repeat(60));
    // The walk over a tree remembers what it has seen; here the steps are the limit.
    assert_eq!(judge(&text, &schema), Err(Stop::Undecided));
}

/// A text that is admitted is handed on as JSON values too, which hold no integer of more than 64 bits.
#[test]
fn what_is_admitted_is_exact_as_a_value() {
    let schema = schema_of::<i128>();
    for (text, is_decided) in [
        (r#"{"v":18446744073709551615}"#, true),
        (r#"{"v":18446744073709551616}"#, false),
        (r#"{"v":-9223372036854775808}"#, true),
        (r#"{"v":-9223372036854775809}"#, false),
    ] {
        assert_eq!(agree(&schema, text).is_ok(), is_decided, "{text}");
        assert_eq!(
            read_values(text, &schema, false).is_ok(),
            is_decided,
            "{text}"
        );
        assert!(conforms(text, &schema).is_ok(), "{text}");
    }
}
