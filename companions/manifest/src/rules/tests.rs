//! Rules of hand-made trees, evaluated by an independent engine.

use cel::{Context, Program};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::cel::{Cel, variable};

fn evaluate(program: &Program, functions: &Context<'_, '_>, arguments: &Value) -> Option<Value> {
    let mut context = functions.new_inner_scope();
    context.add_variable("args", arguments).unwrap();
    match program.execute(&context).ok()? {
        cel::Value::Bool(answer) => Some(json!(answer)),
        cel::Value::Int(answer) => Some(json!(answer)),
        other => panic!("{other:?}"),
    }
}

fn answer(rule: &Cel, arguments: &Value) -> Option<Value> {
    let program = Program::compile(&rule.to_string());
    let program = program.unwrap_or_else(|error| panic!("{rule}: {error}"));
    evaluate(&program, &Context::default(), arguments)
}

/// An expression, and its value; nothing where it has none.
type Known<T> = (Cel, Option<T>);

fn sums() -> BoxedStrategy<Known<i64>> {
    let literal = (-20..20_i64).prop_map(|value| (Cel::number(value.to_string()), Some(value)));
    literal
        .prop_recursive(4, 24, 2, |inner| {
            let operators = prop::sample::select(vec!["+", "-", "*", "%"]);
            prop_oneof![
                (operators, inner.clone(), inner.clone()).prop_map(|(operator, a, b)| {
                    let value = a.1.zip(b.1).and_then(|(a, b)| match operator {
                        "+" => a.checked_add(b),
                        "-" => a.checked_sub(b),
                        "*" => a.checked_mul(b),
                        _ => a.checked_rem(b),
                    });
                    (Cel::arithmetic(operator, &a.0, &b.0), value)
                }),
                inner.prop_map(|(of, value)| (of.negative(), value.map(|value| -value))),
            ]
        })
        .boxed()
}

fn truths() -> BoxedStrategy<Known<bool>> {
    let compared = (sums(), sums()).prop_map(|(a, b)| {
        let mut relation = Cel::relation("<", &a.0, &b.0);
        let value = a.1.zip(b.1).map(|(a, b)| a < b);
        relation.fails = value.is_none();
        (relation, value)
    });
    compared
        .prop_recursive(4, 16, 3, |inner| {
            let two = (inner.clone(), inner.clone());
            prop_oneof![
                inner
                    .clone()
                    .prop_map(|(of, value)| (of.not(), value.map(|value| !value))),
                two.clone().prop_map(|(a, b)| {
                    let value = a.1.and_then(|left| if left { b.1 } else { Some(false) });
                    (a.0.and(b.0), value)
                }),
                two.prop_map(|(a, b)| {
                    let value = a.1.and_then(|left| if left { Some(true) } else { b.1 });
                    (a.0.or(b.0), value)
                }),
                (inner.clone(), inner.clone(), inner).prop_map(|(c, a, b)| {
                    let value = c.1.and_then(|chosen| if chosen { a.1 } else { b.1 });
                    (c.0.choose(&a.0, &b.0), value)
                }),
            ]
        })
        .boxed()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn parentheses_are_where_they_are_needed((sum, value) in sums()) {
        prop_assert_eq!(answer(&sum, &json!({})), value.map(Value::from), "{}", sum);
    }

    /// Of `a && b` and `a || b` an error on the left ends all, as a panic does in Rust.
    #[test]
    fn conditions_are_evaluated_in_the_order_of_rust((truth, value) in truths()) {
        prop_assert_eq!(answer(&truth, &json!({})), value.map(Value::from), "{}", truth);
    }

    #[test]
    fn a_text_is_itself(text in "\\PC{0,6}|[\0-\u{ff}\u{2028}\u{202e}\u{feff}😀'\\\\]{0,6}") {
        let same = Cel::relation("==", &Cel::text(&text), &Cel::primary("args.x"));
        prop_assert_eq!(answer(&same, &json!({"x": text})), Some(json!(true)), "{}", same);
        prop_assert!(same.to_string().chars().all(|letter| letter == ' ' || letter.is_alphanumeric() || letter.is_ascii_graphic()));
    }

    #[test]
    fn a_float_is_itself(bits in any::<u64>()) {
        let value = f64::from_bits(bits);
        let Some(literal) = Cel::float(value) else {
            return Ok(());
        };
        let same = Cel::relation("==", &literal, &Cel::primary("double(args.x)"));
        prop_assert_eq!(answer(&same, &json!({"x": value})), Some(json!(true)), "{}", same);
    }
}

#[test]
fn a_variable_is_renamed_where_its_name_is_taken() {
    let free = |wanted| variable(wanted, |name| ["row", "row_"].contains(&name));
    assert_eq!(free("tag"), "tag");
    assert_eq!(free("row"), "row__");
    assert_eq!(free("namespace"), "item");
    assert_eq!(free("größe"), "item");
    assert_eq!(free("args"), "args_");
    assert_eq!(free("null_type"), "null_type_");
}
