//! Contracts whose forms do not agree, each disagreement once.
//!
//! The macros make all forms from one line, so what is shown of a condition is exchanged by hand for something else.

use std::sync::Arc;

use contract_runtime::__private::{
    self as rt, Comparison, Condition, ConditionKind, Contract, Expression, Spec,
};
use contract_runtime::prelude::*;
use contract_verify::{Fault, Layer, Report};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::json;

use super::{found, only, report};

struct Honest;

#[tool]
impl Honest {
    /// Keep a number.
    #[tool]
    #[pre(number > 3)]
    fn number(&self, number: u32) -> u32 {
        number
    }

    /// Keep a text.
    #[tool]
    #[pre(text.chars().count() <= 4)]
    fn text(&self, text: &str) -> usize {
        text.len()
    }

    /// Keep the order of two numbers.
    #[tool]
    #[pre(end > start)]
    fn order(&self, start: u32, end: u32) -> u32 {
        end - start
    }
}

/// The tool of this name, with its first condition shown as if it computed something else.
fn lying(name: &str, shown: Expression) -> Vec<Tool> {
    let (call, output, spec): (_, _, &'static Spec) = match name {
        "number" => (
            Honest::__contract_call_number
                as for<'c> fn(&'c Honest, rt::Call<'c>) -> rt::Running<'c>,
            Honest::__contract_output_number as fn() -> Option<rt::Describe>,
            Honest::__contract_spec_number(),
        ),
        "text" => (
            Honest::__contract_call_text as _,
            Honest::__contract_output_text as _,
            Honest::__contract_spec_text(),
        ),
        _ => (
            Honest::__contract_call_order as _,
            Honest::__contract_output_order as _,
            Honest::__contract_spec_order(),
        ),
    };
    let true_one = &spec.contract.conditions[0];
    let condition = Condition::new(
        ConditionKind::Pre,
        true_one.predicate(),
        None,
        None,
        true_one.parameters(),
        true_one.position(),
    );
    let shown: &'static Expression = Box::leak(Box::new(shown));
    let conditions: &'static [Condition] = Box::leak(Box::new([condition.reading(shown)]));
    let spec: &'static Spec = Box::leak(Box::new(Spec {
        contract: Contract {
            conditions,
            ..spec.contract
        },
        title: None,
        description: spec.description,
        hints: spec.hints,
        is_async: false,
        blocking: false,
        coerce: false,
        output_schema: false,
        alone: false,
        confirm: None,
        timeout: None,
        parameters: spec.parameters,
        verify: None,
        package: spec.package,
        position: spec.position,
    }));
    vec![rt::method(
        &Arc::new(Honest),
        spec,
        rt::type_of(&Honest::number),
        call,
        output,
    )]
}

fn compared(name: &'static str, comparison: Comparison, bound: i128) -> Expression {
    let parameter = Box::leak(Box::new(Expression::Parameter(name)));
    let bound = Box::leak(Box::new(Expression::Integer(bound)));
    Expression::Compare(comparison, parameter, bound)
}

fn tried(name: &str, shown: Expression) -> Report {
    report(Registry::builder().with(lying(name, shown)))
}

#[test]
fn the_truth_is_no_lie() {
    tried("number", compared("number", Comparison::More, 3)).assert();
    tried("number", compared("number", Comparison::AtLeast, 4)).assert();
    report(Registry::builder().with(Honest)).assert();
}

/// Each fault that is found of the condition, with its smallest input.
fn disagreements(report: &Report, what: fn(&Fault) -> bool) -> Vec<serde_json::Value> {
    let faults = report.problems().filter(|problem| what(&problem.fault));
    faults.filter_map(|problem| problem.input.clone()).collect()
}

fn of_schema(fault: &Fault) -> bool {
    matches!(fault, Fault::Schema { .. })
}

fn of_rule(fault: &Fault) -> bool {
    matches!(fault, Fault::Rule { .. })
}

#[test]
fn a_bound_that_is_shown_one_too_low() {
    let report = tried("number", compared("number", Comparison::AtLeast, 3));
    assert_eq!(
        disagreements(&report, of_schema),
        [json!({"number": 3})],
        "{report}"
    );
    assert_eq!(
        disagreements(&report, of_rule),
        [json!({"number": 3})],
        "{report}"
    );
}

#[test]
fn a_bound_that_is_shown_one_too_high() {
    let report = tried("number", compared("number", Comparison::More, 4));
    assert_eq!(
        disagreements(&report, of_schema),
        [json!({"number": 4})],
        "{report}"
    );
    assert_eq!(
        disagreements(&report, of_rule),
        [json!({"number": 4})],
        "{report}"
    );
}

#[test]
fn a_length_that_is_shown_in_another_unit() {
    // Bytes, where the predicate counts characters: four of them may be sixteen bytes.
    static TEXT: Expression = Expression::Parameter("text");
    static BYTES: Expression = Expression::Length(&TEXT);
    let report = tried(
        "text",
        Expression::Compare(Comparison::AtMost, &BYTES, &Expression::Integer(4)),
    );
    assert!(!report.is_ok(), "{report}");
    let inputs = disagreements(&report, |fault| of_schema(fault) || of_rule(fault));
    let wide =
        |input: &serde_json::Value| input["text"].as_str().is_some_and(|text| text.len() > 4);
    assert!(!inputs.is_empty() && inputs.iter().all(wide), "{report}");
}

#[test]
fn a_rule_over_two_parameters() {
    static START: Expression = Expression::Parameter("start");
    static END: Expression = Expression::Parameter("end");
    let report = tried(
        "order",
        Expression::Compare(Comparison::AtLeast, &END, &START),
    );
    let fault = found(&report, Layer::Agreement, json!({"start": 0, "end": 0}));
    let Fault::Rule {
        says, predicate, ..
    } = fault
    else {
        panic!("{report}");
    };
    assert!(*says && !*predicate, "{report}");
    assert_eq!(only(&report).clause.as_deref(), Some("order.pre[0]"));
}

/// A number whose schema accepts more than its type.
#[derive(Debug)]
struct Even(u32);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let number = u32::deserialize(deserializer)?;
        if number % 2 == 1 {
            return Err(serde::de::Error::custom("it is odd"));
        }
        Ok(Self(number))
    }
}

impl JsonSchema for Even {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Even".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 0, "maximum": u32::MAX})
    }
}

/// Halve a number.
#[tool]
fn halve(even: Even) -> u32 {
    even.0 / 2
}

#[test]
fn a_type_that_refuses_what_its_schema_accepts() {
    let report = report(Registry::builder().tool(halve));
    let fault = found(&report, Layer::Agreement, json!({"even": 1}));
    assert!(
        matches!(fault, Fault::Types { schema: true, .. }),
        "{report}"
    );
}

/// A number whose schema accepts less than its type.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
struct Small(u32);

impl JsonSchema for Small {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Small".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 0, "maximum": 10})
    }
}

/// Keep a small number.
#[tool]
fn keep(small: Small) -> u32 {
    small.0
}

/// The dispatcher holds the arguments to what is shown of them, so there is nothing to find.
#[test]
fn a_type_that_would_accept_what_its_schema_refuses() {
    report(Registry::builder().tool(keep)).assert();
}
