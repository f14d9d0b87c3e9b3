//! What is read without a parser is what a parser reads.

use std::collections::BTreeMap;
use std::fmt::{self, Debug};
use std::path::PathBuf;

use proptest::prelude::*;
use proptest::sample::select;
use serde::Deserialize;
use serde::de::{DeserializeOwned, Deserializer, SeqAccess, Visitor};

use super::read;

#[derive(Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
struct Order {
    item: String,
    count: u8,
    note: Option<String>,
    #[serde(default)]
    size: Size,
}

#[derive(Debug, PartialEq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Size {
    #[default]
    Small,
    Cut(f64),
    Box(u8, u8),
    Sheet {
        width: u8,
        kind: Option<Box<Size>>,
    },
}

#[derive(Debug, PartialEq, Deserialize)]
struct Name(String);

#[derive(Debug, PartialEq, Deserialize)]
struct Point(i8, i8);

/// It holds itself, keeps what it does not know, and takes what it cannot read for nothing.
#[derive(Debug, PartialEq, Deserialize)]
struct Tree {
    name: Name,
    #[serde(default)]
    below: Vec<Tree>,
    #[serde(default, deserialize_with = "lenient")]
    at: Option<BTreeMap<String, Point>>,
    #[serde(flatten)]
    rest: BTreeMap<String, serde_json::Value>,
}

#[derive(Debug, PartialEq, Deserialize)]
struct Lenient {
    #[serde(default, deserialize_with = "lenient")]
    order: Option<Order>,
    #[serde(default, deserialize_with = "lenient")]
    names: Option<Vec<Name>>,
    #[serde(default)]
    size: Size,
}

#[derive(Debug, PartialEq, Deserialize)]
#[serde(tag = "kind")]
enum Tagged {
    A { count: u8 },
    B,
}

#[expect(
    clippy::unnecessary_wraps,
    reason = "`deserialize_with` wants a `Result`"
)]
fn lenient<'de, D: Deserializer<'de>, T: Deserialize<'de>>(from: D) -> Result<Option<T>, D::Error> {
    Ok(T::deserialize(from).ok())
}

/// Members of the structs above, most of them right.
fn members() -> impl Strategy<Value = String> {
    let scalars = [
        "1",
        "300",
        "-1",
        "0.5",
        "null",
        "true",
        "\"a\"",
        "\"a\\n\"",
        "\"small\"",
        "\"cut\"",
        "[]",
        "{}",
        "[1, 2]",
        "[1]",
        "[\"a\"]",
        "[\"a\", 300]",
    ];
    let keys = [
        "item", "count", "note", "size", "name", "below", "at", "order", "names", "cut", "box",
        "sheet", "width", "kind", "Small", "A", "a\\u0062", "other",
    ];
    let usual = [
        r#"{"item": "a", "count": 2}"#,
        r#"{"item":"a","count":300,"size":"small"}"#,
        r#"{"item": "a", "count": 2, "note": "b\n"}"#,
        r#"{"cut": 0.5}"#,
        r#"{"box": [1, 2]}"#,
        r#"{"sheet": {"width": 1, "kind": {"cut": 1}}}"#,
        r#"{"name": "a", "below": [{"name": "b", "at": {"c": [1, -1]}}]}"#,
        r#"{"name": "a", "at": {"c": [1, 300]}}"#,
        r#"{"kind": "A", "count": 2}"#,
    ];
    let leaf = prop_oneof![
        select(scalars.to_vec()).prop_map(str::to_owned),
        select(usual.to_vec()).prop_map(str::to_owned),
    ];
    leaf.prop_recursive(3, 16, 4, move |inner| {
        let member = (select(keys.to_vec()), inner.clone());
        let member = member.prop_map(|(key, value)| format!("\"{key}\" : {value}"));
        prop_oneof![
            prop::collection::vec(member, 0..4).prop_map(|all| format!("{{{}}}", all.join(" ,"))),
            prop::collection::vec(inner, 0..3).prop_map(|all| format!("[{}]", all.join(", "))),
        ]
    })
}

/// Whatever is read of a text is what `serde_json` reads of it.
fn agree<T: DeserializeOwned + PartialEq + Debug>(text: &str) -> bool {
    let Ok((value, end)) = read::<T>(&format!("[{text}"), 1) else {
        return false;
    };
    let parsed = serde_json::from_str::<T>(&text[..end - 1]);
    assert_eq!(parsed.ok(), Some(value), "{text}");
    true
}

const PIECES: &[&str] = &[
    "[",
    "]",
    ",",
    " ",
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-1",
    "127",
    "128",
    "-129",
    "255",
    "256",
    "65536",
    "01",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "5.0",
    "-0.0",
    "1e2",
    "1e400",
    "1.",
    ".5",
    "3.4028236e38",
    "0.1",
    "\"\"",
    "\"a\"",
    "\"ä\"",
    "\"\\n\"",
    "\"\\ud800\"",
    "\"",
    "\\",
    "{}",
    "{\"a\":1}",
    "\u{1}",
];

#[test]
fn what_is_read_is_what_a_parser_reads() {
    let text = prop::collection::vec(select(PIECES), 1..8).prop_map(|pieces| pieces.concat());
    let list = prop::collection::vec(select(PIECES), 0..4)
        .prop_map(|pieces| format!("[{}]", pieces.join(", ")));
    let key = select(&["\"a\"", "\"7\"", "\"null\"", "\"\"", "7", "\"\\n\""]);
    let map = prop::collection::vec((key, select(PIECES)), 0..4).prop_map(|members| {
        let members = members
            .iter()
            .map(|(key, value)| format!("{key} : {value}"));
        format!("{{{}}}", members.collect::<Vec<_>>().join(","))
    });
    proptest!(ProptestConfig::with_cases(4_000), |(text in prop_oneof![text, list, map])| {
        agree::<i8>(&text);
        agree::<u16>(&text);
        agree::<i64>(&text);
        agree::<u64>(&text);
        agree::<i128>(&text);
        agree::<f32>(&text);
        agree::<f64>(&text);
        agree::<bool>(&text);
        agree::<char>(&text);
        agree::<String>(&text);
        agree::<PathBuf>(&text);
        agree::<Option<i32>>(&text);
        agree::<Option<String>>(&text);
        agree::<Vec<i64>>(&text);
        agree::<Vec<Vec<f64>>>(&text);
        agree::<Vec<Option<String>>>(&text);
        agree::<BTreeMap<String, i64>>(&text);
        agree::<BTreeMap<u8, Option<bool>>>(&text);
        agree::<BTreeMap<Option<char>, Vec<u64>>>(&text);
        agree::<(u8, u8)>(&text);
        agree::<serde_json::Value>(&text);
    });
}

#[test]
fn structs_and_enums_are_read_as_a_parser_reads_them() {
    proptest!(ProptestConfig::with_cases(4_000), |(text in members())| {
        agree::<Order>(&text);
        agree::<Vec<Order>>(&text);
        agree::<Size>(&text);
        agree::<BTreeMap<String, Size>>(&text);
        agree::<Tree>(&text);
        agree::<Lenient>(&text);
        agree::<Tagged>(&text);
        agree::<Option<Point>>(&text);
    });
}

/// Behind what was taken for nothing in the middle of a value, the brackets are no longer even.
#[test]
fn what_a_type_takes_for_nothing_is_left_to_a_parser() {
    for text in [
        r#"{"order": {"item": "a\n", "count": 1}, "size": "small"}"#,
        r#"{"order": {"item": "a", "count": 300}, "size": "small"}"#,
        r#"{"names": ["a", "b\n"], "size": "small"}"#,
        r#"{"names": [["a"]]}"#,
    ] {
        assert!(!agree::<Lenient>(text), "{text}");
    }
    assert!(agree::<Lenient>(
        r#"{"names": ["a", "b"], "size": "small"}"#
    ));
}

/// Takes for nothing whatever is not its own.
#[derive(Debug, PartialEq)]
struct Forgiving<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Forgiving<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        lenient(from).map(Self)
    }
}

/// Passes over the items that it cannot read, and over whatever follows where there is no end to them.
#[derive(Debug, PartialEq)]
struct Picky(Vec<u8>);

impl<'de> Deserialize<'de> for Picky {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Items;
        impl<'de> Visitor<'de> for Items {
            type Value = Picky;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Picky, A::Error> {
                let mut items = Vec::new();
                for _ in 0..100 {
                    match from.next_element() {
                        Ok(Some(item)) => items.push(item),
                        Ok(None) => break,
                        Err(_) => {}
                    }
                }
                Ok(Picky(items))
            }
        }
        from.deserialize_seq(Items)
    }
}

/// Reads nothing.
#[derive(Debug, PartialEq)]
struct Blind;

impl<'de> Deserialize<'de> for Blind {
    fn deserialize<D: Deserializer<'de>>(_: D) -> Result<Self, D::Error> {
        Ok(Self)
    }
}

/// Whatever is read is the whole text, and what a parser reads of it.
fn agree_on_all<T: DeserializeOwned + PartialEq + Debug>(text: &str) {
    if let Ok((value, end)) = read::<T>(text, 0) {
        assert_eq!(end, text.len(), "{text}");
        assert_eq!(serde_json::from_str(text).ok(), Some(value), "{text}");
    }
}

#[test]
fn a_type_that_passes_over_errors_is_left_to_a_parser() {
    proptest!(ProptestConfig::with_cases(4_000), |(text in members())| {
        agree_on_all::<Forgiving<u8>>(&text);
        agree_on_all::<Forgiving<f32>>(&text);
        agree_on_all::<Forgiving<String>>(&text);
        agree_on_all::<Forgiving<Point>>(&text);
        agree_on_all::<Forgiving<Order>>(&text);
        agree_on_all::<Forgiving<Size>>(&text);
        agree_on_all::<Forgiving<Vec<Forgiving<(u8,)>>>>(&text);
        agree_on_all::<BTreeMap<String, Forgiving<Vec<u8>>>>(&text);
        agree_on_all::<Picky>(&text);
        agree_on_all::<Vec<Picky>>(&text);
    });
    for text in ["[,]", "[1,]", "[\"a\",]", "[1 \"a\"]"] {
        assert!(read::<Vec<Blind>>(text, 0).is_err(), "{text}");
        assert!(read::<Picky>(text, 0).is_err(), "{text}");
    }
}

#[test]
fn what_is_deeper_than_a_parser_goes_is_not_plain() {
    #[derive(Debug, PartialEq, Deserialize)]
    struct Nested(Vec<Nested>);
    for (depth, is_plain) in [(1, true), (127, true), (128, false), (100_000, false)] {
        let text = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(agree::<Nested>(&text), is_plain, "{depth}");
    }
}

#[test]
fn ordinary_values_need_no_parser() {
    assert!(agree::<i64>("-41"));
    assert!(agree::<u64>("18446744073709551615"));
    assert!(agree::<f64>("48.85661400000000123"));
    assert!(agree::<f64>("-3"));
    assert!(agree::<bool>("true"));
    assert!(agree::<char>("\"ä\""));
    assert!(agree::<String>("\"declarative contracts\""));
    assert!(agree::<Option<u32>>("null"));
    assert!(agree::<Vec<String>>("[ \"a\" , \"b\" ]"));
    assert!(agree::<Vec<i64>>("[]"));
    assert!(agree::<BTreeMap<String, i64>>("{ \"a\" : 1 , \"b\":2}"));
    assert!(agree::<BTreeMap<String, Vec<f64>>>("{}"));
    assert!(agree::<Order>(r#"{"item": "a", "count": 1, "note": null}"#));
    assert!(agree::<Size>(r#""small""#));
    assert!(agree::<Size>(
        r#"{ "sheet" : {"width": 1, "kind": {"box": [1, 2]}} }"#
    ));
    assert!(agree::<Point>("[1, -1]"));
}
