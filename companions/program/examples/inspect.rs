//! Tools for every kind of form, and some that mean harm to the page that shows them: `inspect`, `list` and the rest.

#![allow(
    clippy::too_many_arguments,
    reason = "a tool with a field of every kind"
)]

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::time::Duration;

use contract_runtime::DynamicSpec;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A picture of 2 by 2 points, three red and one white (Portable Network Graphics, third edition, 2025).
const PICTURE: &[u8] = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x02\0\0\0\x02\x08\x02\0\0\0\xfd\xd4\x9as\0\0\0\x13IDATx\xdac8\xa0\xa0\0D\x0c@\xfc\xff\xff\x7f\0!\xe8\x05\xfe\xf8*\x8e\x01\0\0\0\0IEND\xaeB`\x82";

const HARM: &str = "<img src=x onerror=\"window.harmed=1\"><script>window.harmed=1</script>";

/// Book a room for a part of one day.
#[tool(idempotent)]
#[pre(end > start, "the end ({end}) must come after the start ({start})")]
#[pre(end <= 24 * 60, "the booking must end on the same day")]
#[pre(guests.is_none_or(|guests| guests <= 12))]
#[pre(is_open(room), "the room is closed on the first floor")]
#[post(|minutes| *minutes > 0)]
fn book_room(
    /// Which room.
    #[arg(example = "2.07", example = "3.11")]
    room: &str,
    /// Minutes after midnight.
    start: u32,
    /// Minutes after midnight.
    end: u32,
    /// How many come.
    guests: Option<u8>,
) -> u32 {
    let _ = guests;
    end - start
}

fn is_open(room: &str) -> bool {
    !room.starts_with("1.")
}

/// Give a number back.
#[tool(read_only)]
fn echo_number(number: u64) -> u64 {
    number
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Order {
    Newest,
    Oldest,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Span {
    /// The first day.
    from: u16,
    /// The last day.
    to: Option<u16>,
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Shape {
    Circle { radius: f64 },
    Box { width: f64, height: f64 },
}

#[derive(Debug, Serialize, Deserialize, JsonSchema)]
struct Node {
    name: String,
    #[serde(default)]
    children: Vec<Node>,
}

/// Take arguments of every kind, and give them back.
#[tool(read_only)]
#[pre(tags.len() <= 3, "at most three tags")]
#[pre(tags.iter().all(|tag| !tag.is_empty()))]
fn every_kind(
    text: String,
    tags: Vec<String>,
    order: Order,
    #[arg(default = 0.5)] ratio: f64,
    deep: Option<bool>,
    span: Span,
    shape: Option<Shape>,
    tree: Option<Node>,
    pair: Option<(u8, String)>,
    weights: Option<BTreeMap<String, f64>>,
    anything: Option<serde_json::Value>,
) -> serde_json::Value {
    json!({
        "text": text, "tags": tags, "order": order, "ratio": ratio, "deep": deep, "span": span, "shape": shape,
        "tree": tree, "pair": pair, "weights": weights, "anything": anything,
    })
}

/// Draw a picture, and bring a file and a value along.
#[tool(read_only)]
fn draw() -> Content {
    Content::text("a small picture")
        .with(Artifact::image("image/png", PICTURE))
        .with(Artifact::image("text/html", HARM))
        .with(Artifact::file(HARM, "text/html", HARM))
        .with(Artifact::value("numbers", json!([1, u64::MAX])))
}

/// Wait until it is cancelled.
#[tool(read_only)]
async fn wait() -> &'static str {
    tokio::time::sleep(Duration::from_secs(600)).await;
    "nobody cancelled"
}

/// Remove everything that there is.
#[tool(destructive)]
fn remove_everything() -> &'static str {
    "everything is gone"
}

/// Log in.
#[tool]
#[pre(password.len() >= 8, "a password has at least eight letters")]
fn log_in(user: &str, #[arg(secret)] password: &str) -> String {
    let _ = password;
    format!("welcome, {user}")
}

/// Double a number, however it is written.
#[tool(coerce)]
fn double(number: i32) -> i64 {
    i64::from(number) * 2
}

/// Fail.
#[tool]
fn fail(how: &str) -> Result<(), String> {
    assert!(how != "panic", "it was asked to");
    Err(format!("{how}\u{1b}[31m\u{202e} {HARM}"))
}

/// Promise more than is kept.
#[tool]
#[pre(number < 100, policy = observe)]
#[post(|result| *result > number, "the result is greater")]
fn promise(number: u32) -> u32 {
    number
}

fn harm() -> Tool {
    let spec = DynamicSpec::new("harm", HARM)
        .title(HARM)
        .input_schema(json!({
            "type": "object",
            "properties": {
                HARM: {"type": "string", "description": HARM, "examples": [HARM], "default": HARM},
                "__proto__": {"type": "integer", "enum": [1, 2]},
                "constructor": {"anyOf": [{"title": HARM, "type": "string"}, {"type": "integer"}]},
            },
            "additionalProperties": false,
        }));
    Tool::dynamic(spec, |arguments| async move {
        Ok::<_, String>(Content::text(format!("{HARM}{}", json!(arguments))))
    })
}

/// Refund cents to somebody.
#[tool(destructive)]
#[pre(cents <= 10_000, "refunds above 100 EUR need approval", ask = "Refund {cents} cents to {user}?")]
fn refund(user: String, cents: u32) -> String {
    format!("refunded {cents} to {user}")
}

/// Cancel an order.
#[tool(destructive, confirm = "Cancel order {order_id}?")]
fn cancel_order(order_id: String) -> String {
    format!("cancelled {order_id}")
}

fn main() -> ExitCode {
    contract_program::run(registry!().with(vec![harm()]))
}
