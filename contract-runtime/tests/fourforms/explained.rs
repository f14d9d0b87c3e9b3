//! What authors say of a condition in words of their own, and what is said where nobody did.

use contract_manifest::{FindingKind, Inspect as _, PortableRule};
use contract_runtime::prelude::*;
use contract_runtime::{Content, Dialect, DynamicSpec, Heading, PublishedCondition, Tool};
use serde_json::json;

/// Pay a bill.
#[tool]
#[pre(iban.trim() == iban, "there are blanks", requires = "`iban` has no blanks around it")]
#[pre(cents <= limit, "too much", requires = "`cents` is within the limit of the account")]
#[pre(cents > 0, requires = "`cents` is positive")]
#[pre(!iban.contains("TEST"), "no tests", shown = never)]
#[pre(note.split(' ').count() < 90)]
#[pre(tip.is_none_or(|tip| tip <= cents), "a tip is smaller than the bill")]
#[post(|left| left.is_power_of_two(), ensures = "the result is what is left, in cents")]
fn pay(
    /// The account.
    iban: String,
    /// How much.
    cents: u32,
    limit: u32,
    /// What for.
    note: String,
    /// For the waiter.
    tip: Option<u32>,
) -> u32 {
    let _ = (iban, limit, note, tip);
    cents
}

fn registry() -> Registry {
    Registry::builder().tool(pay).build().unwrap()
}

#[test]
fn words_of_the_author_stand_as_demands() {
    let registry = registry();
    let export = registry.export(Dialect::Neutral);
    assert_eq!(
        export[0]["description"],
        "Pay a bill.

Requires:
- `iban` has no blanks around it
- `cents` is within the limit of the account
- if `tip` is given, `tip <= cents`

Ensures:
- the result is what is left, in cents"
    );
    assert_eq!(export[0]["parameters"]["properties"]["cents"]["minimum"], 1);
}

#[test]
fn what_is_never_shown_is_enforced_all_the_same() {
    let registry = registry();
    let tool = registry.tool("pay").unwrap();
    let hidden = &tool.conditions()[3];
    assert_eq!((hidden.heading(), PortableRule::of(hidden)), (None, None));
    assert_eq!(tool.input_schema()["properties"]["iban"].get("not"), None);
    let call = r#"{"iban":"TEST","cents":1,"limit":2,"note":""}"#;
    let outcome = registry.call(ToolCall::new("1", "pay", call)).blocking();
    assert_eq!(outcome.error(), Some("no tests, got iban = \"TEST\""));
}

/// Show an order.
#[tool(read_only)]
#[given(order = find(id), else)]
#[given(next = find(id + 1), else, requires = "an order comes after it")]
fn orders(
    /// The number of the order.
    id: u32,
) -> u32 {
    order + next
}

fn find(id: u32) -> Result<u32, String> {
    id.checked_add(1).ok_or_else(|| "no order".to_owned())
}

#[test]
fn a_lookup_that_opens_a_result_is_described_by_its_author_or_found() {
    let registry = Registry::builder().tool(orders).build().unwrap();
    let findings = registry.lint();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].kind, FindingKind::Unexplained);
    assert!(
        findings[0].message.contains("`order = find(id)`"),
        "{findings:?}"
    );
    let export = registry.export(Dialect::Neutral);
    assert_eq!(
        export[0]["description"],
        "Show an order.\n\nRequires:\n- an order comes after it"
    );
}

/// Count the pieces.
#[tool(read_only)]
fn pieces(
    /// How many stand at each place.
    board: std::collections::HashMap<(u8, u8), u32>,
) -> u32 {
    board.values().sum()
}

#[test]
fn a_map_whose_keys_no_call_can_have_is_found() {
    let registry = Registry::builder().tool(pieces).build().unwrap();
    let findings = registry.lint();
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(findings[0].kind, FindingKind::Unreadable);
    assert_eq!(findings[0].subject, "pieces(board)");
}

#[test]
fn a_type_that_stays_behind_a_reference_is_found() {
    let mut definitions = serde_json::Map::new();
    for level in 0..40 {
        let next = json!({"$ref": format!("#/$defs/T{}", level + 1)});
        let both = json!({"type": "object", "properties": {"a": next, "b": next}});
        definitions.insert(format!("T{level}"), both);
    }
    definitions.insert("T40".to_owned(), json!({"type": "string"}));
    let spec = DynamicSpec::new("grow", "Grow.").input_schema(json!({
        "type": "object",
        "properties": {"top": {"$ref": "#/$defs/T0"}},
        "$defs": definitions,
    }));
    let tool = Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("")) });
    let registry = Registry::builder().with(tool).build().unwrap();
    let findings = registry.lint();
    let first = findings.first().unwrap();
    assert_eq!(first.kind, FindingKind::Referenced);
    assert!(first.message.contains("stays behind a `$ref`"), "{first}");
}

#[test]
fn what_nobody_says_is_found() {
    let findings = registry().lint();
    let found: Vec<_> = findings
        .iter()
        .filter(|one| one.kind != FindingKind::Undescribed)
        .map(|one| (one.kind, one.subject.as_str(), one.message.as_str()))
        .collect();
    assert_eq!(
        found,
        [(
            FindingKind::Unexplained,
            "pay.pre[4]",
            "a model is shown nothing of `note.split(' ').count() < 90`; add a message, or `requires = \"..\"`"
        ),]
    );
}

/// Compare what can be left out.
#[tool]
#[pre(low.is_none_or(|low| high.is_none_or(|high| low <= high)))]
#[pre(low.is_some_and(|low| low > base) || loud)]
#[pre(!loud)]
#[pre(modes.contains(&mode))]
#[pre(name.len() <= base as usize)]
#[pre(name.chars().count() > modes.len())]
#[pre(name.ends_with(&mode) || name == "any")]
#[pre(low.is_some())]
fn compare(
    low: Option<u8>,
    high: Option<u8>,
    base: u8,
    loud: bool,
    modes: Vec<String>,
    mode: String,
    #[arg(name = "full_name")] name: String,
) {
    let _ = (low, high, base, loud, modes, mode, name);
}

#[test]
fn demands_read_as_sentences() {
    let registry = Registry::builder().tool(compare).build().unwrap();
    let tool = registry.tool("compare").unwrap();
    let demands = tool.conditions().iter();
    let demands = demands.filter(|one| one.heading() == Some(Heading::Requires));
    let demands: Vec<_> = demands.map(PublishedCondition::sentence).collect();
    assert_eq!(
        demands,
        [
            "if `low` is given, if `high` is given, `low <= high`",
            "`modes` contains `mode`",
            "the length of `full_name` in bytes is at most `base`",
            "the number of characters in `full_name` is more than the number of items in `modes`",
            "`full_name` ends with `mode`, or `full_name == \"any\"`",
        ]
    );
}

/// A colour.
#[derive(serde::Deserialize, schemars::JsonSchema)]
enum Colour {
    Red,
    Green,
}

// A comment is not a description.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Shape {
    corners: u8,
}

/// Paint a wall.
#[tool]
fn paint(
    /// The wall.
    wall: String,
    colour: Colour,
    second: Option<Colour>,
    coats: u8,
    #[arg(name = "form")] shape: Option<Vec<Shape>>,
) {
    let _ = (
        wall,
        matches!(colour, Colour::Red | Colour::Green),
        second,
        coats,
    );
    let _ = shape.map(|shapes| shapes.iter().map(|shape| shape.corners).max());
}

#[test]
fn a_parameter_is_described_above_it_or_by_its_type() {
    let registry = Registry::builder().tool(paint).build().unwrap();
    let findings = registry.lint();
    let found: Vec<_> = findings
        .iter()
        .map(|one| (one.kind, one.subject.as_str(), one.message.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (
                FindingKind::Undescribed,
                "paint(coats)",
                "`coats` has no description for the model; write one with `///` above it"
            ),
            (
                FindingKind::Undescribed,
                "paint(form)",
                "`form` has no description for the model; write one with `///` above it"
            ),
        ]
    );
    assert!(findings[0].location.contains("explained.rs:"));
}
