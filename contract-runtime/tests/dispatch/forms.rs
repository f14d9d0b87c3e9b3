//! Every form that a parameter may have, through JSON and back.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use contract_runtime::Status;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::common::{call, output};

mod other {
    pub(super) type Maybe<T> = Option<T>;
}
use std::option::Option as Perhaps;

/// Give the optional ones back.
#[tool]
fn options(
    a: Option<i32>,
    b: std::option::Option<i32>,
    c: core::option::Option<i32>,
    d: ::std::option::Option<i32>,
    e: other::Maybe<i32>,
    f: Perhaps<i32>,
    g: Option<&str>,
    h: Option<&Path>,
    i: Option<&[i32]>,
    j: Option<Vec<Option<i32>>>,
    k: other::Maybe<Option<bool>>,
) -> Value {
    json!([a, b, c, d, e, f, g, h, i, j, k])
}

#[test]
fn an_option_is_optional_in_every_spelling() {
    let registry = Registry::builder().tool(options).build().unwrap();
    let schema = registry.tool("options").unwrap().input_schema();
    let required = schema.get("required").and_then(Value::as_array);
    assert!(required.is_none_or(Vec::is_empty), "{schema}");
    let none = json!([
        null, null, null, null, null, null, null, null, null, null, null
    ]);
    assert_eq!(output(&registry, "options", ""), none.to_string());
    let all: Vec<String> = ('a'..='k')
        .map(|name| format!(r#""{name}":null"#))
        .collect();
    let all = format!("{{{}}}", all.join(","));
    assert_eq!(output(&registry, "options", &all), none.to_string());
    let given =
        r#"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":"x","h":"/y","i":[1],"j":[1,null],"k":true}"#;
    assert_eq!(
        output(&registry, "options", given),
        r#"[1,2,3,4,5,6,"x","/y",[1],[1,null],true]"#
    );
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
enum External {
    Unit,
    New(i32),
    Pair(i32, bool),
    Named { x: f64 },
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Internal {
    Empty,
    Circle {
        radius: f64,
    },
    #[serde(rename = "rect")]
    Rectangle {
        width: f64,
        height: f64,
    },
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    A(i32),
    B { y: String },
    C,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Number(i32),
    Text(String),
    List(Vec<Untagged>),
}

/// Give the enums back.
#[tool]
fn enums(external: External, internal: Internal, adjacent: Adjacent, untagged: Untagged) -> Value {
    json!([external, internal, adjacent, untagged])
}

#[test]
fn enums_of_every_representation_go_through() {
    let registry = Registry::builder().tool(enums).build().unwrap();
    let externals = [
        json!("Unit"),
        json!({"New": 1}),
        json!({"Pair": [1, true]}),
        json!({"Named": {"x": 1.5}}),
    ];
    let internals = [
        json!({"kind": "empty"}),
        json!({"kind": "circle", "radius": 1.5}),
        json!({"kind": "rect", "width": 1.5, "height": 2.5}),
        json!({"kind": "empty"}),
    ];
    let adjacents = [
        json!({"t": "A", "c": 4}),
        json!({"t": "B", "c": {"y": "z"}}),
        json!({"t": "C"}),
        json!({"t": "A", "c": 5}),
    ];
    let untaggeds = [json!(5), json!("x"), json!([1, "x", []]), json!([])];
    let cases = externals
        .iter()
        .zip(&internals)
        .zip(&adjacents)
        .zip(&untaggeds);
    for (((external, internal), adjacent), untagged) in cases {
        let arguments = json!({
            "external": external, "internal": internal, "adjacent": adjacent, "untagged": untagged,
        });
        let expected = json!([external, internal, adjacent, untagged]).to_string();
        assert_eq!(output(&registry, "enums", &arguments.to_string()), expected);
    }
    for wrong in [
        json!("unit"),
        json!({"New": "1"}),
        json!({"Pair": [1]}),
        json!({"Unit": 1}),
    ] {
        let arguments = json!({
            "external": wrong, "internal": internals[0], "adjacent": adjacents[0], "untagged": 1,
        });
        let outcome = call(&registry, "enums", &arguments.to_string());
        assert_eq!(outcome.status(), Status::InvalidArguments, "{wrong}");
        let invalid = outcome.invalid_arguments().unwrap();
        assert!(
            invalid
                .problems()
                .iter()
                .all(|problem| problem.pointer.starts_with("/external")),
            "{invalid:?}"
        );
    }
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct Tree {
    name: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    below: Vec<Tree>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    beside: Option<Box<Tree>>,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct Nested {
    #[serde(rename = "type")]
    kind: String,
    inner: Inner,
    #[serde(flatten)]
    flat: Flat,
}

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct Inner(u8, Option<char>);

#[derive(Clone, Debug, Deserialize, Serialize, JsonSchema)]
struct Flat {
    x: i32,
    y: Option<i32>,
}

/// Give the structs back.
#[tool]
fn structs(tree: Tree, nested: Nested) -> Value {
    json!([tree, nested])
}

#[test]
fn nested_and_recursive_structs_go_through() {
    let registry = Registry::builder().tool(structs).build().unwrap();
    let tree = json!({
        "name": "a",
        "below": [{"name": "b", "beside": {"name": "c"}}, {"name": "d", "below": [{"name": "e"}]}],
    });
    let nested = json!({"type": "k", "inner": [1, "ä"], "x": 1, "y": 2});
    let arguments = json!({"tree": tree, "nested": nested});
    assert_eq!(
        output(&registry, "structs", &arguments.to_string()),
        json!([tree, nested]).to_string()
    );
    let arguments = json!({"tree": {"name": "a", "below": [{"nam": "b"}]}, "nested": nested});
    let outcome = call(&registry, "structs", &arguments.to_string());
    let error = outcome.error().unwrap();
    assert!(error.contains("/tree/below/0"), "{error}");
}

/// Give the collections back.
#[tool]
fn collections(
    map: BTreeMap<String, Vec<i32>>,
    hash: HashMap<String, bool>,
    keyed: BTreeMap<u8, i32>,
    tuple: (i32, String, Option<bool>),
    array: [u8; 3],
    set: BTreeSet<char>,
    boxed: Box<i64>,
    nested: Vec<Vec<(i8, [bool; 2])>>,
    path: PathBuf,
) -> Value {
    json!([map, hash, keyed, tuple, array, set, boxed, nested, path])
}

#[test]
fn maps_tuples_arrays_and_sets_go_through() {
    let registry = Registry::builder().tool(collections).build().unwrap();
    let parts = json!({
        "map": {"b": [1, 2], "a": []},
        "hash": {"x": true},
        "keyed": {"7": -7},
        "tuple": [1, "x", null],
        "array": [1, 2, 3],
        "set": ["a", "ß"],
        "boxed": 9,
        "nested": [[[1, [true, false]]], []],
        "path": "a/b",
    });
    let values: Vec<&Value> = parts.as_object().unwrap().values().collect();
    let mut expected = json!(values);
    expected[0] = json!({"a": [], "b": [1, 2]});
    assert_eq!(
        output(&registry, "collections", &parts.to_string()),
        expected.to_string()
    );
    for (key, wrong) in [
        ("array", json!([1, 2])),
        ("array", json!([1, 2, 3, 4])),
        ("array", json!([1, 2, 256])),
        ("tuple", json!([1, "x"])),
        ("tuple", json!([1, "x", true, 1])),
        ("set", json!(["ab"])),
        ("set", json!([""])),
        ("map", json!({"a": [1, "2"]})),
        ("keyed", json!({"x": 1})),
        ("keyed", json!({"256": 1})),
        ("hash", json!([])),
        ("path", json!(5)),
    ] {
        let mut parts = parts.clone();
        parts[key] = wrong.clone();
        let outcome = call(&registry, "collections", &parts.to_string());
        assert_eq!(outcome.status(), Status::InvalidArguments, "{key} {wrong}");
        let error = outcome.error().unwrap();
        assert!(error.contains(&format!("/{key}")), "{error}");
    }
}

macro_rules! integers {
    ($($name:ident)*) => {
        $(mod $name {
            use contract_runtime::prelude::*;

            /// Give an integer back.
            #[tool]
            pub(super) fn same(n: $name) -> $name {
                n
            }
        })*

        #[test]
        fn integers_of_every_width_go_through_at_their_ends_and_not_beyond() {
            $({
                let name = stringify!($name);
                let registry = Registry::builder().tool($name::same).build().unwrap();
                for n in [$name::MIN, $name::MIN + 1, 0, 1, $name::MAX - 1, $name::MAX] {
                    let arguments = format!(r#"{{"n":{n}}}"#);
                    assert_eq!(output(&registry, "same", &arguments), n.to_string(), "{name}");
                }
                for wrong in [beyond(&$name::MAX.to_string()), beyond(&$name::MIN.to_string())] {
                    let arguments = format!(r#"{{"n":{wrong}}}"#);
                    let outcome = call(&registry, "same", &arguments);
                    assert_eq!(outcome.status(), Status::InvalidArguments, "{name} {wrong}");
                }
            })*
        }
    };
}

/// The next number further away from zero, in decimal digits; of zero, minus one.
fn beyond(number: &str) -> String {
    let (sign, digits) = match number.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None if number == "0" => return "-1".to_owned(),
        None => ("", number),
    };
    let mut digits: Vec<u8> = digits.bytes().collect();
    let mut at = digits.len();
    loop {
        if at == 0 {
            digits.insert(0, b'1');
            break;
        }
        at -= 1;
        if digits[at] == b'9' {
            digits[at] = b'0';
        } else {
            digits[at] += 1;
            break;
        }
    }
    format!("{sign}{}", String::from_utf8(digits).unwrap())
}

integers! { i8 i16 i32 i64 i128 isize u8 u16 u32 u64 u128 usize }

/// Borrow everything.
#[tool]
fn borrowed(
    text: &str,
    list: &[i32],
    tree: &Tree,
    path: &Path,
    number: &u64,
    maybe: Option<&str>,
    words: &[String],
    cow: Cow<'_, str>,
    value: &Value,
) -> Value {
    json!([text, list, tree, path, number, maybe, words, cow, value])
}

#[test]
fn borrowed_parameters_go_through() {
    let registry = Registry::builder().tool(borrowed).build().unwrap();
    let arguments = json!({
        "text": "plain", "list": [1, 2], "tree": {"name": "a"}, "path": "/p", "number": 7,
        "maybe": "m", "words": ["x"], "cow": "c", "value": {"free": [null]},
    });
    let values: Vec<&Value> = arguments.as_object().unwrap().values().collect();
    assert_eq!(
        output(&registry, "borrowed", &arguments.to_string()),
        json!(values).to_string()
    );
}

#[test]
fn a_borrowed_text_may_hold_escapes() {
    /// Give a text back.
    #[tool]
    fn same<'a>(text: &'a str, maybe: Option<&'a str>) -> (&'a str, Option<&'a str>) {
        (text, maybe)
    }
    let registry = Registry::builder().tool(same).build().unwrap();
    let text = "quote \" slash \\ line \n tab \t nul \u{0} crab 🦀 é";
    let arguments = json!({"text": text, "maybe": text}).to_string();
    let outcome = call(&registry, "same", &arguments);
    assert_eq!(outcome.value(), Some(json!([text, text])));
    let escaped = r#"{"text":"\ud83e\udd80\u0041","maybe":"\/"}"#;
    assert_eq!(output(&registry, "same", escaped), r#"["🦀A","/"]"#);
    let lone = r#"{"text":"\ud83e"}"#;
    assert_eq!(
        call(&registry, "same", lone).status(),
        Status::InvalidArguments
    );
}
