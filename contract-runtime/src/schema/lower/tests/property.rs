//! The guarantees of lowering: a schema refuses nothing the contract accepts, and `Exact` means exact.

use jsonschema::Validator;
use proptest::prelude::*;
use proptest::sample::subsequence;
use serde_json::{Map, Value};

use super::arguments::arguments;
use super::lower;
use super::native::{Scope, decode, holds};
use super::rules::Judge;
use super::subjects::{Parameter, every_form, tool};
use super::trees::predicate;
use crate::contract::condition::{Condition, ConditionKind};
use crate::contract::expression::Expression;
use crate::schema::InputSchema;
use crate::schema::arguments::examine;
use crate::schema::lower::{Lowering, Subject};
use contract_schema::compile;

pub(super) fn pre(expression: Expression) -> Condition {
    let expression = Box::leak(Box::new(expression));
    Condition::new(ConditionKind::Pre, "as typed", None, None, &[], (1, 1)).reading(expression)
}

pub(super) fn validator(schema: &Value) -> Validator {
    assert!(jsonschema::meta::is_valid(schema), "no schema: {schema:#}");
    compile::compile(schema, false).unwrap_or_else(|error| panic!("{error}: {schema:#}"));
    jsonschema::draft202012::new(schema).unwrap_or_else(|error| panic!("{error}: {schema:#}"))
}

/// The values that the predicates see, where the types accept the arguments.
fn scope(parameters: &[&Parameter], given: &Map<String, Value>) -> Scope {
    let mut scope = Scope::default();
    for one in parameters {
        let value = given.get(one.name).or(one.default.as_ref());
        let typed = decode(value.unwrap_or(&Value::Null), one.kind);
        scope.parameters.insert(one.name, typed);
    }
    scope
}

/// Whether a default takes the place of an argument: whether it keeps the contract is judged elsewhere.
fn defaulted(parameters: &[&Parameter], given: &Map<String, Value>) -> bool {
    let mut defaults = parameters.iter().filter(|one| one.default.is_some());
    defaults.any(|one| !given.contains_key(one.name))
}

/// A schema, and whether it promises to accept nothing else.
struct Side {
    lowering: Lowering,
    validator: Validator,
    published: Value,
}

fn side(conditions: &[Condition], subjects: &[Subject], input: &Value) -> Side {
    let published = lower(conditions, subjects, input);
    let all = published.conditions.iter();
    Side {
        lowering: all
            .map(super::super::PublishedCondition::lowering)
            .max()
            .unwrap(),
        validator: validator(&published.input),
        published: published.input,
    }
}

fn judge(parameters: &[&Parameter], trees: &[Expression], cases: &[Map<String, Value>]) -> usize {
    let tool = tool(parameters);
    let types = validator(&tool.input);
    let conditions: Vec<Condition> = trees.iter().map(|tree| pre(*tree)).collect();
    let alone: Vec<Side> = conditions
        .iter()
        .map(|one| side(std::slice::from_ref(one), &tool.subjects, &tool.input))
        .collect();
    let together = side(&conditions, &tool.subjects, &tool.input);
    let rules = Judge::new(&lower(&conditions, &tool.subjects, &tool.input).conditions);
    let walked = InputSchema::from_object(together.published.clone()).unwrap();
    let mut judged = 0;
    for case in cases {
        let arguments = Value::Object(case.clone());
        if !types.is_valid(&arguments) {
            assert!(
                !together.validator.is_valid(&arguments),
                "wider than the types"
            );
            continue;
        }
        judged += 1;
        let scope = scope(parameters, case);
        let exact = !defaulted(parameters, case);
        let native: Vec<bool> = trees.iter().map(|tree| holds(tree, &scope)).collect();
        rules.judge(&arguments, &native);
        let whole = [(&together, native.iter().all(|one| *one))];
        for (side, native) in alone.iter().zip(native).chain(whole) {
            let shown = side.validator.is_valid(&arguments);
            let say = || format!("{trees:#?}\n{arguments}\n{:#}", side.published);
            assert!(shown || !native, "refused though lawful: {}", say());
            if side.lowering == Lowering::Exact && exact {
                assert_eq!(shown, native, "not exact: {}", say());
            }
        }
        let ours = examine(&arguments.to_string(), &walked, false).is_ok();
        assert_eq!(
            ours,
            together.validator.is_valid(&arguments),
            "{arguments} {:#}",
            together.published
        );
    }
    judged
}

type Case = (Vec<usize>, Vec<Expression>, Vec<Map<String, Value>>);

fn cases() -> BoxedStrategy<Case> {
    let all = every_form().len();
    subsequence((0..all).collect::<Vec<_>>(), 1..=2)
        .prop_flat_map(|chosen| {
            let kinds = every_form();
            let parameters: Vec<&Parameter> = chosen.iter().map(|index| &kinds[*index]).collect();
            (
                Just(chosen),
                prop::collection::vec(predicate(&parameters), 1..=3),
                prop::collection::vec(arguments(&parameters), 24),
            )
        })
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_schema_accepts_what_the_contract_accepts(case in cases()) {
        let (chosen, trees, cases) = case;
        let kinds = every_form();
        let parameters: Vec<&Parameter> = chosen.iter().map(|index| &kinds[*index]).collect();
        judge(&parameters, &trees, &cases);
    }
}
