//! A strict schema refuses no call that the tool takes: generated arguments, the tool itself and an independent judge.

use contract_runtime::Dialect;
use contract_runtime::prelude::*;
use jsonschema::Validator;
use jsonschema::canonical::Containment;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};

use crate::exports_sample::SAMPLES;
use crate::openai::{STRICT, parameters, planner};

/// Values for a parameter of this name in the samples: around every constant in them.
#[allow(clippy::too_many_lines, reason = "a list")]
fn values(name: &str) -> BoxedStrategy<Value> {
    let text = || {
        prop_oneof![
            prop::sample::select(vec![
                "",
                "admin",
                "root",
                "left",
                "right",
                "home",
                "home/x",
                "a.rs77",
                "needle",
                "abxyz",
                "abx..xyz",
                "tmp/x",
                "abcdef",
                "abc",
                "Grüße",
                "wanted",
                "🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀🦀",
            ])
            .prop_map(Value::from),
            (0..70_usize).prop_map(|length| json!("x".repeat(length))),
            (0..70_usize).prop_map(|length| json!("ä".repeat(length))),
        ]
    };
    let list = || {
        prop_oneof![
            prop::collection::vec(text(), 0..4).prop_map(Value::from),
            prop::collection::vec(
                prop::sample::select(vec!["wanted", "x"]).prop_map(Value::from),
                1..4
            )
            .prop_map(Value::from),
            prop::collection::vec(Just(json!("a")), 0..25).prop_map(Value::from),
            prop::collection::vec(
                prop::sample::select(vec![0, 76, 77, -5]).prop_map(Value::from),
                0..4
            )
            .prop_map(Value::from),
            prop::collection::vec(
                prop::collection::vec((0..9).prop_map(Value::from), 0..33).prop_map(Value::from),
                0..3
            )
            .prop_map(Value::from),
        ]
    };
    let number = || {
        prop_oneof![
            (0..130_i64).prop_map(Value::from),
            (-60..700_i64).prop_map(Value::from),
            (0..20_i64).prop_map(|n| json!(n * 35)),
            prop::sample::select(vec![
                json!(4),
                json!(47.0),
                json!(u64::MAX),
                json!(i64::MIN),
                json!(9_007_199_254_740_991_u64),
                json!(255),
            ]),
        ]
    };
    let place = prop::sample::select(vec![
        json!({"city": "Bonn"}),
        json!({"city": "atlantis"}),
        json!({"city": "", "height": 9, "floors": null}),
        json!({"city": "x", "unknown": [1]}),
    ]);
    match name {
        "count" | "start" | "end" | "days" => number().boxed(),
        "ratio" => prop_oneof![
            number(),
            prop::sample::select(vec![
                0.125,
                0.25,
                0.250_000_1,
                62.5,
                62.500_001,
                62.500_002,
                -0.0,
                1e300
            ])
            .prop_map(Value::from),
        ]
        .boxed(),
        "name" | "note" => prop_oneof![4 => text(), 1 => Just(Value::Null)].boxed(),
        "letter" => prop::sample::select(vec!["q", "z", "a", "qz", "🦀"])
            .prop_map(Value::from)
            .boxed(),
        "tags" => list().boxed(),
        "mode" => prop::sample::select(vec!["very-fast", "slow", "off", "Slow"])
            .prop_map(Value::from)
            .boxed(),
        "flag" => any::<bool>().prop_map(Value::from).boxed(),
        "place" | "other" => place.boxed(),
        "shape" => prop::sample::select(vec![
            json!({"kind": "empty"}),
            json!({"kind": "disk", "radius": 2}),
            json!({"kind": "disk", "radius": 8.5}),
            json!({"kind": "disk"}),
        ])
        .boxed(),
        "steps" => prop::sample::select(vec![
            json!([]),
            json!([{"name": "a"}]),
            json!([{"name": "a", "weight": 3, "next": {"name": "b", "next": null}}]),
        ])
        .boxed(),
        "point" => {
            prop::sample::select(vec![json!([1, 2.5]), json!([1]), json!([0.0, -1])]).boxed()
        }
        other => panic!("no values for `{other}`"),
    }
}

fn arguments(names: &[String]) -> impl Strategy<Value = Value> + use<> {
    let members: Vec<_> = names
        .iter()
        .map(|name| prop_oneof![9 => values(name).prop_map(Some), 1 => Just(None)])
        .collect();
    let names = names.to_vec();
    members.prop_map(move |values| {
        let members = names.iter().zip(values);
        let members = members.filter_map(|(name, value)| Some((name.clone(), value?)));
        members.collect::<Map<_, _>>().into()
    })
}

/// Arguments as a model must write them under a strict schema: every member there, those unsaid null, unknown ones gone.
struct Manner {
    root: Value,
}

impl Manner {
    fn validator(&self, schema: &Value) -> Validator {
        let mut schema = schema.clone();
        schema["$defs"] = self.root["$defs"].clone();
        if schema["$defs"].is_null() {
            schema["$defs"] = json!({});
        }
        jsonschema::draft202012::new(&schema).unwrap()
    }

    fn write(&self, schema: &Value, value: &Value) -> Value {
        if let Some(target) = schema["$ref"].as_str() {
            return self.write(self.root.pointer(&target[1..]).unwrap(), value);
        }
        if let Some(branches) = schema["anyOf"].as_array() {
            let written = branches
                .iter()
                .map(|branch| (branch, self.write(branch, value)));
            let mut fitting =
                written.filter(|(branch, written)| self.validator(branch).is_valid(written));
            return fitting.next().map_or(value.clone(), |(_, written)| written);
        }
        match (value, &schema["properties"]) {
            (Value::Object(members), Value::Object(properties)) => {
                let all = properties.iter().map(|(name, below)| {
                    let here = members.get(name).unwrap_or(&Value::Null);
                    (name.clone(), self.write(below, here))
                });
                Value::Object(all.collect())
            }
            (Value::Array(items), _) => items
                .iter()
                .map(|item| self.write(&schema["items"], item))
                .collect(),
            _ => value.clone(),
        }
    }
}

/// How many of `cases` generated calls the tool takes; each of them is valid by the exports.
fn judge(registry: &Registry, cases: usize, runner: &mut TestRunner) -> usize {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let tool = registry.tools().next().unwrap();
    let names = tool.input_schema()["properties"]
        .as_object()
        .unwrap()
        .keys();
    let names: Vec<String> = names.filter(|name| *name != "size").cloned().collect();
    let loose = parameters(registry, Dialect::OpenAiChat);
    let loose = jsonschema::draft202012::new(&loose).unwrap();
    let manner = Manner {
        root: parameters(registry, STRICT),
    };
    let strict = jsonschema::draft202012::new(&manner.root).unwrap();
    let calls = arguments(&names);
    let mut taken = 0;
    for _ in 0..cases {
        let arguments = calls.new_tree(runner).unwrap().current();
        let check = |arguments: &Value| {
            let call = ToolCall::new("", tool.name(), arguments.to_string());
            runtime.block_on(registry.check(call)).is_ok()
        };
        if !check(&arguments) {
            continue;
        }
        taken += 1;
        assert!(
            loose.is_valid(&arguments),
            "{} refuses {arguments}",
            tool.name()
        );
        let written = manner.write(&manner.root, &arguments);
        if let Err(error) = strict.validate(&written) {
            panic!(
                "strict {} refuses {written}: {error}\n{:#}",
                tool.name(),
                manner.root
            );
        }
        assert!(
            check(&written),
            "{} does not take back {written}",
            tool.name()
        );
    }
    taken
}

#[test]
fn what_a_tool_takes_its_exports_accept() {
    let mut runner = TestRunner::deterministic();
    for sample in SAMPLES {
        let taken = judge(&sample.registry(), 300, &mut runner);
        assert!(taken >= 2, "{} took only {taken}", sample.name);
    }
    assert!(judge(&planner(), 1500, &mut runner) > 20);
}

/// A judge without examples. What it cannot decide is not proven.
#[test]
fn set_algebra_proves_most_strict_schemas_to_cover_their_types() {
    let canonical = |schema: &Value| jsonschema::canonicalize(schema).unwrap();
    let (mut proven, mut open) = (Vec::new(), Vec::new());
    for sample in SAMPLES {
        let registry = sample.registry();
        let neutral = registry.tools().next().unwrap().input_schema();
        let required = neutral["required"].as_array().unwrap().len();
        // The two liberties of the dialect: null for what is absent, and no keys that say nothing.
        if required < neutral["properties"].as_object().unwrap().len()
            || neutral["properties"].get("place").is_some()
        {
            continue;
        }
        let strict = parameters(&registry, STRICT);
        match canonical(&strict).covers(&canonical(neutral)) {
            Ok(Containment::No) => panic!("{strict:#} does not cover {neutral:#}"),
            Ok(Containment::Yes) => proven.push(sample.name),
            _ => open.push(sample.name),
        }
    }
    assert!(
        proven.len() > 3 * open.len(),
        "proven {proven:?}, open {open:?}"
    );
}
