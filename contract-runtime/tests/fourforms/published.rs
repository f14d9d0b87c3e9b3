//! Only what ends a call is published, and a refusal names what is.

#![allow(
    clippy::case_sensitive_file_extension_comparisons,
    clippy::manual_range_contains,
    clippy::single_char_pattern,
    reason = "conditions as authors write them"
)]

use contract_manifest::PortableRule;
use contract_runtime::Status;
use contract_runtime::prelude::*;
use contract_runtime::{Builder, Dialect, PublishedCondition};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

#[tool]
/// Take it.
#[pre(count <= 5, policy = ignore)]
#[pre(count > 1, policy = observe)]
#[allow(unused_variables)]
fn lenient(count: u32) {}

/// Take it.
#[tool(policy = observe)]
#[pre(count <= 5)]
#[pre(count > 1, policy = quick_enforce)]
#[pre(count != other, "they are the same")]
#[pre(count.is_power_of_two(), "it is no power of two")]
#[post(|sum| *sum > other)]
fn partly(count: u32, other: u32) -> u32 {
    count + other
}

/// Take it.
#[tool]
#[pre(count <= 5)]
#[pre(count > 1, policy = observe)]
#[pre(count != other)]
#[pre(count.is_power_of_two(), "it is no power of two")]
#[post(|sum| *sum > other)]
fn mostly(count: u32, other: u32) -> u32 {
    count + other
}

const EVERYTHING: &str = "Take it.\n\nRequires:\n- `count != other`\n\n\
    Possible refusals:\n- \"it is no power of two\"\n\nEnsures:\n- `result > other`";

/// The ends of `count`, the description, and which conditions have rules.
fn published(builder: Builder) -> (Value, String, Vec<bool>) {
    let registry = builder.build().unwrap();
    let tool = registry.tools().next().unwrap();
    let exported = registry.export(Dialect::Neutral);
    let count = &tool.input_schema()["properties"]["count"];
    (
        json!([count["minimum"], count["maximum"]]),
        exported[0]["description"].as_str().unwrap().to_owned(),
        tool.conditions()
            .iter()
            .map(|one| PortableRule::of(one).is_some())
            .collect(),
    )
}

fn expected(ends: [u32; 2], description: &str, rules: [bool; 5]) -> (Value, String, Vec<bool>) {
    (json!(ends), description.to_owned(), rules.to_vec())
}

#[test]
fn only_what_ends_the_call_is_shown_and_sent() {
    let mostly = || Registry::builder().tool(mostly);
    let partly = || Registry::builder().tool(partly);
    // The condition's own policy, and the process's for the others.
    assert_eq!(
        published(mostly()),
        expected([0, 5], EVERYTHING, [true, false, true, false, false])
    );
    // The registry's does not touch the condition's own.
    for policy in [Policy::Observe, Policy::Ignore] {
        let nothing = expected([0, u32::MAX], "Take it.", [false; 5]);
        assert_eq!(published(mostly().policy(policy)), nothing);
    }
    assert_eq!(
        published(mostly().policy(Policy::QuickEnforce)),
        published(mostly())
    );
    // The tool's is stronger than the registry's.
    let only_the_second = expected(
        [2, u32::MAX],
        "Take it.",
        [false, true, false, false, false],
    );
    assert_eq!(published(partly()), only_the_second);
    assert_eq!(published(partly().policy(Policy::Enforce)), only_the_second);
    // An operator overrules them all.
    let all = expected([2, 5], EVERYTHING, [true, true, true, false, false]);
    let enforced =
        |builder: Builder, tool| published(builder.override_policy(tool, Policy::Enforce));
    assert_eq!(enforced(mostly(), "mostly"), all);
    assert_eq!(enforced(partly(), "partly"), all);
    assert_eq!(
        published(partly().override_policy("partly", Policy::Observe)),
        expected([0, u32::MAX], "Take it.", [false; 5])
    );
}

#[test]
fn what_ends_no_call_is_not_in_the_metadata_for_clients() {
    let listed = |policy| {
        let registry = Registry::builder()
            .tool(mostly)
            .override_policy("mostly", policy);
        let registry = registry.build().unwrap();
        let mcp = Dialect::Mcp(contract_runtime::McpRevision::July2026);
        registry.export(mcp)[0]["_meta"].clone()
    };
    assert!(listed(Policy::Enforce).is_object());
    for policy in [Policy::Observe, Policy::Ignore] {
        assert_eq!(listed(policy), Value::Null, "{policy:?}");
    }
}

#[test]
fn what_ends_no_call_is_judged_all_the_same() {
    let registry = Registry::builder().tool(lenient).build().unwrap();
    let tool = registry.tool("lenient").unwrap();
    assert_eq!(
        tool.input_schema()["properties"]["count"],
        json!({"type": "integer", "minimum": 0, "maximum": u32::MAX})
    );
    let policies: Vec<_> = tool
        .conditions()
        .iter()
        .map(PublishedCondition::policy)
        .collect();
    assert_eq!(policies, [Policy::Ignore, Policy::Observe]);
    let outcome = registry
        .call(ToolCall::new("1", "lenient", r#"{"count":1}"#))
        .blocking();
    assert!(outcome.is_ok());
    assert_eq!(outcome.observed()[0].contract, "lenient.pre[1]");
}

/// Take it.
#[tool]
#[pre(count <= 5, policy = observe)]
#[pre(low < high, policy = ignore)]
#[allow(unused_variables)]
fn defaulted(
    #[arg(default = 7)] count: u32,
    #[arg(default = 4)] low: u32,
    #[arg(default = 3)] high: u32,
) {
}

#[test]
fn what_ends_no_call_is_no_judge_of_defaults() {
    let builder = || Registry::builder().tool(defaulted);
    assert!(builder().build().is_ok());
    let error = builder()
        .override_policy("defaulted", Policy::Enforce)
        .build()
        .unwrap_err();
    assert_eq!(error.problems().len(), 2, "{error}");
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Wagon {
    Seats,
    Beds,
    Freight,
}

/// Take it.
#[tool]
#[pre(end <= 1440, "it ends on another day")]
#[pre(count <= 5, policy = observe)]
#[pre(wagon != Wagon::Freight)]
#[pre(days.iter().all(|day| *day < 7))]
#[pre(seats.is_none_or(|seats| seats <= 9))]
#[allow(unused_variables)]
fn bounded(end: u32, count: u8, wagon: Wagon, days: Vec<u8>, seats: Option<u8>) {}

/// What is said of each argument.
fn refused(arguments: &Value) -> Vec<(String, String)> {
    let registry = Registry::builder().tool(bounded).build().unwrap();
    let outcome = registry
        .call(ToolCall::new("1", "bounded", arguments.to_string()))
        .blocking();
    let problems = outcome.invalid_arguments().unwrap().problems();
    let said = problems
        .iter()
        .map(|one| (one.pointer.clone(), one.expected.clone()));
    said.collect()
}

fn said(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    let pair = |(pointer, expected): &(&str, &str)| ((*pointer).to_owned(), (*expected).to_owned());
    pairs.iter().map(pair).collect()
}

#[test]
fn a_refusal_names_the_published_bounds() {
    assert_eq!(
        refused(&json!({})),
        said(&[
            ("/end", "an integer from 0 to 1440"),
            ("/count", "an integer from 0 to 255"),
            ("/wagon", r#"one of "seats", "beds""#),
            ("/days", "an array, each item an integer from 0 to 6"),
        ])
    );
    let wrong = json!({
        "end": 4_294_967_296_u64, "count": 256, "wagon": "boat", "days": [1, -1, "two"], "seats": "two",
    });
    assert_eq!(
        refused(&wrong),
        said(&[
            ("/end", "an integer from 0 to 1440"),
            ("/count", "an integer from 0 to 255"),
            ("/wagon", r#"one of "seats", "beds""#),
            ("/days/1", "an integer from 0 to 6"),
            ("/days/2", "an integer from 0 to 6"),
            ("/seats", "an integer from 0 to 9 or null"),
        ])
    );
}

#[test]
fn what_a_refusal_lists_is_what_a_call_takes() {
    let registry = Registry::builder().tool(bounded).build().unwrap();
    let call = |wagon| {
        let arguments = json!({"end": 1, "count": 1, "wagon": wagon, "days": []}).to_string();
        registry
            .call(ToolCall::new("1", "bounded", arguments))
            .blocking()
    };
    let outcome = call("freighd");
    let [problem] = outcome.invalid_arguments().unwrap().problems() else {
        panic!("{outcome:?}");
    };
    assert_eq!(problem.allowed, [json!("seats"), json!("beds")]);
    assert_eq!(problem.nearest, None);
    // Of the right type it is the condition that refuses it.
    assert_eq!(call("freight").status(), Status::Violation);
}

/// Take it.
#[tool]
#[pre(path.starts_with("/") || path.ends_with(".txt"))]
#[pre(!name.starts_with("-"))]
#[pre(tags.contains(&"new".to_owned()) || tags.is_empty(), "AUTHOR")]
#[pre(days.iter().any(|day| *day > 4))]
#[pre(size < 3 || size > 7)]
#[allow(unused_variables)]
fn combined(path: String, name: String, tags: Vec<String>, days: Vec<u8>, size: u8) {}

#[test]
fn a_refusal_names_the_keywords_that_combine_schemas() {
    let registry = Registry::builder().tool(combined).build().unwrap();
    let wrong = json!({"path": 1, "name": 1, "tags": [], "days": 1, "size": "1"}).to_string();
    let outcome = registry
        .call(ToolCall::new("1", "combined", wrong))
        .blocking();
    assert_eq!(
        outcome.error().unwrap(),
        "4 problems:\n\
         - `/path`: expected a string, and at least one of: a string matching the pattern `^/`; a string matching the pattern \
         `\\.txt$`, got the number 1\n\
         - `/name`: expected a string, but not a string matching the pattern `^-`, got the number 1\n\
         - `/days`: expected an array, each item an integer from 0 to 255, with 1 or more of: a number of at least 5, got the number 1\n\
         - `/size`: expected an integer from 0 to 255, and at least one of: a number of at most 2; a number of at least 8, \
         got the string \"1\""
    );
}

/// Order it.
#[tool]
#[pre(items.len() <= 3)]
#[pre(least > 0 && most.is_none_or(|most| most >= least))]
#[pre(is_known(&shop))]
#[pre(open_on(day), requires = "a day on which the shop is open")]
#[pre(items[0] != shop)]
#[pre(shop.trim() == shop, "there are blanks around {shop:?}")]
fn order(
    #[arg(name = "shop_name")] shop: String,
    day: u8,
    items: Vec<String>,
    least: u32,
    most: Option<u32>,
) -> String {
    format!("{shop} {day} {items:?} {least} {most:?}")
}

fn is_known(shop: &str) -> bool {
    shop != "nowhere"
}

fn open_on(day: u8) -> bool {
    day != 7
}

#[test]
fn a_refusal_shows_a_predicate_only_as_its_reader_can_evaluate_it() {
    let registry = Registry::builder().tool(order).build().unwrap();
    let refusal = |changed: Value| {
        let mut arguments = json!({"shop_name": "a", "day": 1, "items": ["b"], "least": 1});
        for (name, value) in changed.as_object().unwrap() {
            arguments[name] = value.clone();
        }
        let call = ToolCall::new("1", "order", arguments.to_string());
        registry.call(call).blocking().error().unwrap().to_owned()
    };
    assert_eq!(
        refusal(json!({"items": ["1", "2", "3", "4"]})),
        r#"`order` requires that the number of items in `items` is at most 3, got items = ["1","2","3","4"]"#
    );
    assert_eq!(
        refusal(json!({"least": 3, "most": 2})),
        "`order` requires that `least > 0`, and if `most` is given, `most >= least`, got least = 3, most = 2"
    );
    assert_eq!(
        refusal(json!({"shop_name": "nowhere"})),
        r#"`order` refuses this call, got shop_name = "nowhere""#
    );
    assert_eq!(
        refusal(json!({"day": 7})),
        "`order` requires: a day on which the shop is open, got day = 7"
    );
    assert_eq!(
        refusal(json!({"items": []})),
        r#"`order` cannot judge this call, because its condition fails to run, got shop_name = "a", items = []"#
    );
    assert_eq!(
        refusal(json!({"shop_name": " a"})),
        r#"there are blanks around " a""#
    );
}

/// The program sees the predicate as it is typed.
#[test]
fn a_violation_keeps_the_predicate_that_its_refusal_leaves_out() {
    let registry = Registry::builder().tool(order).build().unwrap();
    let arguments = r#"{"shop_name":"nowhere","day":1,"items":["b"],"least":1}"#;
    let outcome = registry
        .call(ToolCall::new("1", "order", arguments))
        .blocking();
    let violation = outcome.violation().unwrap();
    assert_eq!(violation.predicate, "is_known(&shop)");
    assert_eq!(
        violation.to_string(),
        r#"`order` requires `is_known(&shop)`, got shop_name = "nowhere""#
    );
    let sent: contract_runtime::Violation =
        serde_json::from_value(serde_json::to_value(violation).unwrap()).unwrap();
    assert_eq!(sent.refusal(), outcome.error().unwrap());
}
