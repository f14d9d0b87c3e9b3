//! Compares quiet walks, which stop at the first problem, with those that collect everything.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Value, json};

use super::super::place::Path;
use super::super::walk::{Verdict, Walk};
use super::super::{conforms, examine, read_values};
use super::judge::{near_misses, schemas, values};
use super::schema_of;
use crate::InputSchema;

/// Whether a quiet walk admits the text as it is written.
fn admits(schema: &InputSchema, text: &str) -> bool {
    let mut walk = Walk::quiet(text, schema.rules());
    let start = walk.lexer.behind_space(0);
    let end = walk.judge(schema.root(), start, &Path::ROOT);
    end.is_ok_and(|end| walk.lexer.ends(end)) && walk.verdict == Verdict::Fits && !walk.twice
}

/// A quiet walk admits exactly what a loud one neither refuses nor corrects.
fn agree(schema: &InputSchema, text: &str) -> bool {
    let admitted = admits(schema, text);
    for coerce in [false, true] {
        let examined = examine(text, schema, coerce);
        // An object without members is written anew.
        let as_sent = examined.as_ref().is_ok_and(|examined| {
            let same = examined.text == text || examined.text == "{}";
            same && examined.coercions.is_empty()
        });
        assert_eq!(
            admitted,
            as_sent,
            "{text} by {}: {examined:?}",
            schema.json()
        );
    }
    assert!(
        !admitted || serde_json::from_str::<Value>(text).is_ok(),
        "{text}"
    );
    admitted
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
fn quiet_and_loud_walks_agree() {
    let schemas = schemas();
    let (admitted, refused) = (Cell::new(0), Cell::new(0));
    proptest!(ProptestConfig::with_cases(500), |(text in texts())| {
        for schema in &schemas {
            let counter = if agree(schema, &text) { &admitted } else { &refused };
            counter.set(counter.get() + 1);
        }
    });
    // Nothing would be compared if all were refused.
    let counted = (admitted.get(), refused.get());
    assert!(counted.0 > 500 && counted.1 > 500, "{counted:?}");
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
    assert!(agree(&schema, &many("other")));
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
        assert!(!agree(&schema, &text), "{text}");
    }
}

#[test]
fn the_depth_of_a_text_has_the_limit_of_its_parser() {
    let schema = schema_of::<Value>();
    let nested = |depth: usize| format!("{{\"v\":{}{}}}", "[".repeat(depth), "]".repeat(depth));
    assert!(agree(&schema, &nested(126)));
    assert!(!agree(&schema, &nested(127)));
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
    // Each of the two arrays would ask for what stands inside of it.
    assert!(agree(&schema, &text));
}

/// JSON values hold no integer of more than 64 bits.
#[test]
fn what_is_handed_on_as_a_value_is_exact() {
    let schema = schema_of::<i128>();
    for (text, is_exact) in [
        (r#"{"v":18446744073709551615}"#, true),
        (r#"{"v":18446744073709551616}"#, false),
        (r#"{"v":-9223372036854775808}"#, true),
        (r#"{"v":-9223372036854775809}"#, false),
    ] {
        assert!(agree(&schema, text), "{text}");
        assert_eq!(
            read_values(text, &schema, false).is_ok(),
            is_exact,
            "{text}"
        );
        assert!(conforms(text, &schema).is_ok(), "{text}");
    }
}
