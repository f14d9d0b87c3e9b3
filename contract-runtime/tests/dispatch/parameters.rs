//! Names, number and defaults of parameters, and those that take anything.

use std::borrow::Cow;
use std::collections::BTreeMap;

use contract_runtime::Status;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::common::{ended, output};

/// Keywords and other scripts.
#[tool(name = "odd_names")]
fn größe(
    r#type: i32,
    #[arg(name = "laenge")] länge: f64,
    #[arg(name = "use")] xyz: bool,
) -> Value {
    json!([r#type, länge, xyz])
}

#[test]
fn raw_unicode_and_renamed_parameters_are_known_by_their_names() {
    let registry = Registry::builder().tool(größe).build().unwrap();
    assert_eq!(
        output(
            &registry,
            "odd_names",
            r#"{"type":1,"laenge":2.5,"use":true}"#
        ),
        "[1,2.5,true]"
    );
    assert_eq!(
        output(
            &registry,
            "odd_names",
            "{\"use\":true,\"l\\u0061enge\":2.5,\"type\":1}"
        ),
        "[1,2.5,true]"
    );
}

macro_rules! twenty_six {
    ($($name:ident)*) => {
        /// Sum twenty-six numbers.
        #[tool]
        fn sum($($name: u32),*) -> u32 {
            0 $(+ $name)*
        }
    };
}

twenty_six! { a b c d e f g h i j k l m n o p q r s t u v w x y z }

#[test]
fn twenty_six_parameters_in_any_order() {
    let registry = Registry::builder().tool(sum).build().unwrap();
    let arguments: Vec<String> = ('a'..='z')
        .rev()
        .zip(1..)
        .map(|(c, n)| format!(r#""{c}":{n}"#))
        .collect();
    assert_eq!(
        output(&registry, "sum", &format!("{{{}}}", arguments.join(","))),
        (26 * 27 / 2).to_string()
    );
}

#[derive(Serialize)]
struct Level(u8);

const USUAL: Level = Level(3);

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        u8::deserialize(deserializer).map(Self)
    }
}

impl JsonSchema for Level {
    fn schema_name() -> Cow<'static, str> {
        "Level".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"type": "integer", "minimum": 0, "maximum": 255})
    }
}

/// Use what is usual.
#[tool]
fn defaults(
    #[arg(default = 50)] limit: u32,
    #[arg(default = "x")] text: &str,
    #[arg(default = USUAL)] level: Level,
    #[arg(default = Some(7))] maybe: Option<i32>,
    #[arg(default = vec![1, 2])] list: Vec<i32>,
    #[arg(default = -1.5)] ratio: f64,
    #[cfg(any())] never: u8,
    #[cfg(not(any()))] always: Option<u8>,
) -> Value {
    json!([limit, text, level, maybe, list, ratio, always])
}

#[test]
fn a_default_is_in_the_schema_and_in_the_call() {
    let registry = Registry::builder().tool(defaults).build().unwrap();
    assert_eq!(
        output(&registry, "defaults", ""),
        r#"[50,"x",3,7,[1,2],-1.5,null]"#
    );
    assert_eq!(
        output(
            &registry,
            "defaults",
            r#"{"maybe":null,"limit":1,"level":9}"#
        ),
        r#"[1,"x",9,null,[1,2],-1.5,null]"#
    );
    let schema = registry.tool("defaults").unwrap().input_schema();
    let properties = &schema["properties"];
    assert_eq!(properties["limit"]["default"], json!(50));
    assert_eq!(properties["text"]["default"], json!("x"));
    assert_eq!(properties["level"]["default"], json!(3));
    assert_eq!(properties["maybe"]["default"], json!(7));
    assert_eq!(properties["list"]["default"], json!([1, 2]));
    assert_eq!(properties["ratio"]["default"], json!(-1.5));
    assert!(properties.get("never").is_none());
}

/// Take any JSON.
#[tool]
fn any(value: Value, maybe: Option<Value>) -> Value {
    json!({"value": value, "maybe": maybe})
}

#[test]
fn a_value_takes_any_json_and_keeps_the_order_of_its_keys() {
    let registry = Registry::builder().tool(any).build().unwrap();
    for value in [
        "null",
        "true",
        "-1.5e10",
        "\"x\"",
        "[1,[2]]",
        r#"{"z":1,"a":{"y":2,"b":3}}"#,
    ] {
        let text = output(&registry, "any", &format!(r#"{{"value":{value}}}"#));
        let expected = serde_json::from_str::<Value>(value).unwrap();
        assert_eq!(text, json!({"value": expected, "maybe": null}).to_string());
    }
    let (status, _) = crate::common::ended(&registry, "any", r#"{"value":{"a":1,"a":2}}"#);
    assert_eq!(
        status,
        Status::InvalidArguments,
        "a duplicate key deep inside"
    );
    let (status, _) = crate::common::ended(&registry, "any", "{}");
    assert_eq!(
        status,
        Status::InvalidArguments,
        "an absent value is no null"
    );
}

/// Fail without a word.
#[tool]
fn silent(level: &Option<u8>) -> Result<u8, String> {
    level.ok_or_else(String::new)
}

#[test]
fn a_reference_to_an_option_is_optional_and_a_silent_failure_is_told() {
    let registry = Registry::builder().tool(silent).build().unwrap();
    assert_eq!(output(&registry, "silent", r#"{"level":3}"#), "3");
    for arguments in ["{}", r#"{"level":null}"#] {
        let outcome = registry
            .call(ToolCall::new("1", "silent", arguments))
            .blocking();
        assert_eq!(
            outcome.error().unwrap(),
            "`silent` failed and did not say why; it may have taken effect, so check before you repeat it"
        );
    }
}

/// Greet somebody.
#[tool]
fn greet(
    #[arg(default = "you", example = "Ada")] owned: String,
    #[arg(default = "there")] lent: &str,
    #[arg(default = "\"quoted\"\n")] path: std::path::PathBuf,
) -> String {
    format!("{owned} {lent} {}", path.display())
}

#[test]
fn a_text_is_the_default_of_every_type_made_of_text() {
    let registry = Registry::builder().tool(greet).build().unwrap();
    let outcome = registry.call(ToolCall::new("1", "greet", "{}")).blocking();
    assert_eq!(outcome.output(), Some("you there \"quoted\"\n"));
    let schema = registry.tool("greet").unwrap().input_schema().clone();
    assert_eq!(schema["properties"]["owned"]["default"], "you");
    assert_eq!(schema["properties"]["owned"]["examples"][0], "Ada");
    assert_eq!(schema["properties"]["path"]["default"], "\"quoted\"\n");
}

/// Whatever it cannot read stands for nothing.
#[derive(Debug)]
struct Forgiving<T>(Option<T>);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Forgiving<T> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(T::deserialize(deserializer).ok()))
    }
}

impl<T> JsonSchema for Forgiving<T> {
    fn schema_name() -> Cow<'static, str> {
        "Forgiving".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

/// Take a text, a share and numbers, if they are.
#[tool]
fn if_they_are(
    text: Forgiving<String>,
    share: Forgiving<f32>,
    numbers: Forgiving<BTreeMap<String, u8>>,
    size: Forgiving<u8>,
) -> String {
    format!("{:?} {:?} {:?} {:?}", text.0, share.0, numbers.0, size.0)
}

#[test]
fn a_type_that_takes_for_nothing_what_it_cannot_read_reads_what_it_can() {
    let registry = Registry::builder().tool(if_they_are).build().unwrap();
    for (arguments, expected) in [
        (
            r#"{"text":"a\nb","share":0.5,"numbers":{"a":1},"size":1}"#,
            r#"Some("a\nb") Some(0.5) Some({"a": 1}) Some(1)"#,
        ),
        (
            r#"{"size":"small","text":7,"share":"half","numbers":{"a":"b"}}"#,
            "None None None None",
        ),
    ] {
        assert_eq!(output(&registry, "if_they_are", arguments), expected);
    }
}

#[test]
fn a_type_that_stops_within_its_value_refuses_it() {
    let registry = Registry::builder().tool(if_they_are).build().unwrap();
    for numbers in [
        r#"{"a":300,"b":1}"#,
        r#"{"a":300,"size":1}"#,
        r#"{"a":300 ,"text":""}"#,
        r#"{"a":{"b":1}}"#,
    ] {
        let arguments = format!(r#"{{"text":"","numbers":{numbers},"size":1}}"#);
        let (status, error) = ended(&registry, "if_they_are", &arguments);
        assert_eq!(status, Status::InvalidArguments, "{numbers} {error}");
        assert_eq!(
            error,
            "`/numbers`: expected a value its type accepts, got a value it refuses"
        );
    }
}

/// A number, or zero for whatever is none; of its schema nobody can tell.
#[derive(Debug)]
struct Counted(u8);

impl<'de> Deserialize<'de> for Counted {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self(u8::deserialize(deserializer).unwrap_or_default()))
    }
}

impl JsonSchema for Counted {
    fn schema_name() -> Cow<'static, str> {
        "Counted".into()
    }

    fn inline_schema() -> bool {
        true
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        u8::json_schema(generator)
    }
}

/// Add numbers.
#[tool]
fn total(one: Counted, others: Vec<Counted>) -> u8 {
    others
        .iter()
        .fold(one.0, |total, other| total.wrapping_add(other.0))
}

#[test]
fn a_type_that_passes_over_errors_is_given_what_its_schema_admits() {
    let registry = Registry::builder().tool(total).build().unwrap();
    assert_eq!(
        output(&registry, "total", r#"{"one":1,"others":[2,3]}"#),
        "6"
    );
    for arguments in [
        r#"{"one":"x","others":[]}"#,
        r#"{"one":300,"others":[]}"#,
        r#"{"one":,"others":[]}"#,
        r#"{"one":1,"others":[2,"x"]}"#,
        r#"{"one":1,"others":[2,}"#,
        r#"{"one":1,"others":["x"}"#,
    ] {
        let (status, _) = ended(&registry, "total", arguments);
        assert_eq!(status, Status::InvalidArguments, "{arguments}");
    }
}
