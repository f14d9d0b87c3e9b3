//! What a rule is made of, and which conditions have none.

#![allow(
    unused_variables,
    clippy::needless_pass_by_value,
    clippy::cast_lossless,
    clippy::float_cmp,
    clippy::manual_is_multiple_of,
    reason = "what authors may write, not what they should"
)]

use std::collections::BTreeMap;

use contract_manifest::PortableRule;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

use super::tools;

#[derive(Deserialize, JsonSchema)]
struct Room {
    seats: u32,
}

/// Meet somewhere.
#[tool]
#[pre(end > start, "{end:>4} must come after {start:?} {{minutes}}")]
#[pre(!name.is_empty() && room.seats > 2, "no room for {name}")]
#[pre(minutes % 15 == 0)]
fn meet(#[arg(name = "begin")] start: u32, end: u32, name: &str, room: Room, minutes: u32) {}

#[test]
fn a_rule_names_its_condition_and_its_arguments() {
    let registry = Registry::builder().tool(meet).build().unwrap();
    let tool = registry.tool("meet").unwrap();
    let rule = PortableRule::of(&tool.conditions()[0]).unwrap();
    let written = json!({
        "id": "meet.pre[0]",
        "rule": "int(args.end) > int(args.begin)",
        "message": "`end` must come after `begin` {minutes}",
        "paths": ["/begin", "/end"],
    });
    assert_eq!(serde_json::to_value(&rule).unwrap(), written);
    assert_eq!(
        serde_json::from_value::<PortableRule>(written).unwrap(),
        rule
    );
    assert_eq!(rule.id, tool.conditions()[0].id());
    let rule = PortableRule::of(&tool.conditions()[2]).unwrap();
    assert_eq!(rule.message, "`minutes % 15 == 0`");
}

#[test]
fn a_condition_that_is_partly_opaque_has_no_rule() {
    let registry = Registry::builder().tool(meet).build().unwrap();
    let meet = registry.tool("meet").unwrap();
    assert_eq!(PortableRule::of(&meet.conditions()[1]), None);
}

/// Rent for some days.
#[tool]
#[pre(days as u32 * 1000 <= 5000)]
#[pre(i64::from(until) - i64::from(from) >= 10)]
fn rent(days: u8, from: u32, until: u32) {}

#[test]
fn an_operation_on_converted_arguments_is_of_their_new_type() {
    let registry = Registry::builder().tool(rent).build().unwrap();
    let rules = registry.tool("rent").unwrap().conditions().iter();
    let rules: Vec<_> = rules
        .map(|one| PortableRule::of(one).unwrap().rule)
        .collect();
    assert_eq!(
        rules,
        [
            "int(args.days) * 1000 <= 5000",
            "int(args.until) - int(args.from) >= 10"
        ]
    );
}

/// Say nothing.
#[tool]
#[post(|length| *length < 10)]
fn told(name: &str) -> usize {
    name.len()
}

#[test]
fn a_postcondition_has_no_rule() {
    let registry = Registry::builder().tool(told).build().unwrap();
    let told = registry.tool("told").unwrap();
    assert_eq!(PortableRule::of(&told.conditions()[0]), None);
}

const WIDE: u64 = 1 << 53;

/// Do what has no rule.
#[tool]
#[pre(id < WIDE)]
#[pre(ratio % 2.0 == 0.0)]
#[pre(single * 2.0 < 1.0)]
#[pre(single <= other)]
#[pre(name < "m")]
#[pre(matches_pattern(name, r"(?i)a"))]
#[pre(matches_pattern(name, r"^.$"))]
#[pre(matches_pattern(name, r"[^a]"))]
#[pre(counts.contains_key(name))]
#[pre(name.trim().len() > 2)]
fn ruleless(
    id: u64,
    ratio: f64,
    single: f32,
    other: f32,
    name: &str,
    counts: BTreeMap<String, u8>,
) {
}

#[test]
fn what_engines_do_not_agree_on_has_no_rule() {
    let registry = Registry::builder().tool(ruleless).build().unwrap();
    for condition in registry.tool("ruleless").unwrap().conditions() {
        let predicate = condition.condition().predicate();
        assert_eq!(PortableRule::of(condition), None, "{predicate}");
    }
}

/// Each stands for something in which engines differ, or readers of JSON.
const WRITTEN: [(&str, &str); 7] = [
    ("equal", "int(args.count) == 7 || int(args.count) == -7"),
    (
        "even_wide",
        "-9007199254740991 <= int(args.count) && int(args.count) <= 9007199254740991 \
         ? int(args.count) % 2 == 0 : true",
    ),
    (
        "maybe_short",
        "has(args.note) && type(args.note) != null_type ? size(args.note) < 3 : true",
    ),
    (
        "default_some",
        "(args.exists(key, key == 'count') ? type(args.count) != null_type : true) \
         ? int(args.exists(key, key == 'count') ? args.count : 7) <= int(args.most) : false",
    ),
    (
        "divides",
        "int(args.by) != 0 ? int(args.count) % int(args.by) == 0 : false",
    ),
    (
        "has_ratio",
        "!args.ratios.exists(item, double(item) == 2.5)",
    ),
    (
        "pattern",
        "args.name.matches('^[a-z][0-9A-Z_a-z]{0,3}(?:[0-9]|-)$')",
    ),
];

#[test]
fn rules_are_written_so_that_engines_agree() {
    let registry = tools::registry();
    for (name, written) in WRITTEN {
        let tool = registry.tool(name).unwrap();
        assert_eq!(
            PortableRule::of(&tool.conditions()[0]).unwrap().rule,
            written
        );
    }
}

/// The parts of the profile, as its documentation lists them.
const PROFILE: [&str; 24] = [
    "args",
    "true",
    "false",
    "null_type",
    "in",
    "int",
    "double",
    "size",
    "bytes",
    "type",
    "has",
    "startsWith",
    "endsWith",
    "contains",
    "matches",
    "all",
    "exists",
    "key",
    "number",
    "item",
    "e300",
    "e308",
    "e-7",
    "E",
];

#[test]
fn rules_use_nothing_outside_the_profile() {
    let registry = tools::registry();
    for tool in registry.tools() {
        let rule = &PortableRule::of(&tool.conditions()[0]).unwrap().rule;
        let unescaped = rule.replace(r"\\", "").replace(r"\'", "");
        let code: String = unescaped.split('\'').step_by(2).collect();
        for word in code.split(|letter: char| !letter.is_alphanumeric() && letter != '_') {
            let bound = code.contains(&format!("({word}, "));
            let argument = code.contains(&format!("args.{word}"));
            let number = word.starts_with(|first: char| first.is_ascii_digit());
            let known = bound || argument || number || word.is_empty();
            assert!(known || PROFILE.contains(&word), "`{word}` in {rule}");
        }
    }
}
