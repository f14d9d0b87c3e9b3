//! Tools with nothing wrong pass, whatever the seed.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::IpAddr;
use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use contract_runtime::DynamicSpec;
use contract_runtime::prelude::*;
use contract_verify::Verifier;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::json;

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

/// Count words, in no order.
#[tool(read_only, idempotent, output_schema)]
fn count_words(words: Vec<String>) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for word in words {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

/// Leave out what comes twice, in no order.
#[tool(read_only, idempotent, output_schema)]
fn once_each(numbers: HashSet<u16>) -> HashSet<u16> {
    numbers.into_iter().collect()
}

/// Weigh a few things.
#[tool(read_only)]
#[pre(weights.len() <= 50)]
#[pre(note.lines().count() <= 20)]
fn weigh(weights: BTreeMap<String, f64>, note: &str) -> usize {
    weights.len() + note.len()
}

#[derive(Deserialize, JsonSchema)]
struct Tree {
    name: u8,
    #[serde(default)]
    branches: Vec<Tree>,
}

fn height(tree: &Tree) -> usize {
    let below = tree.branches.iter().map(height).max();
    1 + below.unwrap_or(0) + usize::from(tree.name) / 256
}

/// Climb a tree.
#[tool(read_only)]
#[pre(height(&tree) <= 3, "it is too high")]
#[post(|height| *height <= 3)]
fn climb(tree: Tree) -> usize {
    height(&tree)
}

fn is_day(text: &str) -> bool {
    text.len() == 10 && text.split('-').count() == 3 && text.as_bytes().get(4) == Some(&b'-')
}

/// Stay for some days.
#[tool(read_only)]
#[pre(is_day(from), "YYYY-MM-DD")]
#[pre(is_day(to), "YYYY-MM-DD")]
#[pre(from < to)]
fn stay(
    #[arg(example = "2024-02-28")] from: &str,
    #[arg(example = "2024-03-01")] to: &str,
) -> usize {
    from.len() + to.len()
}

/// A day whose text must have its format, as the types of `chrono` and `uuid` want it.
#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
struct Day(String);

impl JsonSchema for Day {
    fn schema_name() -> Cow<'static, str> {
        "Day".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "string", "format": "date"})
    }
}

impl TryFrom<String> for Day {
    type Error = &'static str;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        if is_day(&text) {
            Ok(Self(text))
        } else {
            Err("YYYY-MM-DD")
        }
    }
}

/// Leave on a day.
#[tool(read_only)]
fn leave(#[arg(example = "2024-02-28")] on: Day) -> usize {
    on.0.len()
}

/// Ask somebody, for a while.
#[tool(read_only)]
fn ask(address: IpAddr, patience: Duration, since: SystemTime, lines: Range<u8>) -> bool {
    address.is_loopback() && since > UNIX_EPOCH + patience / 2 && lines.is_empty()
}

#[test]
fn what_has_no_order_is_no_other_result() {
    for seed in 0..5 {
        let registry = Registry::builder().tool(count_words).tool(once_each);
        Verifier::new(registry.build().unwrap())
            .seed(seed)
            .run()
            .assert();
    }
}

#[test]
fn sizes_depths_and_examples_are_met() {
    for seed in 0..5 {
        let registry = Registry::builder().tool(weigh).tool(climb).tool(stay);
        let registry = registry.tool(leave).build().unwrap();
        Verifier::new(registry).seed(seed).run().assert();
    }
}

#[test]
fn what_no_author_can_change_is_no_fault() {
    let registry = Registry::builder().tool(ask).build().unwrap();
    let report = Verifier::new(registry).run_bodies(false).seed(1).run();
    report.assert();
    assert!(
        report.tools().iter().all(|tool| tool.accepted > 0),
        "{report}"
    );
}

#[test]
fn what_a_rule_does_not_judge_is_no_fault() {
    /// Take away.
    #[tool(read_only)]
    #[pre(all >= some)]
    fn take_away(all: u128, some: u128) -> u128 {
        all - some
    }

    let file = std::env::temp_dir().join(format!("verify-wide-{}.json", std::process::id()));
    std::fs::write(
        &file,
        r#"{"take_away": [{"all": 0, "some": 1.7347185351142716e+16}]}"#,
    )
    .unwrap();
    let registry = Registry::builder().tool(take_away).build().unwrap();
    let report = Verifier::new(registry).seed(1).regressions(&file).run();
    std::fs::remove_file(&file).unwrap();
    report.assert();
}

#[test]
fn one_refused_pair_is_met_with_any_seed_and_few_cases() {
    /// Divide one number by another, and leave the rest.
    #[tool(read_only)]
    #[pre(divisor != 0)]
    #[pre(!(dividend == i64::MIN && divisor == -1))]
    fn share(dividend: i64, divisor: i64) -> i64 {
        dividend / divisor
    }
    let registry = Registry::builder().tool(share).build().unwrap();
    for seed in 0..20 {
        let report = Verifier::new(registry.clone()).seed(seed).cases(10).run();
        assert!(report.is_ok(), "{report}");
    }
}

#[test]
fn a_quoted_example_in_the_words_of_a_dynamic_condition_is_tried() {
    let spec = DynamicSpec::new("open", "Open a draft.").input_schema(json!({
        "type": "object",
        "properties": {"path": {"type": "string"}},
        "required": ["path"],
    }));
    let open = Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("opened")) }).pre(
        "the path stays below `drafts/`",
        |arguments| {
            arguments["path"]
                .as_str()
                .is_some_and(|path| path.starts_with("drafts/"))
        },
    );
    let registry = Registry::builder().with(open).build().unwrap();
    Verifier::new(registry).seed(1).run().assert();
}

#[test]
fn what_chance_does_not_meet_may_be_shown_in_the_file() {
    fn is_taken(name: &str) -> bool {
        name.as_bytes() == [117, 110, 103]
    }

    /// Take a name.
    #[tool(read_only)]
    #[pre(name.len() != 3 || !is_taken(name), "that one is taken")]
    fn take_name(name: &str) -> usize {
        name.len()
    }

    let file = std::env::temp_dir().join(format!("verify-shown-{}.json", std::process::id()));
    std::fs::write(&file, r#"{"take_name": [{"name": "ung"}]}"#).unwrap();
    let verifier = || Verifier::new(Registry::builder().tool(take_name).build().unwrap()).seed(1);
    assert!(!verifier().run().is_ok());
    let report = verifier().regressions(&file).run();
    std::fs::remove_file(&file).unwrap();
    report.assert();
}
