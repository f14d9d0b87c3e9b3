//! What must be shown and cannot be is found, with the part and the place.

use contract_manifest::{Finding, FindingKind, Inspect as _, PortableRule};
use contract_runtime::Registry;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, Deserialize, JsonSchema)]
struct Size {
    width: f64,
}

impl Size {
    fn is_empty(&self) -> bool {
        self.width <= 0.0
    }
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
enum Unit {
    Metre,
    Foot,
}

/// Its method is known to Rust alone, which the macro cannot see.
#[tool]
#[pre(!size.is_empty(), shown)]
fn cut(size: Size) -> f64 {
    size.width
}

/// All of it has a form.
#[tool]
#[pre(low < high && low > 0, shown)]
#[pre(unit != Unit::Foot, shown)]
#[pre(name.len() < 9, "short", shown)]
fn measure(low: u32, high: u32, unit: Unit, name: &str) -> u32 {
    let _ = unit;
    high - low + u32::from(name.is_empty())
}

/// A part has none.
#[tool]
#[pre(count > 0 && name.trim() == name)]
#[post(|result| *result > 0)]
fn greet(count: u32, name: String) -> u32 {
    drop(name);
    count
}

/// Of the findings those about conditions that must be shown.
fn of_lint(registry: &Registry) -> Vec<Finding> {
    let mut found = registry.lint();
    found.retain(|one| one.kind == FindingKind::NotShown);
    found
}

#[test]
fn what_has_a_form_is_shown() {
    let registry = Registry::builder().tool(measure).build().unwrap();
    assert_eq!(registry.not_shown(), []);
    let registry = Registry::builder().tool(greet).build().unwrap();
    assert_eq!(of_lint(&registry), [], "nobody demands it");
}

#[test]
fn a_type_that_only_the_compiler_sees_is_found_in_the_registry() {
    let registry = Registry::builder().tool(cut).build().unwrap();
    let found = of_lint(&registry);
    let [finding] = found.as_slice() else {
        panic!("one finding: {found:?}");
    };
    assert_eq!(
        (finding.tool.as_str(), finding.subject.as_str()),
        ("cut", "cut.pre[0]")
    );
    assert_eq!(
        finding.message,
        "`!size.is_empty()` must be shown, and `size.is_empty()` is not portable; compare values that JSON has, or do not demand it"
    );
    let line = 1 + include_str!("shown.rs")
        .lines()
        .position(|line| line.contains("#[pre(!size"))
        .unwrap();
    assert!(
        finding.location.ends_with(&format!("shown.rs:{line}:7")),
        "{finding}"
    );
}

#[test]
fn all_preconditions_may_be_demanded() {
    let registry = Registry::builder().tool(greet).tool(cut).build().unwrap();
    let found = registry.not_shown();
    let parts: Vec<_> = found
        .iter()
        .map(|one| (one.tool.as_str(), one.message.split('`').nth(3).unwrap()))
        .collect();
    assert_eq!(
        parts,
        [("cut", "size.is_empty()"), ("greet", "name.trim()")]
    );
}

#[test]
fn what_ends_no_call_need_not_be_portable() {
    let tools = || Registry::builder().tool(greet).tool(cut);
    let registry = tools().policy(Policy::Observe).build().unwrap();
    assert_eq!(registry.not_shown(), []);
    assert_eq!(of_lint(&registry), []);
}

/// Book a room.
#[tool]
#[pre(end > start, "{end} is before {start}")]
fn book(#[arg(name = "from")] start: u32, #[arg(name = "to")] end: u32) -> u32 {
    end - start
}

#[test]
fn a_sentence_speaks_of_the_arguments_that_the_model_knows() {
    let registry = Registry::builder().tool(book).build().unwrap();
    let condition = &registry.tool("book").unwrap().conditions()[0];
    assert_eq!(condition.sentence(), "`to > from`");
    assert_eq!(
        PortableRule::of(condition).unwrap().message,
        "`to` is before `from`"
    );
}

/// Take some numbers.
#[tool]
#[pre(items.iter().all(|n| *n > m), "AUTHOR")]
fn take(items: Vec<u8>, m: u8, #[arg(name = "most")] n: u8) {
    let _ = (items, m, n);
}

#[test]
fn the_variable_of_a_closure_is_no_argument_of_its_name() {
    let registry = Registry::builder().tool(take).build().unwrap();
    let condition = &registry.tool("take").unwrap().conditions()[0];
    assert_eq!(condition.condition().parameters(), ["items", "m"]);
    assert_eq!(PortableRule::of(condition).unwrap().paths, ["/items", "/m"]);
    let call = ToolCall::new("1", "take", r#"{"items": [1], "m": 2, "most": 9}"#);
    assert_eq!(
        registry.call(call).blocking().error().unwrap(),
        "AUTHOR, got items = [1], m = 2",
    );
}
