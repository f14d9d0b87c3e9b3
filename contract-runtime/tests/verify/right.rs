//! Tools with nothing wrong pass, whatever the seed.

use std::collections::{BTreeMap, HashMap};

use contract_runtime::prelude::*;
use contract_runtime::verify::Verifier;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Book a room for a part of one day.
#[tool(read_only)]
#[pre(end > start, "the end ({end}) must come after the start ({start})")]
#[pre(end <= 24 * 60, "the booking must end on the same day")]
#[post(|minutes| *minutes > 0)]
fn book_room(start: u32, end: u32) -> u32 {
    end - start
}

/// Divide.
#[tool(read_only)]
#[pre(divisor != 0.0, "cannot divide by zero")]
fn divide(dividend: f64, divisor: f64) -> Option<f64> {
    Some(dividend / divisor).filter(|quotient| quotient.is_finite())
}

#[derive(Clone, Copy, Debug, Deserialize, Serialize, JsonSchema, PartialEq)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    VeryFast,
    Slow,
    Off,
}

/// Drive in a mode.
#[tool(read_only)]
#[pre(matches!(mode, Mode::VeryFast | Mode::Slow), "it is off")]
#[pre(speed.is_none_or(|speed| speed % 10 == 0))]
#[pre(gears.len() <= 6 && gears.iter().all(|gear| *gear >= 1))]
fn drive(mode: Mode, speed: Option<i16>, gears: Vec<i8>) -> Mode {
    let _ = (speed, gears);
    mode
}

/// Name something.
#[tool(read_only)]
#[pre(matches_pattern(name, r"^[a-z][a-z0-9_]{0,15}$"))]
#[pre(!name.ends_with('_'))]
#[pre(note.as_deref().is_none_or(|note| note.chars().count() <= 80))]
#[pre(!tags.contains(&"all".to_owned()))]
#[post(|length| *length >= 1)]
fn name_it(
    name: &str,
    note: Option<String>,
    #[arg(default = 3)] level: u8,
    tags: Vec<String>,
) -> usize {
    let _ = (note, level, tags);
    name.len()
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Node {
    value: i32,
    #[serde(default)]
    children: Vec<Node>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    Empty,
    Disk {
        radius: f64,
    },
    Box {
        sides: [f32; 2],
        label: Option<String>,
    },
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(untagged)]
enum Loose {
    Number(u16),
    Text(String),
}

/// Take nested things.
#[tool(read_only)]
#[pre(!shapes.is_empty())]
#[pre(weights.len() < 4)]
fn nest(
    node: Node,
    shapes: Vec<Shape>,
    weights: HashMap<String, u8>,
    ranks: BTreeMap<u32, bool>,
    loose: Option<Loose>,
    pair: (u8, String),
    any: serde_json::Value,
    wide: u128,
    letter: char,
) -> Node {
    let _ = (shapes, weights, ranks, loose, pair, any, wide, letter);
    node
}

/// Do nothing with nothing.
#[tool]
fn nothing() {}

/// Transfer an amount, of which nothing may be tried.
#[tool(destructive)]
#[pre(amount > 0 && amount <= limit)]
#[pre(from != to, "there must be two accounts")]
fn transfer(amount: u64, limit: u64, from: &str, to: &str) {
    let _ = (amount, limit, from, to);
    unreachable!("its body must not be run");
}

/// Add up, slowly and carefully.
#[tool(read_only, blocking)]
#[pre(numbers.len() <= 100)]
fn add_up(numbers: Vec<i64>) -> i128 {
    numbers.into_iter().map(i128::from).sum()
}

/// Wait for the end.
#[tool(read_only, idempotent)]
#[pre(times < 5)]
async fn wait(times: u8) -> u8 {
    for _ in 0..times {
        tokio::task::yield_now().await;
    }
    times
}

pub(crate) fn registry() -> Registry {
    let builder = Registry::builder()
        .tool(book_room)
        .tool(divide)
        .tool(drive)
        .tool(name_it);
    let builder = builder
        .tool(nest)
        .tool(nothing)
        .tool(transfer)
        .tool(add_up)
        .tool(wait);
    builder.build().unwrap()
}

#[test]
fn right_tools_pass_with_every_seed() {
    for seed in [0, 1, 2, 3, u64::MAX] {
        let report = Verifier::new(registry()).seed(seed).run();
        report.assert();
        for tool in report.tools() {
            println!("{tool}");
            assert!(tool.tool == "nothing" || tool.accepted >= 5, "{tool}");
            assert_eq!(
                tool.ran > 0,
                !["nothing", "transfer"].contains(&tool.tool.as_str()),
                "{tool}"
            );
        }
    }
}
