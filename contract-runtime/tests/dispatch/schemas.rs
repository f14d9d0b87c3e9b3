//! The schemas that a model sees.

use std::collections::BTreeMap;

use contract_runtime::Dialect;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

mod one {
    use super::*;

    /// A point on a line.
    #[derive(Debug, Deserialize, Serialize, JsonSchema)]
    pub(super) struct Point {
        pub(super) x: i32,
    }
}

mod two {
    use super::*;

    /// A point on a plane.
    #[derive(Debug, Deserialize, Serialize, JsonSchema)]
    pub(super) struct Point {
        pub(super) x: f64,
        pub(super) y: f64,
        pub(super) next: Option<Box<Point>>,
    }
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
enum Tree {
    Leaf(u8),
    Node(Box<Tree>, Box<Tree>),
}

/// Measure the way.
///
/// Units are metres.
#[tool(title = "Way", read_only)]
fn way(
    /// Where it begins.
    zulu: one::Point,
    /// Where it ends.
    alpha: two::Point,
    mike: Option<u8>,
    tree: Tree,
    points: Vec<two::Point>,
    #[arg(default = 3, example = 4, example = 5)] count: u16,
    bravo: BTreeMap<String, one::Point>,
) -> Vec<two::Point> {
    let _ = (zulu.x, alpha.x, alpha.y, mike, tree, count, bravo);
    points
}

/// Take nothing.
#[tool]
fn nothing() {}

/// Make numbers.
#[tool]
fn numbers(a: i8, b: u64, c: i128, d: f32, e: usize, f: char, g: [u8; 2], h: (bool, String)) {
    let _ = (a, b, c, d, e, f, g, h);
}

fn registry() -> Registry {
    Registry::builder()
        .tool(way)
        .tool(nothing)
        .tool(numbers)
        .build()
        .unwrap()
}

fn input(name: &str) -> Value {
    registry().tool(name).unwrap().input_schema().clone()
}

/// Calls with every object in a schema that is a schema, and its JSON pointer.
fn each(value: &Value, pointer: &str, see: &mut impl FnMut(&str, &serde_json::Map<String, Value>)) {
    match value {
        Value::Object(object) => {
            see(pointer, object);
            for (key, below) in object {
                each(below, &format!("{pointer}/{key}"), see);
            }
        }
        Value::Array(items) => {
            for (index, below) in items.iter().enumerate() {
                each(below, &format!("{pointer}/{index}"), see);
            }
        }
        _ => {}
    }
}

#[test]
fn required_and_properties_are_in_the_order_of_declaration() {
    let schema = input("way");
    assert_eq!(schema["type"], json!("object"));
    assert_eq!(
        schema["required"],
        json!(["zulu", "alpha", "tree", "points", "bravo"])
    );
    let keys: Vec<_> = schema["properties"].as_object().unwrap().keys().collect();
    assert_eq!(
        keys,
        ["zulu", "alpha", "mike", "tree", "points", "count", "bravo"]
    );
}

#[test]
fn the_top_level_is_closed_also_without_parameters() {
    for name in ["way", "nothing", "numbers"] {
        let schema = input(name);
        assert_eq!(schema["additionalProperties"], json!(false), "{name}");
        assert_eq!(schema["type"], json!("object"), "{name}");
        assert!(schema["properties"].is_object(), "{name}");
    }
}

#[test]
fn nothing_is_in_a_schema_that_no_model_needs() {
    let registry = registry();
    for tool in registry.tools() {
        for schema in [Some(tool.input_schema()), tool.output_schema()]
            .into_iter()
            .flatten()
        {
            each(schema, "", &mut |pointer, object| {
                let names = pointer.ends_with("/properties") || pointer.ends_with("/$defs");
                if !names {
                    assert!(!object.contains_key("$schema"), "{pointer}");
                    assert!(!object.contains_key("title"), "{pointer}");
                    for foreign in [
                        "int8", "uint64", "int128", "uint8", "uint", "float", "double",
                    ] {
                        assert_ne!(object.get("format"), Some(&json!(foreign)), "{pointer}");
                    }
                }
            });
        }
    }
}

#[test]
fn every_reference_resolves_inside_its_own_schema() {
    let registry = registry();
    let mut found = 0;
    for tool in registry.tools() {
        for schema in [Some(tool.input_schema()), tool.output_schema()]
            .into_iter()
            .flatten()
        {
            each(schema, "", &mut |pointer, object| {
                if let Some(Value::String(reference)) = object.get("$ref") {
                    found += 1;
                    let at = reference.strip_prefix('#').unwrap();
                    assert!(schema.pointer(at).is_some(), "{pointer} to {reference}");
                }
            });
        }
    }
    assert!(found >= 4, "there are recursive types among the parameters");
}

#[test]
fn two_types_of_one_name_stay_two_definitions() {
    let schema = input("way");
    let resolve = |value: &Value| match value.get("$ref").and_then(Value::as_str) {
        Some(reference) => schema.pointer(&reference[1..]).unwrap().clone(),
        None => value.clone(),
    };
    let line = resolve(&schema["properties"]["zulu"]);
    let plane = resolve(&schema["properties"]["alpha"]);
    assert!(line["properties"].get("y").is_none(), "{line}");
    assert!(plane["properties"].get("y").is_some(), "{plane}");
}

#[test]
fn integers_have_the_range_of_their_type() {
    let schema = input("numbers");
    let properties = &schema["properties"];
    assert_eq!(
        properties["a"],
        json!({"type": "integer", "minimum": -128, "maximum": 127})
    );
    assert_eq!(properties["b"]["minimum"], json!(0));
    assert_eq!(properties["b"]["maximum"], json!(u64::MAX));
    assert_eq!(properties["g"]["minItems"], json!(2));
    assert_eq!(properties["g"]["maxItems"], json!(2));
    assert_eq!(properties["f"]["maxLength"], json!(1));
    assert_eq!(properties["f"]["minLength"], json!(1));
}

#[test]
fn descriptions_defaults_and_examples_are_shown() {
    let registry = registry();
    let tool = registry.tool("way").unwrap();
    assert_eq!(tool.title(), Some("Way"));
    assert!(tool.description().starts_with("Measure the way."));
    assert!(tool.description().ends_with("Units are metres."));
    let properties = &tool.input_schema()["properties"];
    assert_eq!(properties["zulu"]["description"], json!("Where it begins."));
    assert_eq!(properties["alpha"]["description"], json!("Where it ends."));
    assert_eq!(properties["count"]["default"], json!(3));
    assert_eq!(properties["count"]["examples"], json!([4, 5]));
}

fn functions(registry: &Registry) -> &Value {
    registry.export(Dialect::OpenAiChat)
}

#[test]
fn the_list_of_functions_has_the_format_of_function_calling() {
    let registry = registry();
    let functions = functions(&registry).as_array().unwrap();
    let names: Vec<_> = functions
        .iter()
        .map(|one| one["function"]["name"].clone())
        .collect();
    assert_eq!(names, ["nothing", "numbers", "way"]);
    for function in functions {
        let keys: Vec<_> = function.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["type", "function"]);
        assert_eq!(function["type"], json!("function"));
        let keys: Vec<_> = function["function"].as_object().unwrap().keys().collect();
        assert_eq!(keys, ["name", "description", "parameters", "strict"]);
        let name = function["function"]["name"].as_str().unwrap();
        let mut parameters = input(name);
        // The ends of wide types say nothing to a model.
        for wide in ["b", "c", "d", "e"] {
            if let Some(Value::Object(schema)) = parameters["properties"].get_mut(wide) {
                schema.retain(|keyword, end| keyword == "type" || *end == 0);
            }
        }
        // The only definition that does not lead to itself stands in place of the references to it.
        let definitions = parameters.get_mut("$defs").and_then(Value::as_object_mut);
        if let Some(point) = definitions.and_then(|all| all.shift_remove("Point")) {
            for at in ["/properties/zulu", "/properties/bravo/additionalProperties"] {
                let schema = parameters.pointer_mut(at).unwrap();
                let mut whole = point.as_object().unwrap().clone();
                let beside = schema.as_object_mut().unwrap();
                assert_eq!(beside.shift_remove("$ref").unwrap(), "#/$defs/Point");
                whole.append(beside);
                *schema = Value::Object(whole);
            }
        }
        assert_eq!(function["function"]["parameters"], parameters);
    }
}

#[test]
fn a_registry_built_again_says_the_same_bytes() {
    let first = functions(&registry()).to_string();
    for _ in 0..5 {
        let again = Registry::builder()
            .tool(numbers)
            .tool(nothing)
            .tool(way)
            .build()
            .unwrap();
        assert_eq!(functions(&again).to_string(), first);
    }
}

/// The environment variable by which this test calls itself.
const CHILD: &str = "CONTRACT_RUNTIME_PRINT_FUNCTIONS";

#[test]
fn another_process_says_the_same_bytes() {
    let functions = functions(&registry()).to_string();
    if std::env::var_os(CHILD).is_some() {
        println!("{CHILD}{functions}{CHILD}");
        return;
    }
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "schemas::another_process_says_the_same_bytes",
            "--nocapture",
        ])
        .env(CHILD, "1")
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.split(CHILD).nth(1), Some(functions.as_str()));
}
