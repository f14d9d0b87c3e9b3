//! Random conditions over the parameters of the reference.

use proptest::prelude::*;

use crate::contract::expression::{Comparison, Expression, Operation};

type Tree = &'static Expression;

pub(super) fn leak(expression: Expression) -> Tree {
    Box::leak(Box::new(expression))
}

fn comparison() -> impl Strategy<Value = Comparison> {
    prop::sample::select(vec![
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::AtMost,
        Comparison::More,
        Comparison::AtLeast,
    ])
}

fn compared(left: BoxedStrategy<Tree>, right: BoxedStrategy<Tree>) -> BoxedStrategy<Tree> {
    (comparison(), left, right, any::<bool>())
        .prop_map(|(comparison, left, right, mirrored)| {
            leak(if mirrored {
                Expression::Compare(comparison, right, left)
            } else {
                Expression::Compare(comparison, left, right)
            })
        })
        .boxed()
}

fn integers() -> BoxedStrategy<Tree> {
    (-3..=3_i128)
        .prop_map(|value| leak(Expression::Integer(value)))
        .boxed()
}

fn floats() -> BoxedStrategy<Tree> {
    prop::sample::select(vec![
        -1.0,
        -0.0,
        0.0,
        0.1,
        0.5,
        1.0,
        f64::INFINITY,
        f64::NAN,
    ])
    .prop_map(|value| leak(Expression::Float(value)))
    .boxed()
}

fn parameter(names: &[&'static str]) -> BoxedStrategy<Tree> {
    prop::sample::select(names.to_vec())
        .prop_map(|name| leak(Expression::Parameter(name)))
        .boxed()
}

fn texts() -> BoxedStrategy<Tree> {
    let (long, longer) = ("aaaaaaaaaaaaaaaa", "aaaaaaaaaaaaaaab");
    prop::sample::select(vec!["", "a", "ab", "b", "é", "😀", long, longer])
        .prop_map(|text| leak(Expression::Text(text)))
        .boxed()
}

fn among(of: BoxedStrategy<Tree>, list: BoxedStrategy<Tree>) -> BoxedStrategy<Tree> {
    (of, prop::collection::vec(list, 1..4))
        .prop_map(|(of, list)| {
            let list: Vec<Expression> = list.into_iter().copied().collect();
            leak(Expression::Among(of, Vec::leak(list)))
        })
        .boxed()
}

/// A number of the given places against a constant, or against another of them.
fn numbers(of: BoxedStrategy<Tree>) -> BoxedStrategy<Tree> {
    let remainder = (of.clone(), 1..4_i128).prop_map(|(of, by)| {
        let by = leak(Expression::Integer(by));
        leak(Expression::Arithmetic(Operation::Remainder, of, by))
    });
    prop_oneof![
        4 => compared(of.clone(), integers()),
        1 => compared(of.clone(), of.clone()),
        1 => compared(remainder.boxed(), integers()),
        1 => among(of, integers()),
    ]
    .boxed()
}

fn integer() -> BoxedStrategy<Tree> {
    let length = prop_oneof![
        Just(leak(Expression::Length(&Expression::Parameter("text")))),
        Just(leak(Expression::Length(&Expression::Parameter("list")))),
        Just(leak(Expression::Characters(&Expression::Parameter("text")))),
    ];
    prop_oneof![numbers(parameter(&["a", "b"])), numbers(length.boxed()),].boxed()
}

fn leaf() -> BoxedStrategy<Tree> {
    let float = parameter(&["float", "other"]);
    let single = parameter(&["single"]);
    let text = parameter(&["text"]);
    let affix = (0..3, texts()).prop_map(|(kind, part)| {
        let text = &Expression::Parameter("text");
        leak(match kind {
            0 => Expression::StartsWith(text, part),
            1 => Expression::EndsWith(text, part),
            _ => Expression::Contains(text, part),
        })
    });
    let finite = parameter(&["float", "single"]).prop_map(|of| leak(Expression::IsFinite(of)));
    let flag = parameter(&["flag"]);
    let truth = any::<bool>().prop_map(|value| leak(Expression::Bool(value)));
    prop_oneof![
        4 => integer(),
        1 => compared(float.clone(), floats()),
        1 => compared(float.clone(), float),
        1 => compared(single, floats()),
        1 => compared(text.clone(), texts()),
        1 => among(text, texts()),
        1 => affix,
        1 => finite,
        1 => flag.clone(),
        1 => compared(flag, truth.boxed()),
        1 => Just(leak(Expression::IsSome(&Expression::Parameter("maybe")))),
        1 => inside(),
        1 => parameter(&["a", "b"]).prop_map(|item| leak(Expression::Contains(&Expression::Parameter("list"), item))),
    ]
    .boxed()
}

/// What is said of the inside of a list or an optional.
fn inside() -> BoxedStrategy<Tree> {
    let of = Just(leak(Expression::Variable("x"))).boxed();
    let other = parameter(&["a"]);
    let body = prop_oneof![
        4 => numbers(of.clone()),
        1 => compared(of, other.clone()),
        1 => compared(other, integers()),
    ];
    let body = combined(body.boxed());
    (0..6, body)
        .prop_map(|(kind, body)| {
            let (maybe, list) = (
                &Expression::Parameter("maybe"),
                &Expression::Parameter("list"),
            );
            leak(match kind {
                0 => Expression::SomeAnd(maybe, "x", body),
                1 => Expression::NoneOr(maybe, "x", body),
                2 => Expression::All(maybe, "x", body),
                3 => Expression::Any(maybe, "x", body),
                4 => Expression::All(list, "x", body),
                _ => Expression::Any(list, "x", body),
            })
        })
        .boxed()
}

fn combined(leaf: BoxedStrategy<Tree>) -> BoxedStrategy<Tree> {
    leaf.prop_recursive(3, 6, 2, |inner| {
        prop_oneof![
            (inner.clone(), inner.clone()).prop_map(|(a, b)| leak(Expression::And(a, b))),
            (inner.clone(), inner.clone()).prop_map(|(a, b)| leak(Expression::Or(a, b))),
            inner.prop_map(|of| leak(Expression::Not(of))),
        ]
    })
    .boxed()
}

/// Any condition over at most a few parameters, so that all their values can be gone through.
pub(super) fn conditions() -> BoxedStrategy<Tree> {
    combined(leaf())
}

/// Conjunctions and negations of bounds on one integer.
pub(super) fn bounds() -> BoxedStrategy<Tree> {
    let of = parameter(&["a"]);
    let plain = compared(of.clone(), integers());
    let either = prop_oneof![plain.clone(), among(of, integers())];
    prop_oneof![
        3 => either.clone(),
        1 => either.clone().prop_map(|of| leak(Expression::Not(of))),
        1 => (either.clone(), either).prop_map(|(a, b)| leak(Expression::And(a, b))),
    ]
    .boxed()
}
