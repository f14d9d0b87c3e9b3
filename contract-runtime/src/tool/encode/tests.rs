//! What is written is what `serde_json` writes.

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde::Serialize;
use serde::ser::{SerializeMap as _, SerializeStruct as _};
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::write;
use crate::tool::failure::FailureKind;
use crate::tool::outcome::OutputKind;

fn written<T: Serialize + ?Sized>(value: &T) -> Result<(String, bool), String> {
    match write(value) {
        Ok(output) => Ok((output.text, output.kind == OutputKind::Text)),
        Err(FailureKind::Unwritable(why)) => Err(why),
        Err(other) => panic!("{other:?}"),
    }
}

/// Below the top, so that a string is JSON.
fn agree<T: Serialize>(value: T) {
    let below = [value];
    let expected = serde_json::to_string(&below);
    match (written(&below), expected) {
        (Ok((text, is_text)), Ok(expected)) => {
            assert!(!is_text);
            assert_eq!(text, expected);
        }
        (Err(why), Err(expected)) => assert_eq!(
            why,
            format!("the result cannot be written as JSON: {expected}")
        ),
        (ours, theirs) => panic!("{ours:?}, and {theirs:?}"),
    }
}

#[derive(Clone, Copy, Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Unit;

#[derive(Clone, Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Newtype<T>(T);

#[derive(Clone, Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
struct Pair(u8, String);

#[derive(Clone, Debug, Serialize, PartialEq, Eq, PartialOrd, Ord)]
enum Kind<T> {
    Unit,
    #[serde(rename = "new \"type\"")]
    Newtype(T),
    Tuple(T, T),
    Struct {
        #[serde(rename = "a\\b")]
        a: T,
        b: T,
    },
}

#[derive(Serialize)]
struct Everything<'e> {
    text: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    absent: Option<u8>,
    none: Option<u8>,
    some: Option<&'e str>,
    unit: (),
    unit_struct: Unit,
    newtype: Newtype<Option<char>>,
    pair: Pair,
    tuple: (i128, u128, bool),
    #[serde(flatten)]
    rest: BTreeMap<String, Kind<i64>>,
}

fn bytes(bytes: &[u8]) -> impl Serialize + '_ {
    struct Bytes<'b>(&'b [u8]);
    impl Serialize for Bytes<'_> {
        fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            to.serialize_bytes(self.0)
        }
    }
    Bytes(bytes)
}

/// A value of `serde_json`, of few levels.
fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>()
            .prop_filter("JSON carries it", |float| float.is_finite())
            .prop_map(Value::from),
        texts().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(texts(), inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn texts() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[a-z\"\\\\\u{0}-\u{1f}\u{7f}äß😀]{0,24}",
        "[a-z]{0,20}"
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn what_is_written_is_what_serde_json_writes(value in values(), text in texts(), float: f32, number: i64) {
        agree(&value);
        agree(float.is_finite().then_some(float));
        agree(Kind::Newtype(number));
        agree(Kind::Tuple(&text, &text));
        agree(Kind::Struct { a: &value, b: &value });
        agree(BTreeMap::from([(&text, &value)]));
        agree(BTreeMap::from([(Kind::<u8>::Unit, number)]));
        agree(BTreeMap::from([(Newtype(text.chars().next()), number)]));
        agree(BTreeMap::from([(number, &text)]));
        agree(BTreeMap::from([(number % 2 == 0, u128::MAX - u128::from(number.unsigned_abs()))]));
        agree(bytes(text.as_bytes()));
        agree(RawValue::from_string(value.to_string()).unwrap());
        agree(Everything {
            text: &text,
            absent: None,
            none: None,
            some: Some(&text),
            unit: (),
            unit_struct: Unit,
            newtype: Newtype(text.chars().last()),
            pair: Pair(7, text.clone()),
            tuple: (i128::MIN, u128::MAX, true),
            rest: BTreeMap::from([(text.clone(), Kind::Unit), ("b".to_owned(), Kind::Newtype(number))]),
        });
    }

    #[test]
    fn a_string_alone_is_the_result_as_it_is(text in texts()) {
        for (written, is_text) in [
            written(&text).unwrap(),
            written(&Some(Newtype(&text))).unwrap(),
            written(&format_args!("{text}")).unwrap(),
        ] {
            assert_eq!((written.as_str(), is_text), (text.as_str(), true));
        }
    }
}

#[test]
fn a_key_that_is_no_string_is_refused_as_serde_json_refuses_it() {
    agree(BTreeMap::from([((), 1)]));
    agree(BTreeMap::from([(None::<u8>, 1)]));
    agree(BTreeMap::from([(Unit, 1)]));
    agree(BTreeMap::from([(vec![1], 1)]));
    agree(BTreeMap::from([((1, 2), 1)]));
    agree(BTreeMap::from([(Pair(1, String::new()), 1)]));
    agree(BTreeMap::from([(BTreeMap::from([(1, 1)]), 1)]));
    for kind in [
        Kind::Newtype(1),
        Kind::Tuple(1, 2),
        Kind::Struct { a: 1, b: 2 },
    ] {
        agree(BTreeMap::from([(kind, 1)]));
    }
    agree(BTreeMap::from([(Some(1), 1)]));
}

#[test]
fn a_string_that_is_json_already_is_no_string_of_the_result() {
    let raw = RawValue::from_string(r#""as it is""#.to_owned()).unwrap();
    let (text, is_text) = written(&raw).unwrap();
    assert_eq!((text.as_str(), is_text), (r#""as it is""#, false));
    agree(vec![Some(raw.as_ref()), None]);
    agree(BTreeMap::from([("a", (raw.as_ref(), 1))]));
}

#[test]
fn the_place_of_a_number_that_json_cannot_carry_is_a_pointer_to_it() {
    fn place<T: Serialize>(value: T) -> String {
        match written(&value) {
            Err(why) => {
                let place = why.split('`').nth(1).unwrap_or_default().to_owned();
                // The pointer leads to the `null` that `serde_json` writes.
                let shown = serde_json::to_value(&value).unwrap();
                assert_eq!(shown.pointer(&place), Some(&Value::Null), "{shown}");
                place
            }
            other => panic!("{other:?}"),
        }
    }
    let nan = f64::NAN;
    assert_eq!(place(nan), "");
    assert_eq!(place(Some(f32::INFINITY)), "");
    assert_eq!(place(vec![1.0, nan]), "/1");
    assert_eq!(place((1, [Kind::Newtype(nan)])), "/1/0/new \"type\"");
    assert_eq!(place(Kind::Tuple(0.0, -nan)), "/Tuple/1");
    assert_eq!(place(Kind::Struct { a: nan, b: 1.0 }), "/Struct/a\\b");
    let keys = BTreeMap::from([("a/b~\"c\"\n", BTreeMap::from([(7, nan)]))]);
    assert_eq!(place(keys), "/a~1b~0\"c\"\n/7");
}

#[test]
fn a_member_behind_one_that_is_json_already_is_written_as_any_other() {
    #[derive(Serialize)]
    struct Both {
        raw: Box<RawValue>,
        text: &'static str,
    }
    agree(Both {
        raw: serde_json::value::to_raw_value(&json!({"a": [1, "b"]})).unwrap(),
        text: "behind",
    });
}

#[test]
fn a_value_that_is_json_already_is_refused_where_a_tag_would_stand_inside() {
    #[derive(Serialize)]
    #[serde(tag = "type")]
    enum Tagged {
        Raw(Box<RawValue>),
    }
    let raw = serde_json::value::to_raw_value(&1).unwrap();
    let tagged = [Tagged::Raw(raw)];
    assert!(serde_json::to_string(&tagged).is_err());
    assert!(written(&tagged).is_err());
}

/// What is done with a map, one thing after another.
#[derive(Clone, Copy, Debug)]
enum Step {
    Key,
    Value,
    /// A value that is refused, which is passed over.
    BadValue,
    /// The same with a key.
    BadKey,
}

#[test]
fn a_map_that_is_written_out_of_turn_is_refused() {
    struct Steps(Vec<Step>);
    impl Serialize for Steps {
        fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            let mut map = to.serialize_map(None)?;
            for step in &self.0 {
                match step {
                    Step::Key => map.serialize_key("key")?,
                    Step::Value => map.serialize_value(&1)?,
                    Step::BadValue => drop(map.serialize_value(&f64::NAN)),
                    Step::BadKey => drop(map.serialize_key(&[1])),
                }
            }
            map.end()
        }
    }
    let all = [Step::Key, Step::Value, Step::BadValue, Step::BadKey];
    let mut sequences = vec![Vec::new()];
    for length in 0..5 {
        for steps in sequences.clone() {
            if steps.len() == length {
                sequences.extend(all.map(|step| [&steps[..], &[step]].concat()));
            }
        }
    }
    for steps in sequences {
        let in_turn = steps
            .chunks(2)
            .all(|pair| matches!(pair, [Step::Key, Step::Value]));
        let written = written(&[Steps(steps.clone())]);
        assert_eq!(written.is_ok(), in_turn, "{steps:?} {written:?}");
    }
}

#[test]
fn a_type_that_passes_over_an_error_is_refused() {
    struct Lenient;
    impl Serialize for Lenient {
        fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
            let mut fields = to.serialize_struct("Lenient", 2)?;
            let _ = fields.serialize_field("a", &f64::NAN);
            fields.serialize_field("b", &1)?;
            fields.end()
        }
    }
    assert!(written(&Lenient).is_err());
    assert!(written(&[Lenient]).is_err());
}
