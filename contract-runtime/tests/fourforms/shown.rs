//! What must be shown and cannot be is a mistake of the registry, with the part and the place.

use contract_runtime::prelude::*;
use contract_runtime::{BuildProblem, Builder, Registry};
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

fn problems(builder: Builder) -> Vec<(String, &'static str, &'static str, String)> {
    let Err(error) = builder.build() else {
        return Vec::new();
    };
    let problems = error.problems().iter().map(|problem| match problem {
        BuildProblem::NotShown {
            tool,
            predicate,
            part,
            location,
        } => (tool.clone(), *predicate, *part, location.clone()),
        other => panic!("{other}"),
    });
    problems.collect()
}

#[test]
fn what_has_a_form_is_shown() {
    let measure = Registry::builder().tool(measure);
    assert_eq!(problems(measure.require_shown()), []);
    assert_eq!(
        problems(Registry::builder().tool(greet)),
        [],
        "nobody demands it"
    );
}

#[test]
fn a_type_that_only_the_compiler_sees_is_found_when_the_registry_is_built() {
    let [(tool, predicate, part, location)] = &problems(Registry::builder().tool(cut))[..] else {
        panic!("one problem");
    };
    assert_eq!(
        (tool.as_str(), *predicate, *part),
        ("cut", "!size.is_empty()", "size.is_empty()")
    );
    let line = 1 + include_str!("shown.rs")
        .lines()
        .position(|line| line.contains("#[pre(!size"))
        .unwrap();
    assert!(
        location.ends_with(&format!("shown.rs:{line}:7")),
        "{location}"
    );
}

#[test]
fn the_registry_may_demand_it_of_all_preconditions() {
    let all = problems(Registry::builder().tool(greet).tool(cut).require_shown());
    let parts: Vec<_> = all
        .iter()
        .map(|(tool, _, part, _)| (tool.as_str(), *part))
        .collect();
    assert_eq!(
        parts,
        [("cut", "size.is_empty()"), ("greet", "name.trim()")]
    );
    let error = Registry::builder()
        .tool(greet)
        .require_shown()
        .build()
        .unwrap_err();
    assert!(
        error.to_string().contains("`count > 0 && name.trim() == name` of tool `greet` must be shown, and `name.trim()` is not portable"),
        "{error}"
    );
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
    assert_eq!(condition.rule().unwrap().message, "`to` is before `from`");
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
    assert_eq!(condition.rule().unwrap().paths, ["/items", "/m"]);
    let call = ToolCall::new("1", "take", r#"{"items": [1], "m": 2, "most": 9}"#);
    assert_eq!(
        registry.call(call).blocking().error().unwrap(),
        "AUTHOR, got items = [1], m = 2",
    );
}
