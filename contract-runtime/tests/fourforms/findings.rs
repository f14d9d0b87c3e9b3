//! What is wrong with a contract before any call, where only a registry can see it.

#![allow(
    clippy::too_many_arguments,
    clippy::manual_is_multiple_of,
    clippy::nonminimal_bool,
    reason = "one tool has a parameter for each finding"
)]

use contract_manifest::{Finding, FindingKind, Inspect as _};
use contract_runtime::ToolFunction;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    VeryFast,
    Slow,
    Off,
}

const NAME: &str = "admin";
const OTHER: &str = "guest";
const PATTERN: &str = r"^[a-z";

type Count = u32;
const LEAST: Count = 10;

/// Say in which mode it runs.
#[tool]
#[pre(matches!(mode, Mode::VeryFast | Mode::Slow))]
#[pre(mode == Mode::Off)]
fn modes(mode: Mode) {
    let _ = mode;
}

/// Say in which mode it runs, if in any.
#[tool]
#[pre(!matches!(mode, Some(Mode::Off)))]
#[pre(mode.is_none() || mode == Some(Mode::Slow))]
fn modes_that_overlap(mode: Option<Mode>) {
    let _ = mode;
}

/// Greet.
#[tool]
#[pre(name == NAME)]
#[pre(name == OTHER)]
fn greet(name: &str) {
    let _ = name;
}

/// Count.
#[tool]
#[pre(count > LEAST)]
#[pre(count < 5)]
fn count(count: Count) {
    let _ = count;
}

/// Cut.
#[tool]
#[pre(contract_runtime::matches_pattern(text, PATTERN))]
fn cut(text: &str) {
    let _ = text;
}

/// Halve.
#[tool]
#[pre(number % 2 == 0)]
#[pre(step < number)]
fn halve(
    #[arg(default = 3 + 4, example = 2 + 2, example = 9 - 2)] number: u32,
    #[arg(default = 2 + 1)] step: u32,
) {
    let _ = (number, step);
}

/// Log in.
#[tool]
#[pre(key.len() > LONG)]
fn log_in(#[arg(default = String::from("swordfish"), secret)] key: String) {
    let _ = key;
}

const LONG: usize = 20;

/// Show a key.
#[tool]
#[pre(key.starts_with("tk-"))]
fn show_key(#[arg(example = "tk-1", example = "kt-1")] key: &str) {
    let _ = key;
}

/// Wait between two times.
#[tool]
#[pre(from < to)]
fn wait(#[arg(default = 5 + 1)] from: u32, #[arg(default = 5)] to: u32) {
    let _ = (from, to);
}

/// What building a registry of one tool reports, without the places in this file.
fn problems<S>(tool: impl ToolFunction<S>) -> Vec<String> {
    let Err(error) = Registry::builder().tool(tool).build() else {
        return Vec::new();
    };
    let texts = error.problems().iter().map(ToString::to_string);
    texts.map(|text| without_places(&text)).collect()
}

fn without_places(text: &str) -> String {
    let mut parts = text.split(file!());
    let first = parts.next().unwrap_or_default().to_owned();
    let place = |c: char| c == ':' || c.is_ascii_digit();
    parts.fold(first, |text, part| {
        text + "here" + part.trim_start_matches(place)
    })
}

#[test]
fn contradictions_between_tests_of_an_enum() {
    let found = "tool `modes` accepts no call: no value can satisfy `matches!(mode, Mode::VeryFast | Mode::Slow)` \
                 and `mode == Mode::Off`; weaken one of them (here, here)";
    assert_eq!(problems(modes), [found]);
    assert!(problems(modes_that_overlap).is_empty());
}

/// Order two numbers.
#[tool]
#[pre(a < b)]
#[pre(b < a)]
fn two(a: u64, b: u64) {
    let _ = (a, b);
}

/// Order three numbers.
#[tool]
#[pre(a < b)]
#[pre(b <= c)]
#[pre(!(a < c))]
fn three(a: i64, b: i64, c: i64) {
    let _ = (a, b, c);
}

/// Order two numbers that are far enough apart.
#[tool]
#[pre(a > 10)]
#[pre(a < b)]
#[pre(b < c || c > 12)]
#[pre(c <= 12)]
fn narrow(a: u64, b: u64, c: u64) {
    let _ = (a, b, c);
}

/// Run.
#[tool]
#[pre(fast)]
#[pre(slow || !fast)]
#[pre(!slow)]
fn run(fast: bool, slow: bool) {
    let _ = (fast, slow);
}

/// Start.
#[tool]
#[pre(fast || slow)]
#[pre(!fast || !slow)]
#[pre(a <= b)]
#[pre(b <= a)]
fn start(fast: bool, slow: bool, a: i64, b: i64) {
    let _ = (fast, slow, a, b);
}

#[test]
fn contradictions_between_parameters() {
    let found = "tool `two` accepts no call: no value can satisfy `a < b` and `b < a`; weaken one of them (here, here)";
    assert_eq!(problems(two), [found]);
    let found = "tool `three` accepts no call: no value can satisfy `a < b`, `b <= c` and `!(a < c)`; weaken one of them (here, here, here)";
    assert_eq!(problems(three), [found]);
    let found = "tool `narrow` accepts no call: no value can satisfy `a > 10`, `a < b`, `b < c || c > 12` and `c <= 12`; weaken one of them \
                 (here, here, here, here)";
    assert_eq!(problems(narrow), [found]);
    let found = "tool `run` accepts no call: no value can satisfy `fast`, `slow || !fast` and `!slow`; weaken one of them (here, here, here)";
    assert_eq!(problems(run), [found]);
    assert!(problems(start).is_empty());
}

#[test]
fn contradictions_through_constants() {
    let found = "tool `greet` accepts no call: no value can satisfy `name == NAME` and `name == OTHER`; weaken one of them (here, here)";
    assert_eq!(problems(greet), [found]);
    let found = "tool `count` accepts no call: no value can satisfy `count > LEAST` and `count < 5`; weaken one of them (here, here)";
    assert_eq!(problems(count), [found]);
}

#[test]
fn patterns_that_have_names() {
    let [found] = problems(cut).try_into().unwrap();
    assert!(
        found.starts_with("`^[a-z` in tool `cut` is not a regular expression (here): "),
        "{found}"
    );
}

#[test]
fn defaults_and_examples_that_break_a_condition() {
    assert_eq!(
        problems(halve),
        [
            "`number % 2 == 0` of tool `halve` does not hold for the default of `number` (7) (here); change one of them",
            "`number % 2 == 0` of tool `halve` does not hold for the example of `number` (7) (here); change one of them",
        ]
    );
    assert_eq!(
        problems(wait),
        [
            "`from < to` of tool `wait` does not hold for the defaults of `from` (6) and `to` (5) (here); change one of them"
        ]
    );
    assert_eq!(
        problems(show_key),
        [
            "`key.starts_with(\"tk-\")` of tool `show_key` does not hold for the example of `key` (\"kt-1\") (here); change one of them"
        ]
    );
    assert_eq!(
        problems(log_in),
        [
            "`key.len() > LONG` of tool `log_in` does not hold for the default of `key` (here); change one of them"
        ]
    );
}

/// Say where.
#[tool]
#[pre((0..=255).contains(&x))]
#[pre(y > 3)]
#[pre(y > 5 && x != 7)]
#[pre(!name.is_empty() || name.len() < 4)]
#[pre(a < b)]
#[pre(b > a)]
#[pre(mode != Mode::Off)]
#[pre(matches!(mode, Mode::VeryFast | Mode::Slow))]
#[pre(c <= 100)]
#[pre(c <= 50, policy = observe)]
#[pre(d <= 50)]
#[pre(d <= 100, policy = observe)]
fn everywhere(x: u8, y: i64, name: String, a: f64, b: f64, mode: Mode, c: u32, d: u32) {
    let _ = (x, y, name, a, b, mode, c, d);
}

#[test]
fn conditions_that_say_nothing_new() {
    let registry = Registry::builder().tool(everywhere).build().unwrap();
    let findings = registry.lint();
    let told: Vec<(&str, FindingKind, &str)> = findings
        .iter()
        .filter(|one| one.kind != FindingKind::Undescribed)
        .map(|one: &Finding| (one.subject.as_str(), one.kind, one.message.as_str()))
        .collect();
    assert_eq!(
        told,
        [
            (
                "everywhere.pre[0]",
                FindingKind::AlwaysTrue,
                "`(0..=255).contains(&x)` holds for every value of its type; remove it"
            ),
            (
                "everywhere.pre[1]",
                FindingKind::Implied,
                "`y > 3` already follows from `y > 5 && x != 7`; remove it"
            ),
            (
                "everywhere.pre[3]",
                FindingKind::AlwaysTrue,
                "`!name.is_empty() || name.len() < 4` holds for every value of its type; remove it"
            ),
            (
                "everywhere.pre[5]",
                FindingKind::Implied,
                "`b > a` already follows from `a < b`; remove it"
            ),
            (
                "everywhere.pre[7]",
                FindingKind::Implied,
                "`matches!(mode, Mode::VeryFast | Mode::Slow)` already follows from `mode != Mode::Off`; remove it"
            ),
            (
                "everywhere.pre[11]",
                FindingKind::Implied,
                "`d <= 100` already follows from `d <= 50`; remove it"
            ),
        ]
    );
    let line = findings[0].to_string();
    assert_eq!(
        without_places(&line),
        "here everywhere.pre[0]: `(0..=255).contains(&x)` holds for every value of its type; remove it"
    );
}
