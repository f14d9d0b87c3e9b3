//! Tools with every kind of parameter; none of them can fail.

use std::collections::BTreeMap;
use std::path::Path;

use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Metre,
    Mile,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Point {
    x: f64,
    y: Option<i32>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
enum Shape {
    Dot,
    Circle { centre: Point, radius: u16 },
    Line(Point, Point),
    Named(String),
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "lowercase")]
enum Tagged {
    Leaf { size: u8 },
    Branch { children: Vec<Tree> },
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Tree {
    label: String,
    #[serde(default)]
    below: Vec<Tree>,
}

/// Take numbers of every width.
#[tool]
fn numbers(small: i8, byte: u8, half: u16, word: i32, long: i64, unsigned: u64, real: f64) -> f64 {
    let _ = (small, byte, half, word, long, unsigned);
    if real.is_finite() { real } else { 0.0 }
}

/// Take texts.
#[tool]
fn texts(owned: String, borrowed: &str, maybe: Option<&str>, letter: char, path: &Path) -> String {
    let _ = (borrowed, maybe, letter, path);
    owned
}

/// Take what may be absent.
#[tool]
#[pre(count <= 1_000, "at most a thousand")]
fn optional(
    unit: Option<Unit>,
    flag: Option<bool>,
    #[arg(default = 5)] count: u32,
    #[arg(name = "type")] kind: Option<String>,
) -> bool {
    let _ = (unit, count, kind);
    flag.unwrap_or_default()
}

/// Take nested values.
#[tool]
fn nested(shape: Shape, points: &[Point], table: BTreeMap<String, i16>, pair: (u8, bool)) -> usize {
    let _ = (shape, pair);
    points.len() + table.len()
}

/// Take trees.
#[tool]
fn trees(tree: Tree, tagged: Tagged, any: serde_json::Value) -> usize {
    let _ = (tagged, any);
    tree.below.len()
}

/// Take fixed lists.
#[tool]
fn arrays(three: [i64; 3], units: Vec<Unit>, #[arg(secret)] key: String, half: f32) -> usize {
    let _ = (three, key, half);
    units.len()
}

/// Take nothing.
#[tool]
fn nothing() {}

pub(crate) fn registry() -> Registry {
    Registry::builder()
        .tool(numbers)
        .tool(texts)
        .tool(optional)
        .tool(nested)
        .tool(trees)
        .tool(arrays)
        .tool(nothing)
        .build()
        .expect("the tools are in order")
}
