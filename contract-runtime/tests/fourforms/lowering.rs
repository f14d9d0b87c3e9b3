//! What authors write, lowered: the schema a tool shows against the calls it takes.

use contract_runtime::prelude::*;
use contract_runtime::{Lowering, PublishedCondition, Status, ToolInfo};
use jsonschema::Validator;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Map, Value, json};

type Small = u8;
type Whole = u32;
type Byte = u8;

const MOST: u32 = 12;
const NAMES: [&str; 2] = ["ann", "bob"];
const EVEN: bool = true;

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    VeryFast,
    /// As slow as it gets.
    Slow,
    #[serde(rename = "0ff")]
    Off,
}

impl Mode {
    fn works(self) -> bool {
        self != Self::Off
    }
}

/// One tool with these conditions, and how each of them is said.
macro_rules! tools {
    ($($(#[$attribute:meta])* $name:ident($($parameters:tt)*) [$($said:ident),*];)*) => {
        $(
            /// Take it.
            #[tool]
            $(#[$attribute])*
            #[allow(unused_variables, clippy::needless_pass_by_value, clippy::trivially_copy_pass_by_ref)]
            #[allow(clippy::manual_is_multiple_of, reason = "what is portable, as many write it")]
            #[allow(clippy::cast_lossless, clippy::cast_possible_truncation, reason = "casts are what is lowered")]
            fn $name($($parameters)*) {}
        )*

        fn registry() -> Registry {
            Registry::builder()$(.tool($name))*.build().unwrap()
        }

        const SAID: &[(&str, &[Lowering])] = &[$((stringify!($name), &[$(Lowering::$said),*])),*];
    };
}

tools! {
    #[pre(count > 0 && count <= MOST)] #[pre(count != 7)] #[pre(!EVEN || count % 2 == 0)]
    numbers(count: u32) [Exact, Exact, Exact];
    #[pre((1..10).contains(&count))] #[pre(count * 2 < 15)]
    ranges(count: u32) [Exact, Described];
    #[pre(ratio > 0.0 && ratio <= 1.0 && !ratio.is_nan())] #[pre(single < 0.1)]
    floats(ratio: f64, single: f32) [Exact, Partial];
    #[pre(!name.is_empty())] #[pre(name.len() <= 5)] #[pre(name.chars().count() >= 2)]
    texts(name: &str) [Exact, Partial, Exact];
    #[pre(!name.trim().is_empty())]
    blank(name: String) [Partial];
    #[pre(u64::from(count) > 3)] #[pre(i64::from(count) <= 12)]
    converted(count: u32) [Exact, Exact];
    #[pre(ratio.abs() <= 1.0)] #[pre(ratio.abs() > 0.0)]
    magnitudes(ratio: f64) [Exact, Exact];
    #[pre(whole.abs() <= 5)] #[pre(whole.abs() > 1)] #[pre(whole.unsigned_abs() < 9)]
    whole_magnitudes(whole: i32) [Described, Partial, Exact];
    #[pre(name.is_ascii())]
    ascii(name: String) [Exact];
    #[pre(letter.is_ascii())]
    ascii_letter(letter: char) [Exact];
    #[pre(size as Whole > 3)]
    aliases(size: Small) [Exact];
    #[pre((wide as Byte) < 4)] #[pre(wide as Byte as u32 + 1 < 5)]
    narrowed(wide: u32) [Described, Described];
    #[pre(NAMES.contains(&name.as_str()) || name.starts_with('x'))] #[pre(name != "bob")]
    names(name: String) [Exact, Exact];
    #[pre(matches_pattern(&name, r"^[a-z]\w*$"))] #[pre(!name.ends_with('_'))] #[pre(name.as_str() < "x")]
    patterns(name: String) [Exact, Exact, Described];
    #[pre(!tags.is_empty() && tags.len() < 4)] #[pre(tags.iter().all(|tag| tag != "bob"))]
    #[pre(tags.iter().any(|tag| tag.len() > 1))]
    lists(tags: &[String]) [Exact, Exact, Partial];
    #[pre(mode.works())]
    modes(mode: Mode) [Exact];
    #[pre(matches!(mode, Mode::VeryFast | Mode::Slow))] #[pre(*mode != Mode::Slow)]
    borrowed_modes(mode: &Mode) [Exact, Exact];
    #[pre(maybe != Some(Mode::Off))]
    maybe_modes(maybe: Option<Mode>) [Exact];
    #[pre(note.is_some() || limit.is_some())] #[pre(limit.is_none_or(|limit| limit > 3))]
    optionals(note: Option<String>, limit: Option<u16>) [Described, Exact];
    #[pre(note.as_deref().is_some_and(|note| note.len() < 4))]
    needed(note: Option<String>) [Partial];
    #[pre(limit.unwrap_or(5) < 6)]
    unwrapped(#[arg(default = Some(4))] limit: Option<u16>) [Exact];
    #[pre(flag)]
    flags(flag: bool) [Exact];
    #[pre(size > 3)]
    defaults(#[arg(default = 5)] size: u8) [Exact];
    #[pre(!flag || count % 2 == 0, "of a flag the count is even")]
    several(flag: bool, count: u32) [Described];
    #[pre(letter == 'a' || letter == 'é')]
    letters(letter: char) [Exact];
}

/// Values of a parameter near to what the conditions speak of, each of its type.
fn values(name: &str) -> Vec<Value> {
    let texts = [
        "",
        "a",
        "ann",
        "bob",
        "x",
        "xé",
        "ab_",
        "abcde",
        "abcdef",
        "日本",
        "日本語",
        "B2",
        "b\n",
    ];
    match name {
        "count" => (0..20)
            .map(|count| json!(count))
            .chain([json!(4.0)])
            .collect(),
        "size" => vec![json!(3), json!(4), json!(255)],
        "wide" => vec![json!(0), json!(3), json!(4), json!(256), json!(260)],
        "whole" => [i32::MIN, -9, -8, -5, -1, 0, 1, 2, 5, 6, 9]
            .map(Value::from)
            .to_vec(),
        "limit" => vec![
            Value::Null,
            json!(0),
            json!(3),
            json!(4),
            json!(5),
            json!(6),
        ],
        "ratio" => vec![
            json!(0),
            json!(-0.0),
            json!(1e-300),
            json!(1.0),
            json!(1.000_000_1),
            json!(-1),
        ],
        "single" => vec![
            json!(0.1),
            json!(0.099_999),
            json!(0.100_000_001),
            json!(0.2),
            json!(-1),
        ],
        "name" => texts.map(Value::from).to_vec(),
        "note" => texts
            .map(Value::from)
            .into_iter()
            .chain([Value::Null])
            .collect(),
        "tags" => vec![
            json!([]),
            json!([""]),
            json!(["bob", "ann"]),
            json!(["a"]),
            json!(["é"]),
            json!(["aa", ""]),
            json!(["aa", "a", "b", "c"]),
        ],
        "mode" => vec![json!("very-fast"), json!("slow"), json!("0ff")],
        "maybe" => vec![json!("very-fast"), json!("slow"), json!("0ff"), Value::Null],
        "flag" => vec![json!(true), json!(false)],
        "letter" => vec![json!("a"), json!("é"), json!("b")],
        other => panic!("no values for {other}"),
    }
}

/// Every combination, each argument also left out.
fn calls(parameters: &[&String]) -> Vec<Map<String, Value>> {
    let mut calls = vec![Map::new()];
    for name in parameters {
        let mut more = calls.clone();
        for call in &calls {
            more.extend(values(name).into_iter().map(|value| {
                let mut call = call.clone();
                call.insert((*name).clone(), value);
                call
            }));
        }
        calls = more;
    }
    calls
}

fn judge(tool: ToolInfo<'_>) -> Validator {
    let schema = tool.input_schema();
    assert!(jsonschema::meta::is_valid(schema), "{schema:#}");
    jsonschema::draft202012::new(schema).unwrap()
}

#[tokio::test]
async fn what_a_schema_shows_is_what_a_call_takes() {
    let registry = registry();
    for (name, said) in SAID {
        let tool = registry.tool(name).unwrap();
        let found: Vec<_> = tool
            .conditions()
            .iter()
            .map(PublishedCondition::lowering)
            .collect();
        assert_eq!(found, *said, "{name}: {:#}", tool.input_schema());
        let exact = said.iter().all(|one| *one == Lowering::Exact);
        let judge = judge(tool);
        let properties = tool.input_schema()["properties"].as_object().unwrap();
        let (mut taken, mut refused) = (0, 0);
        for call in calls(&properties.keys().collect::<Vec<_>>()) {
            let call = Value::Object(call);
            let outcome = registry
                .check(ToolCall::new("1", *name, call.to_string()))
                .await;
            let (native, shown) = (outcome.status() == Status::Ok, judge.is_valid(&call));
            assert!(shown || !native, "{name} takes {call}, which is not shown");
            assert!(
                !exact || shown == native,
                "{name} shows {call} and refuses it"
            );
            if native { taken += 1 } else { refused += 1 }
        }
        assert!(
            taken > 0 && refused > 0,
            "{name}: {taken} calls taken, {refused} refused"
        );
    }
}

#[test]
fn what_a_schema_shows_can_be_read() {
    let registry = registry();
    let property = |tool: &str, name: &str| {
        registry.tool(tool).unwrap().input_schema()["properties"][name].clone()
    };
    assert_eq!(
        property("numbers", "count"),
        json!({"type": "integer", "minimum": 1, "maximum": 12, "not": {"const": 7}, "multipleOf": 2})
    );
    assert_eq!(
        property("modes", "mode"),
        json!({"$ref": "#/$defs/Mode", "enum": ["very-fast", "slow"]})
    );
    let needed = registry.tool("needed").unwrap().input_schema();
    assert_eq!(needed["required"], json!(["note"]));
    assert_eq!(
        needed["properties"]["note"],
        json!({"type": "string", "maxLength": 3})
    );
    let defaults = registry.tool("defaults").unwrap().input_schema();
    assert_eq!(defaults["required"], json!([]));
}

#[test]
fn conditions_decide_nothing_about_the_types() {
    // A call that breaks a condition is refused by the condition, with its message, and not by the schema.
    let registry = registry();
    let outcome = registry
        .call(ToolCall::new("1", "several", r#"{"flag":true,"count":3}"#))
        .blocking();
    assert_eq!(outcome.status(), Status::Violation);
    let outcome = registry
        .call(ToolCall::new("1", "flags", r#"{"flag":false}"#))
        .blocking();
    assert_eq!(outcome.status(), Status::Violation);
}

#[test]
fn a_type_that_hides_one_of_rust_is_what_it_is() {
    #[allow(non_camel_case_types, reason = "it hides the type of Rust")]
    type u64 = u8;

    /// Take it.
    #[tool]
    #[pre((size as u64) < 4)]
    #[allow(
        clippy::cast_possible_truncation,
        reason = "it is what a reader does not see"
    )]
    fn take(size: u16) -> u16 {
        size
    }
    let registry = Registry::builder().tool(take).build().unwrap();
    let tool = registry.tool("take").unwrap();
    assert_eq!(tool.conditions()[0].lowering(), Lowering::Described);
    let outcome = registry
        .call(ToolCall::new("1", "take", r#"{"size":257}"#))
        .blocking();
    assert_eq!(outcome.output(), Some("257"));
    let schema = tool.input_schema();
    assert!(
        jsonschema::is_valid(schema, &json!({"size": 257})),
        "{schema}"
    );
}
