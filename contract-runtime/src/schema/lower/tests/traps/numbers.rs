//! Integers and floats.

use super::*;
use crate::contract::expression::{Comparison, Operation};
use crate::contract::type_kind::{Container, Shape, UnknownKind as _, kind};
use crate::schema::lower::tests::subjects::parameter;
use crate::schema::lower::tests::subjects::*;

#[test]
fn a_step_that_doubles_cannot_hold_is_told() {
    static BY: Expression = Expression::Compare(
        Comparison::Equal,
        &Expression::Arithmetic(
            Operation::Remainder,
            &Expression::Parameter("n"),
            &Expression::Integer((1 << 53) + 1),
        ),
        &Expression::Integer(0),
    );
    let tool = tool(&[&parameter!("n": u64)]);
    let published = lower(&[pre(BY)], &tool.subjects, &tool.input);
    assert_eq!(published.conditions[0].lowering(), Lowering::Described);
}

#[test]
fn bounds_of_integers_are_inclusive() {
    let count = parameter!("x": i32);
    let range = |low: i64, high: i64| json!({"type": "integer", "minimum": low, "maximum": high});
    let (least, most) = (i64::from(i32::MIN), i64::from(i32::MAX));
    exact(&count, is!(More, &Integer(0)), range(1, most));
    exact(&count, is!(AtLeast, &Integer(0)), range(0, most));
    exact(&count, is!(Less, &Integer(10)), range(least, 9));
    exact(&count, is!(AtMost, &Integer(10)), range(least, 10));
    exact(&count, Compare(Less, &Integer(3), X), range(4, most));
    exact(&count, Not(&is!(More, &Integer(10))), range(least, 10));
}

#[test]
fn the_tightest_of_several_bounds_stays() {
    let small = parameter!("x": u8);
    let conditions = [
        And(&is!(More, &Integer(2)), &is!(Less, &Integer(100))),
        is!(AtMost, &Integer(40)),
        is!(AtLeast, &Integer(1)),
    ];
    let all = shown(&small, &conditions);
    assert_eq!(all.lowering, Lowering::Exact);
    assert_eq!(
        all.keywords,
        json!({"type": "integer", "minimum": 3, "maximum": 40})
    );
}

#[test]
fn a_bound_beyond_the_type_is_no_bound_or_none_at_all() {
    let small = parameter!("x": u8);
    let own = plain(&small);
    exact(&small, is!(AtMost, &Integer(255)), own.clone());
    exact(&small, is!(AtLeast, &Integer(0)), own.clone());
    exact(&small, is!(NotEqual, &Integer(256)), own);
    let never = json!({"type": "integer", "minimum": 0, "maximum": 255, "not": {}});
    exact(&small, is!(More, &Integer(255)), never.clone());
    exact(&small, is!(Less, &Integer(0)), never.clone());
    exact(&small, is!(Equal, &Integer(300)), never);
}

#[test]
fn unlike_an_end_of_the_type_is_a_bound() {
    let small = parameter!("x": u8);
    let range = |low, high| json!({"type": "integer", "minimum": low, "maximum": high});
    exact(&small, is!(NotEqual, &Integer(0)), range(1, 255));
    exact(&small, is!(NotEqual, &Integer(255)), range(0, 254));
    let conditions = [is!(NotEqual, &Integer(3)), is!(NotEqual, &Integer(5))];
    let not = shown(&small, &conditions).keywords["not"].clone();
    assert_eq!(not, json!({"enum": [3, 5]}));
}

#[test]
fn integers_beyond_two_to_the_53_are_not_rounded() {
    let big = parameter!("x": u64);
    let bound = 9_007_199_254_740_993;
    let range = json!({"type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_993_u64});
    exact(
        &big,
        is!(AtMost, &Integer(9_007_199_254_740_993)),
        range.clone(),
    );
    let shown = shown(&big, &[is!(AtMost, &Integer(9_007_199_254_740_993))]);
    assert_eq!(shown.keywords["maximum"].as_u64(), Some(bound));
    let last = json!({"type": "integer", "minimum": u64::MAX, "maximum": u64::MAX});
    exact(&big, is!(More, &Integer(18_446_744_073_709_551_614)), last);
}

#[test]
fn what_no_json_number_holds_is_told() {
    let huge = parameter!("x": u128);
    described(&huge, is!(AtMost, &Integer(1 << 100)));
    described(&huge, is!(Equal, &Integer(1 << 64)));
    // `Expression::u128` keeps what lies beyond at the far end, so that it is no bound that anybody wrote.
    described(&huge, is!(More, &Integer(i128::MAX)));
    let low = shown(&huge, &[is!(More, &Integer(4))]);
    assert_eq!(
        (low.lowering, &low.keywords["minimum"]),
        (Lowering::Exact, &json!(5))
    );
}

#[test]
fn constants_are_computed_as_rust_does() {
    const LIMIT: &Expression = &Named {
        text: "LIMIT",
        value: || Some(json!(7)),
    };
    const HOURS: &Expression = &Arithmetic(Operation::Multiply, &Integer(24), &Integer(60));
    let range = |high: i128| json!({"type": "integer", "minimum": 0, "maximum": i64::try_from(high).unwrap()});
    exact(&parameter!("x": u16), is!(AtMost, HOURS), range(1440));
    // In a `u8` this sum panics or wraps, so nobody knows what is compared.
    described(&parameter!("x": u8), is!(AtMost, HOURS));
    described(
        &parameter!("x": u16),
        is!(
            AtMost,
            &Arithmetic(Operation::Remainder, &Integer(1), &Integer(0))
        ),
    );
    exact(&parameter!("x": u16), is!(AtMost, LIMIT), range(7));
    described(
        &parameter!("x": u16),
        is!(
            AtMost,
            &Named {
                text: "gone()",
                value: || panic!("no limit")
            }
        ),
    );
    described(
        &parameter!("x": u16),
        is!(
            AtMost,
            &Named {
                text: "HIDDEN",
                value: || None
            }
        ),
    );
}

#[test]
fn a_float_constant_is_compared_in_the_width_it_may_have() {
    const LIMIT: &Expression = &Named {
        text: "LIMIT",
        value: || Some(json!(f64::from(0.1_f32))),
    };
    // As an `f32` it is the same as the literal, and as an `f64` it is not.
    described(
        &parameter!("x": f32),
        Or(&Compare(Equal, LIMIT, &Float(0.1)), &is!(Less, &Float(0.0))),
    );
    let ratio = parameter!("x": f64);
    exact(
        &ratio,
        And(&Compare(Less, LIMIT, &Float(0.2)), &is!(Less, &Float(0.0))),
        json!({"type": "number", "exclusiveMaximum": 0}),
    );
}

#[test]
fn terms_with_a_parameter_are_not_moved() {
    const SUM: &Expression = &Arithmetic(Operation::Add, X, &Integer(1));
    described(&parameter!("x": u8), Compare(AtMost, SUM, &Integer(10)));
    described(
        &parameter!("x": i32),
        Compare(More, &Negative(X), &Integer(10)),
    );
}

#[test]
fn multiples_merge_to_their_common_multiple() {
    const BY_4: &Expression = &Arithmetic(Operation::Remainder, X, &Integer(4));
    const BY_6: &Expression = &Arithmetic(Operation::Remainder, X, &Integer(6));
    let count = parameter!("x": i32);
    let conditions = [
        Compare(Equal, BY_4, &Integer(0)),
        Compare(Equal, BY_6, &Integer(0)),
    ];
    let all = shown(&count, &conditions);
    assert_eq!(
        (all.lowering, &all.keywords["multipleOf"]),
        (Lowering::Exact, &json!(12))
    );
    let odd = shown(&count, &[Compare(NotEqual, BY_4, &Integer(0))]);
    assert_eq!(
        (odd.lowering, &odd.keywords["not"]),
        (Lowering::Exact, &json!({"multipleOf": 4}))
    );
    described(&count, Compare(Equal, BY_4, &Integer(1)));
    described(&count, Compare(Less, BY_4, &Integer(2)));
}

#[test]
fn the_remainder_of_a_negative_number_is_negative() {
    const BY_2: &Expression = &Arithmetic(Operation::Remainder, X, &Integer(2));
    described(&parameter!("x": i32), Compare(Equal, BY_2, &Integer(1)));
    let odd = shown(&parameter!("x": u32), &[Compare(Equal, BY_2, &Integer(1))]);
    assert_eq!(
        (odd.lowering, &odd.keywords["not"]),
        (Lowering::Exact, &json!({"multipleOf": 2}))
    );
}

#[test]
fn a_division_by_nothing_is_told() {
    const BY_0: &Expression = &Arithmetic(Operation::Remainder, X, &Integer(0));
    const BY_LESS: &Expression = &Arithmetic(Operation::Remainder, X, &Integer(-1));
    described(&parameter!("x": i32), Compare(Equal, BY_0, &Integer(0)));
    described(&parameter!("x": i32), Compare(Equal, BY_LESS, &Integer(0)));
}

#[test]
fn bounds_of_floats_are_exclusive_where_they_are() {
    let ratio = parameter!("x": f64);
    exact(
        &ratio,
        is!(More, &Float(0.0)),
        json!({"type": "number", "exclusiveMinimum": 0}),
    );
    exact(
        &ratio,
        is!(AtMost, &Float(0.3)),
        json!({"type": "number", "maximum": 0.3}),
    );
    exact(
        &ratio,
        is!(NotEqual, &Float(-0.0)),
        json!({"type": "number", "not": {"const": 0}}),
    );
    let conditions = [
        is!(AtLeast, &Float(1.0)),
        is!(More, &Float(1.0)),
        is!(More, &Float(0.0)),
    ];
    let all = shown(&ratio, &conditions).keywords;
    assert_eq!(all, json!({"type": "number", "exclusiveMinimum": 1}));
}

#[test]
fn every_json_number_is_finite() {
    let ratio = parameter!("x": f64);
    exact(&ratio, IsFinite(X), plain(&ratio));
    exact(&ratio, is!(Less, &Float(f64::INFINITY)), plain(&ratio));
    exact(&ratio, is!(AtMost, &Float(f64::MAX)), plain(&ratio));
    exact(
        &ratio,
        Not(&IsFinite(X)),
        json!({"type": "number", "not": {}}),
    );
    // Whatever is compared with NaN, and with whatever result, nothing but `!=` holds.
    exact(&ratio, is!(NotEqual, &Float(f64::NAN)), plain(&ratio));
    exact(&ratio, Not(&is!(Equal, &Float(f64::NAN))), plain(&ratio));
    exact(
        &ratio,
        is!(Less, &Float(f64::NAN)),
        json!({"type": "number", "not": {}}),
    );
}

#[test]
fn a_large_float_is_what_several_integers_are_read_as() {
    let ratio = parameter!("x": f64);
    let bound = 9_007_199_254_740_992.0;
    partial(
        &ratio,
        is!(AtMost, &Float(9_007_199_254_740_992.0)),
        json!({"type": "number", "maximum": bound + 2.0}),
    );
    let one_more: f64 = serde_json::from_str("9007199254740993").unwrap();
    assert!(one_more <= bound, "it is read as the bound itself");
}

#[test]
fn a_small_float_is_rounded_before_it_is_compared() {
    let single = parameter!("x": f32);
    let maximum = |condition| shown(&single, &[condition]);
    let at_most = maximum(is!(AtMost, &Float(0.1)));
    assert_eq!(at_most.lowering, Lowering::Partial);
    let bound = at_most.keywords["maximum"].as_f64().unwrap();
    // This is more than 0.1, and read as the same `f32`.
    let read: f32 = serde_json::from_str("0.1000000015").unwrap();
    assert!(read <= 0.1 && bound >= 0.100_000_001_5, "{bound}");
    let less = maximum(is!(Less, &Float(0.1))).keywords;
    assert_eq!(less["exclusiveMaximum"], json!(0.1));
    assert_eq!(
        maximum(is!(AtMost, &Float(3.402_823_466_385_288_6e38))).lowering,
        Lowering::Exact
    );
    // As an `f64` this lies half-way between two `f32`, so that the digits decide which of them was meant.
    let tie = maximum(is!(Equal, &Float(16_777_217.0))).keywords;
    assert!(tie["minimum"].as_f64().unwrap() < 16_777_216.0, "{tie}");
    assert!(tie["maximum"].as_f64().unwrap() > 16_777_218.0, "{tie}");
}
