//! An independent judge: what the schema admits is what the dispatcher accepts, and what comes out is what was promised.

use std::collections::BTreeMap;

use contract_runtime::Status;
use contract_runtime::prelude::*;
use jsonschema::Validator;
use proptest::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Unit {
    Metre,
    #[serde(rename = "ft")]
    Foot,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
enum External {
    Unit,
    New(i8),
    Pair(u8, bool),
    Named { x: Option<f64> },
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Internal {
    Empty,
    Disk { radius: f64 },
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "t", content = "c")]
enum Adjacent {
    A(i32),
    B { y: String },
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum Untagged {
    Number(u16),
    Text(String),
    Flag(bool),
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Open {
    x: i32,
    #[serde(default)]
    note: Option<String>,
    #[serde(default)]
    level: u8,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Closed {
    #[serde(rename = "type")]
    kind: Unit,
    inner: Option<Box<Closed>>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Newtype(u8);

/// Take one of every kind, and give them back.
#[tool]
fn kinds(
    int: i64,
    byte: u8,
    float: Option<f64>,
    flag: Option<bool>,
    text: Option<&str>,
    letter: Option<char>,
    unit: Option<Unit>,
    external: Option<External>,
    internal: Option<Internal>,
    adjacent: Option<Adjacent>,
    untagged: Option<Untagged>,
    open: Option<Open>,
    closed: Option<Closed>,
    newtype: Option<Newtype>,
    list: Option<Vec<i8>>,
    tuple: Option<(u8, String)>,
    array: Option<[bool; 2]>,
    map: Option<BTreeMap<String, u8>>,
    any: Option<Value>,
    wide: Option<u128>,
    #[arg(default = 5)] count: u32,
    nothing: Option<()>,
) -> Everything {
    Everything {
        int,
        byte,
        float,
        flag,
        text: text.map(str::to_owned),
        letter,
        unit,
        external,
        internal,
        adjacent,
        untagged,
        open,
        closed,
        newtype,
        list,
        tuple,
        array,
        map,
        any,
        wide,
        count,
        nothing,
    }
}

#[derive(Debug, Serialize, JsonSchema)]
struct Everything {
    int: i64,
    byte: u8,
    float: Option<f64>,
    flag: Option<bool>,
    text: Option<String>,
    letter: Option<char>,
    unit: Option<Unit>,
    external: Option<External>,
    internal: Option<Internal>,
    adjacent: Option<Adjacent>,
    untagged: Option<Untagged>,
    open: Option<Open>,
    closed: Option<Closed>,
    newtype: Option<Newtype>,
    list: Option<Vec<i8>>,
    tuple: Option<(u8, String)>,
    array: Option<[bool; 2]>,
    map: Option<BTreeMap<String, u8>>,
    any: Option<Value>,
    wide: Option<u128>,
    count: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    nothing: Option<()>,
}

fn registry() -> Registry {
    Registry::builder().tool(kinds).build().unwrap()
}

fn any_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-300..300_i64).prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-300..300_i32).prop_map(|n| json!(f64::from(n))),
        (-1e3..1e3_f64).prop_map(|n| json!(n)),
        prop::sample::select(vec![
            "", "x", "ä", "ab", "5", "true", "metre", "ft", "Foot", "Unit", "empty", "disk", "A",
            "B",
        ])
        .prop_map(Value::from),
        Just(json!(-0.0)),
        Just(json!(1e40)),
        Just(json!(9_007_199_254_740_993_u64)),
    ];
    let keys = prop::sample::select(vec![
        "x", "y", "note", "level", "type", "inner", "kind", "radius", "t", "c", "New", "Pair",
        "Named", "Unit", "other",
    ]);
    leaf.prop_recursive(3, 16, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((keys.clone(), inner), 0..4).prop_map(|members| members
                .into_iter()
                .map(|(k, v)| (k.to_owned(), v))
                .collect::<Map<_, _>>()
                .into()),
        ]
    })
}

/// A value that is right for this parameter, more often than not.
fn near(name: &'static str) -> BoxedStrategy<Value> {
    let right: Vec<Value> = match name {
        "int" => vec![json!(i64::MIN), json!(i64::MAX), json!(5.0), json!(0)],
        "byte" => vec![json!(0), json!(255), json!(7.0), json!(256), json!(-1)],
        "float" => vec![json!(1.5), json!(2), json!(null)],
        "flag" => vec![json!(true), json!(null)],
        "text" => vec![json!("x"), json!(""), json!(null)],
        "letter" => vec![json!("x"), json!("🦀"), json!("e\u{301}"), json!("")],
        "unit" => vec![json!("metre"), json!("ft"), json!("foot")],
        "external" => vec![
            json!("Unit"),
            json!({"New": 5}),
            json!({"New": 128}),
            json!({"Pair": [1, true]}),
            json!({"Pair": [1, true, 2]}),
            json!({"Named": {"x": null}}),
            json!({"Named": {}}),
            json!({"New": 1, "Unit": null}),
            json!({"Unit": null}),
        ],
        "internal" => vec![
            json!({"kind": "empty"}),
            json!({"kind": "disk", "radius": 1}),
            json!({"kind": "disk"}),
            json!({"kind": "empty", "radius": 1}),
            json!({"kind": "disk", "radius": 1, "kin": 1}),
        ],
        "adjacent" => vec![
            json!({"t": "A", "c": 1}),
            json!({"t": "B", "c": {"y": ""}}),
            json!({"c": 1, "t": "A"}),
            json!({"t": "A"}),
            json!({"t": "A", "c": 1, "d": 1}),
        ],
        "untagged" => vec![json!(5), json!(5.0), json!("x"), json!(true), json!(70_000)],
        "open" => vec![
            json!({"x": 1}),
            json!({"x": 1, "note": null, "level": 3, "other": 1}),
            json!({"x": 1.0, "level": 256}),
            json!({"x": 1, "level": null}),
            json!({}),
        ],
        "closed" => vec![
            json!({"type": "metre"}),
            json!({"type": "ft", "inner": {"type": "metre", "inner": null}}),
            json!({"type": "ft", "inner": {"type": "metre", "other": 1}}),
            json!({"type": "ft", "inner": {}}),
        ],
        "newtype" => vec![json!(5), json!(255), json!(256)],
        "list" => vec![json!([]), json!([1, -128, 127.0]), json!([128])],
        "tuple" => vec![
            json!([1, "x"]),
            json!([1, "x", 2]),
            json!([1]),
            json!(["x", 1]),
        ],
        "array" => vec![
            json!([true, false]),
            json!([true]),
            json!([true, true, true]),
        ],
        "map" => vec![json!({}), json!({"a": 1, "b": 255}), json!({"a": 256})],
        "any" => vec![json!(null), json!({"a": [1.5]})],
        "wide" => vec![json!(u64::MAX), json!(1.0), json!(-1), json!(1e30)],
        "count" => vec![json!(5), json!(u32::MAX), json!(-1), json!(null)],
        _ => vec![json!(null), json!([])],
    };
    prop_oneof![4 => prop::sample::select(right), 1 => any_value()].boxed()
}

const NAMES: [&str; 22] = [
    "int", "byte", "float", "flag", "text", "letter", "unit", "external", "internal", "adjacent",
    "untagged", "open", "closed", "newtype", "list", "tuple", "array", "map", "any", "wide",
    "count", "nothing",
];

/// Arguments that are right except for a few parameters.
fn arguments() -> impl Strategy<Value = Value> {
    let some = prop::sample::subsequence(NAMES.to_vec(), 0..4);
    let members = some.prop_flat_map(|names| {
        names
            .into_iter()
            .map(|name| near(name).prop_map(move |value| (name.to_owned(), value)))
            .collect::<Vec<_>>()
    });
    (members, 0..20_u8).prop_map(|(members, extra)| {
        let mut arguments = Map::new();
        if extra != 1 {
            arguments.insert("int".to_owned(), json!(1));
        }
        arguments.insert("byte".to_owned(), json!(1));
        arguments.extend(members);
        if extra == 0 {
            arguments.insert("unknown".to_owned(), json!(1));
        }
        Value::from(arguments)
    })
}

struct Judge {
    registry: Registry,
    input: Validator,
    output: Validator,
    runtime: tokio::runtime::Runtime,
}

impl Judge {
    fn new() -> Self {
        let registry = registry();
        let tool = registry.tool("kinds").unwrap();
        let validator = |schema: &Value| jsonschema::draft202012::new(schema).unwrap();
        Self {
            input: validator(tool.input_schema()),
            output: validator(tool.output_schema().unwrap()),
            runtime: tokio::runtime::Builder::new_current_thread()
                .build()
                .unwrap(),
            registry: registry.clone(),
        }
    }

    fn judge(&self, arguments: &Value) {
        let call = ToolCall::new("", "kinds", arguments.to_string());
        let checked = self.runtime.block_on(self.registry.check(call.clone()));
        let mut valid = self.input.is_valid(arguments);
        // Under strict schemas a model writes null for what it leaves out.
        if checked.is_ok() && !valid {
            valid = self.input.is_valid(&without_nulls(arguments));
        }
        assert_eq!(
            checked.is_ok(),
            valid,
            "the schema says {valid} of {arguments}, the dispatcher {}: {:?}",
            checked.status(),
            checked.error()
        );
        if !valid {
            assert_eq!(checked.status(), Status::InvalidArguments);
            return;
        }
        let called = self.runtime.block_on(self.registry.call(call));
        let output = called.value();
        let output = output.unwrap_or_else(|| panic!("{arguments}: {:?}", called.error()));
        assert!(
            self.output.is_valid(&output),
            "{output} is not what the output schema promises"
        );
    }
}

fn without_nulls(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_nulls).collect(),
        Value::Object(members) => members
            .iter()
            .filter(|(_, value)| !value.is_null())
            .map(|(name, value)| (name.clone(), without_nulls(value)))
            .collect::<Map<_, _>>()
            .into(),
        other => other.clone(),
    }
}

thread_local! {
    static JUDGE: Judge = Judge::new();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_the_schema_admits_is_what_the_dispatcher_accepts(arguments in arguments()) {
        JUDGE.with(|judge| judge.judge(&arguments));
    }
}

#[test]
fn each_near_miss_of_each_parameter_is_judged_alike() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    JUDGE.with(|judge| {
        for name in NAMES {
            for _ in 0..150 {
                let value = near(name).new_tree(&mut runner).unwrap().current();
                let mut arguments = json!({"int": 1, "byte": 1});
                arguments[name] = value;
                judge.judge(&arguments);
            }
        }
    });
}
