//! Types are described once for all tools of a registry, and each tool has its own schema all the same.

use std::borrow::Cow;
use std::cell::Cell;

use contract_runtime::Dialect;
use contract_runtime::prelude::*;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;

thread_local! {
    /// Other tests build registries of the whole package, on other threads.
    static DESCRIBED: Cell<usize> = const { Cell::new(0) };
}

/// A type that counts how often it is described.
#[derive(serde::Deserialize, serde::Serialize)]
struct Counted(String);

impl JsonSchema for Counted {
    fn schema_name() -> Cow<'static, str> {
        "Counted".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        DESCRIBED.set(DESCRIBED.get() + 1);
        json_schema!({"type": "string", "description": "Of the type."})
    }
}

/// Take one.
#[tool]
fn take(
    /// Of the parameter.
    one: Counted,
) {
    drop(one);
}

/// Take another.
#[tool]
fn take_another(other: Counted, #[arg(default = "a\"b")] text: String, rest: Vec<u8>) {
    drop((other, text, rest));
}

/// Give one.
#[tool]
fn give() -> Counted {
    Counted(String::new())
}

/// Give another.
#[tool]
fn give_another() -> Counted {
    Counted(String::new())
}

#[test]
fn a_type_is_described_once_as_an_argument_and_once_as_a_result() {
    // A type is told apart by the address of what describes it, which two tools may have at two addresses.
    let builder = Registry::builder().tool(take).rename("take", "first");
    let builder = builder.tool(take).tool(give).rename("give", "given");
    builder.tool(give).build().unwrap();
    assert_eq!(DESCRIBED.get(), 2);
    let builder = Registry::builder().tool(take).tool(take_another);
    let registry = builder.tool(give).tool(give_another).build().unwrap();
    let described = DESCRIBED.get();
    let input = |name| registry.tool(name).unwrap().input_schema();
    assert_eq!(
        input("take")["properties"],
        json!({"one": {"$ref": "#/$defs/Counted", "description": "Of the parameter."}})
    );
    let byte = json!({"type": "integer", "minimum": 0, "maximum": 255});
    assert_eq!(
        *input("take_another"),
        json!({
            "type": "object",
            "properties": {
                "other": {"$ref": "#/$defs/Counted"},
                "text": {"type": "string", "default": "a\"b"},
                "rest": {"type": "array", "items": byte},
            },
            "required": ["other", "rest"],
            "additionalProperties": false,
            "$defs": {"Counted": {"type": "string", "description": "Of the type."}},
        })
    );
    let output = |name| registry.tool(name).unwrap().output_schema();
    assert_eq!(output("give"), output("give_another"));
    assert_eq!(DESCRIBED.get(), described, "nothing asks again");
}

mod other {
    #[derive(serde::Deserialize, schemars::JsonSchema)]
    pub(super) struct Point {
        pub(super) name: String,
    }
}

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Point {
    x: i8,
}

/// Move a point to a named one.
#[tool]
fn move_to(from: Point, to: other::Point) -> String {
    format!("{} to {}", from.x, to.name)
}

#[test]
fn two_types_of_one_name_keep_two_schemas() {
    let registry = Registry::builder().tool(move_to).build().unwrap();
    let schema = registry.tool("move_to").unwrap().input_schema();
    assert_eq!(schema["properties"]["to"]["$ref"], "#/$defs/Point2");
    let call = |arguments| {
        registry
            .call(ToolCall::new("1", "move_to", arguments))
            .blocking()
    };
    let outcome = call(r#"{"from": {"x": 1}, "to": {"name": "home"}}"#);
    assert_eq!(outcome.output(), Some("1 to home"));
    assert!(!call(r#"{"from": {"name": "home"}, "to": {"x": 1}}"#).is_ok());
}

#[test]
fn the_text_of_an_export_is_its_tools() {
    let builder = Registry::builder().tool(take_another).tool(move_to);
    let registry = builder.build().unwrap();
    for dialect in Dialect::ALL {
        let export = registry.export(dialect);
        assert_eq!(
            registry.export_text(dialect),
            export.to_string(),
            "{dialect}"
        );
        assert_eq!(export.as_array().unwrap().len(), 2);
    }
}
