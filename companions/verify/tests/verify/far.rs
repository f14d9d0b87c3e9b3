//! Bounds far away, and types without end.

use contract_runtime::ToolFunction;
use contract_runtime::prelude::*;
use contract_verify::{Fault, Report, Verifier};
use schemars::JsonSchema;
use serde::Deserialize;

fn verify<F: ToolFunction<S>, S>(tool: F) -> Report {
    let registry = Registry::builder().tool(tool).build().unwrap();
    Verifier::new(registry).cases(20).seed(1).run()
}

#[test]
fn a_bound_of_hundreds_of_thousands_of_characters_is_met_and_passed() {
    /// Measure a text.
    #[tool(read_only)]
    #[pre(!text.is_empty() && text.chars().count() <= 900_000)]
    fn measure(text: &str) -> usize {
        text.len()
    }
    verify(measure).assert();
}

#[test]
fn a_bound_of_tens_of_thousands_of_items_is_met_and_passed() {
    /// Count texts.
    #[tool(read_only)]
    #[pre(!texts.is_empty() && texts.len() <= 30_000)]
    #[post(|count| *count <= 30_000)]
    fn count(texts: Vec<String>) -> usize {
        texts.len()
    }
    verify(count).assert();
}

#[test]
fn what_goes_wrong_only_at_a_far_bound_is_found() {
    /// Count items.
    #[tool(read_only)]
    #[pre(items.len() <= 9_000)]
    #[post(|count| *count < 9_000)]
    fn tally(items: Vec<u8>) -> usize {
        items.len()
    }
    let report = verify(tally);
    let problem = report.problems().next().unwrap();
    assert!(
        matches!(problem.fault, Fault::PromiseBroken { .. }),
        "{problem}"
    );
    let items = problem.input.as_ref().unwrap()["items"].as_array().unwrap();
    assert_eq!(items.len(), 9_000);
}

#[test]
fn a_bound_that_no_call_reaches_is_told_as_one() {
    /// Take a text.
    #[tool(read_only)]
    #[pre(text.len() <= 5_000_000)]
    fn take_text(text: String) -> usize {
        text.len()
    }
    /// Take items.
    #[tool(read_only)]
    #[pre(!items.is_empty() && items.len() <= 600_000)]
    fn take_items(items: Vec<u8>) -> usize {
        items.len()
    }
    /// Take very much.
    #[tool(read_only)]
    #[pre(text.len() >= 5_000_000)]
    fn take_much(text: String) -> usize {
        text.len()
    }
    for (report, expected) in [
        (verify(take_text), 5_000_000),
        // The other half of it was met on both sides.
        (verify(take_items), 600_000),
        (verify(take_much), 5_000_000),
    ] {
        let problems: Vec<_> = report.problems().map(|problem| &problem.fault).collect();
        assert!(
            matches!(*problems, [Fault::Unreached { bound, .. }] if *bound == expected),
            "{report}"
        );
        let text = report.to_string();
        assert!(
            text.contains("was not reached") && text.contains("1 MiB"),
            "{text}"
        );
    }
}

#[test]
fn a_result_as_an_argument_is_no_fault_of_its_author() {
    /// Take what came of something.
    #[tool(read_only)]
    fn take(one: Result<u8, String>, all: Vec<Result<bool, ()>>) -> bool {
        one.is_ok() && all.is_empty()
    }
    let registry = Registry::builder().tool(take).build().unwrap();
    for seed in 0..4 {
        Verifier::new(registry.clone()).seed(seed).run().assert();
    }
}

/// A type that must hold two of its own has no values.
#[derive(Deserialize, JsonSchema)]
struct Endless {
    left: Box<Endless>,
    right: Box<Endless>,
}

#[test]
fn a_type_without_values_is_told_as_one() {
    /// Take what cannot be.
    #[tool(read_only)]
    fn take(one: Endless) -> bool {
        let Endless { left, right } = one;
        std::ptr::eq(&raw const *left, &raw const *right)
    }
    let report = verify(take);
    let problem = report.problems().next().unwrap();
    assert!(
        matches!(problem.fault, Fault::TooFewAccepted { tried: 0, .. }),
        "{problem}"
    );
    let text = problem.to_string();
    assert!(
        text.starts_with("no arguments of the right types were found"),
        "{text}"
    );
}
