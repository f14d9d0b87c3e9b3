//! Schemas that `schemars` writes for Rust types: each covers itself, and known pairs widen.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::Value;

use super::shown;
use contract_runtime::__family::correct_output;

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
enum Unit {
    Metre,
    /// With a comment, so that schemars writes `oneOf`.
    Foot,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
enum MoreUnits {
    Metre,
    /// With a comment, so that schemars writes `oneOf`.
    Foot,
    Inch,
}

#[derive(JsonSchema)]
#[serde(tag = "kind")]
#[expect(dead_code, reason = "only its schema is wanted")]
enum Shape {
    Circle { r: f32 },
    Square { side: u32, unit: Option<Unit> },
    Group { parts: Vec<Shape> },
}

#[derive(JsonSchema)]
#[serde(tag = "kind")]
#[expect(dead_code, reason = "only its schema is wanted")]
enum MoreShapes {
    Circle { r: f64 },
    Square { side: u64, unit: Option<MoreUnits> },
    Group { parts: Vec<MoreShapes> },
    Point,
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
enum Step {
    Stop,
    Go(i8),
    Turn { a: i16, b: bool },
}

#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is wanted")]
enum MoreSteps {
    Stop,
    Go(i16),
    Turn { a: i16, b: bool },
    Back,
    Wait(u8),
}

#[derive(JsonSchema)]
#[serde(untagged)]
#[expect(dead_code, reason = "only its schema is wanted")]
enum Loose {
    Number(i32),
    Text(String),
    Pair(u8, u8),
}

fn schema<T: JsonSchema>() -> Value {
    let mut generator = SchemaSettings::draft2020_12().into_generator();
    let schema = generator.subschema_for::<T>();
    correct_output(schema.to_value(), generator.take_definitions(true))
}

#[track_caller]
fn widens<Old: JsonSchema, New: JsonSchema>() {
    let (old, new) = (schema::<Old>(), schema::<New>());
    assert_eq!(shown(&new, &old), Ok(()), "{new:#}\nover\n{old:#}");
    assert!(shown(&old, &new).is_err(), "{old:#}\nover\n{new:#}");
}

#[track_caller]
fn covers_itself<T: JsonSchema>() {
    let own = schema::<T>();
    assert_eq!(shown(&own, &own), Ok(()), "{own:#}");
}

#[test]
fn a_wider_type_has_a_wider_schema() {
    widens::<u8, u16>();
    widens::<i32, i64>();
    widens::<u32, f64>();
    widens::<f32, f64>();
    widens::<u8, Option<u8>>();
    widens::<Unit, MoreUnits>();
    widens::<Option<Unit>, Option<MoreUnits>>();
    widens::<Unit, String>();
    widens::<Step, MoreSteps>();
    widens::<Shape, MoreShapes>();
    widens::<Vec<Shape>, Vec<MoreShapes>>();
    widens::<[u8; 2], Vec<u8>>();
    widens::<(u8, u8), Vec<u8>>();
    widens::<BTreeMap<u32, u8>, BTreeMap<u32, u16>>();
    widens::<HashMap<String, Unit>, HashMap<String, MoreUnits>>();
    widens::<BTreeSet<u8>, Vec<u8>>();
    widens::<u8, Loose>();
    widens::<Loose, Value>();
}

#[test]
fn every_schema_covers_itself() {
    covers_itself::<Option<Shape>>();
    covers_itself::<Vec<Step>>();
    covers_itself::<Loose>();
    covers_itself::<BTreeMap<i8, Option<Unit>>>();
    covers_itself::<(u8, String, Option<Shape>)>();
    covers_itself::<Result<u8, String>>();
    covers_itself::<std::time::Duration>();
    covers_itself::<std::net::IpAddr>();
    covers_itself::<Value>();
}
