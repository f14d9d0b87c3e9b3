//! How many inputs `verify` makes and judges in a second, beside the bare check of inputs that are there already.

#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "it prints a table"
)]

use std::time::{Duration, Instant};

use contract_runtime::prelude::*;
use contract_verify::Verifier;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

/// Book a room for a part of one day.
#[tool]
#[pre(end > start, "the end ({end}) must come after the start ({start})")]
#[pre(end <= 24 * 60, "the booking must end on the same day")]
fn book_room(start: u32, end: u32) {
    let _ = (start, end);
}

/// Name something.
#[tool]
#[pre(matches_pattern(name, r"^[a-z][a-z0-9_]{0,15}$"))]
#[pre(note.as_deref().is_none_or(|note| note.chars().count() <= 80))]
#[pre(tags.len() <= 5)]
fn name_it(name: &str, note: Option<String>, tags: Vec<String>) {
    let _ = (name, note, tags);
}

#[derive(Deserialize, JsonSchema)]
struct Point {
    x: f64,
    y: f64,
}

#[derive(Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    Disk { centre: Point, radius: f64 },
    Path { points: Vec<Point> },
}

/// Draw shapes.
#[tool]
#[pre(!shapes.is_empty())]
#[pre(scale > 0.0 && scale <= 100.0)]
fn draw(shapes: Vec<Shape>, scale: f64) {
    for shape in shapes {
        match shape {
            Shape::Disk { centre, radius } => {
                let _ = (centre.x, centre.y, radius, scale);
            }
            Shape::Path { points } => drop(points),
        }
    }
}

const CASES: u32 = 5_000;

fn main() {
    // `cargo test` runs benches too, to see that they run.
    let cases = if std::env::args().any(|one| one == "--bench") {
        CASES
    } else {
        50
    };
    let builder = Registry::builder().tool(book_room).tool(name_it).tool(draw);
    let registry = builder.build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    println!(
        "{:<10} {:>8} {:>14} {:>14} {:>8}",
        "tool", "inputs", "verify, 1/s", "check, 1/s", "ratio"
    );
    let samples = [
        ("book_room", json!({"start": 540, "end": 600})),
        (
            "name_it",
            json!({"name": "tidy_names", "note": "as short as they can be", "tags": ["a", "b"]}),
        ),
        (
            "draw",
            json!({"shapes": [{"kind": "disk", "centre": {"x": 1, "y": 2.5}, "radius": 3}], "scale": 2}),
        ),
    ];
    for (tool, sample) in samples {
        let began = Instant::now();
        let report = Verifier::new(registry.clone())
            .tool(tool)
            .cases(cases)
            .seed(1)
            .run();
        let verified = began.elapsed();
        report.assert();
        let judged = report.tools().first().map_or(0, |tool| tool.judged);
        let arguments = sample.to_string();
        let began = Instant::now();
        for _ in 0..judged {
            let call = ToolCall::new("1", tool, arguments.clone());
            assert!(runtime.block_on(registry.check(call)).is_ok());
        }
        let checked = began.elapsed();
        let ratio = verified.as_secs_f64() / checked.as_secs_f64().max(f64::MIN_POSITIVE);
        println!(
            "{tool:<10} {judged:>8} {:>14.0} {:>14.0} {ratio:>8.1}",
            rate(judged, verified),
            rate(judged, checked)
        );
    }
}

fn rate(count: u32, time: Duration) -> f64 {
    f64::from(count) / time.as_secs_f64().max(f64::MIN_POSITIVE)
}
