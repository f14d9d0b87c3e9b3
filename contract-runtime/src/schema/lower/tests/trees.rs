//! Random predicates that would compile.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::json;

use super::subjects::{self, Parameter};
use crate::contract::expression::{Comparison, Expression, Operation};
use crate::contract::type_kind::TypeKind;

type Trees = BoxedStrategy<Expression>;

/// Numbers at which something may change; those in the range of a type are taken.
const INTEGERS: [i128; 24] = [
    -2_147_483_648,
    -129,
    -128,
    -127,
    -3,
    -1,
    0,
    1,
    2,
    3,
    5,
    7,
    100,
    126,
    127,
    254,
    255,
    4_294_967_295,
    9_007_199_254_740_992,
    9_007_199_254_740_993,
    9_223_372_036_854_775_807,
    18_446_744_073_709_551_614,
    18_446_744_073_709_551_615,
    18_446_744_073_709_551_616,
];

const FLOATS: [f64; 16] = [
    0.0,
    -0.0,
    0.1,
    0.3,
    1.0,
    2.5,
    -1.5,
    100.0,
    1e-45,
    16_777_217.0, // half-way between two `f32`
    1e9,
    9_007_199_254_740_991.0,
    9_007_199_254_740_992.0,
    9_007_199_254_740_994.0,
    -9_007_199_254_740_992.0,
    3.402_823_466_385_288_6e38,
];

pub(super) const TEXTS: [&str; 9] = ["", "a", "ab", "abc", "b.c", "é", "日本", "a\nb", "ab\n"];

const PATTERNS: [&str; 5] = ["^[a-c]+$", "b", r"^\w\W?$", "^(a|b)?$", r"\d{2,3}"];

fn keep(expression: Expression) -> &'static Expression {
    Box::leak(Box::new(expression))
}

fn comparisons() -> impl Strategy<Value = Comparison> {
    select(vec![
        Comparison::Equal,
        Comparison::NotEqual,
        Comparison::Less,
        Comparison::AtMost,
        Comparison::More,
        Comparison::AtLeast,
    ])
}

fn equalities() -> impl Strategy<Value = Comparison> {
    select(vec![Comparison::Equal, Comparison::NotEqual])
}

/// `of < with` or `with > of`.
fn compared(
    comparisons: impl Strategy<Value = Comparison> + 'static,
    of: Expression,
    with: impl Strategy<Value = Expression> + 'static,
) -> Trees {
    (comparisons, with, any::<bool>())
        .prop_map(move |(comparison, with, mirrored)| {
            let (of, with) = (keep(of), keep(with));
            if mirrored {
                Expression::Compare(comparison.mirrored(), with, of)
            } else {
                Expression::Compare(comparison, of, with)
            }
        })
        .boxed()
}

fn integers(low: i128, high: i128) -> Trees {
    let fitting: Vec<i128> = INTEGERS
        .into_iter()
        .chain([low, high])
        .filter(|one| (low..=high).contains(one))
        .collect();
    let literal = select(fitting).prop_map(Expression::Integer);
    let sum = (0..5_i128, 0..5_i128).prop_map(|(one, other)| {
        Expression::Arithmetic(
            Operation::Add,
            keep(Expression::Integer(one)),
            keep(Expression::Integer(other)),
        )
    });
    let named = Just(Expression::Named {
        text: "LIMIT",
        value: || Some(json!(3)),
    });
    prop_oneof![6 => literal, 1 => sum, 1 => named].boxed()
}

fn floats(single: bool) -> Trees {
    let edges = if single {
        vec![f64::INFINITY, f64::from(f32::MAX), f64::from(f32::MIN)]
    } else {
        vec![f64::INFINITY, f64::NEG_INFINITY, f64::MAX, f64::MIN]
    };
    let all: Vec<f64> = FLOATS.into_iter().chain(edges).collect();
    select(all).prop_map(Expression::Float).boxed()
}

fn texts() -> Trees {
    select(TEXTS.to_vec()).prop_map(Expression::Text).boxed()
}

fn letters() -> Trees {
    select(vec!["a", "b", "é", "日"])
        .prop_map(Expression::Text)
        .boxed()
}

fn counts() -> Trees {
    (0..6_i128).prop_map(Expression::Integer).boxed()
}

fn among(of: Expression, items: Trees) -> Trees {
    prop::collection::vec(items, 1..4)
        .prop_map(move |items| Expression::Among(keep(of), Vec::leak(items)))
        .boxed()
}

fn with_itself(of: Expression) -> Trees {
    comparisons()
        .prop_map(move |comparison| Expression::Compare(comparison, keep(of), keep(of)))
        .boxed()
}

fn number(of: Expression, low: i128, high: i128) -> Trees {
    let one = |range: std::ops::Range<i128>| {
        range.prop_map(Expression::Integer).prop_filter(
            "in the type",
            move |one| matches!(one, Expression::Integer(one) if (low..=high).contains(one)),
        )
    };
    let computed = move |operation| {
        (one(-3..8), one(-2..4), comparisons()).prop_map(move |(with, rest, comparison)| {
            let computed = Expression::Arithmetic(operation, keep(of), keep(with));
            Expression::Compare(comparison, keep(computed), keep(rest))
        })
    };
    prop_oneof![
        5 => compared(comparisons(), of, integers(low, high)),
        1 => among(of, integers(low, high)),
        2 => computed(Operation::Remainder),
        1 => computed(Operation::Add),
        1 => with_itself(of),
    ]
    .boxed()
}

fn text(of: Expression) -> Trees {
    let length = Expression::Length(keep(of));
    let characters = Expression::Characters(keep(of));
    let with = move |part: fn(&'static Expression, &'static Expression) -> Expression| {
        texts().prop_map(move |with| part(keep(of), keep(with)))
    };
    let matching = select(PATTERNS.to_vec())
        .prop_map(move |pattern| Expression::Matches(keep(of), keep(Expression::Text(pattern))));
    prop_oneof![
        2 => compared(comparisons(), length, counts()),
        2 => compared(comparisons(), characters, counts()),
        2 => compared(comparisons(), of, texts()),
        1 => among(of, texts()),
        1 => with(Expression::StartsWith),
        1 => with(Expression::EndsWith),
        1 => with(Expression::Contains),
        1 => matching,
    ]
    .boxed()
}

fn items(kind: TypeKind) -> Option<Trees> {
    Some(match kind {
        TypeKind::Bool => any::<bool>().prop_map(Expression::Bool).boxed(),
        TypeKind::Integer { low, high } => integers(low, high),
        TypeKind::Float { single } => floats(single),
        TypeKind::Text => texts(),
        TypeKind::Character => letters(),
        _ => return None,
    })
}

fn list(of: Expression, item: TypeKind, depth: u32) -> Trees {
    let length = compared(comparisons(), Expression::Length(keep(of)), counts());
    let body = condition(Expression::Variable("item"), item, depth);
    let every = body
        .clone()
        .prop_map(move |body| Expression::All(keep(of), "item", keep(body)));
    let one = body.prop_map(move |body| Expression::Any(keep(of), "item", keep(body)));
    let trees = prop_oneof![2 => length, 2 => every, 2 => one].boxed();
    match items(item) {
        Some(items) => {
            let contains = items.prop_map(move |item| Expression::Contains(keep(of), keep(item)));
            prop_oneof![4 => trees, 1 => contains].boxed()
        }
        None => trees,
    }
}

fn optional(of: Expression, content: TypeKind, depth: u32) -> Trees {
    let some = Just(Expression::IsSome(keep(of)));
    if content == TypeKind::Opaque {
        return some.boxed();
    }
    let body = condition(Expression::Variable("content"), content, depth);
    let and = body
        .clone()
        .prop_map(move |body| Expression::SomeAnd(keep(of), "content", keep(body)));
    let or = body.prop_map(move |body| Expression::NoneOr(keep(of), "content", keep(body)));
    prop_oneof![1 => some, 2 => and, 2 => or].boxed()
}

/// One test of a place.
fn test(of: Expression, kind: TypeKind, depth: u32) -> Trees {
    match kind {
        TypeKind::Bool => {
            let compared = compared(equalities(), of, any::<bool>().prop_map(Expression::Bool));
            prop_oneof![Just(of), compared].boxed()
        }
        TypeKind::Integer { low, high } => number(of, low, high),
        TypeKind::Float { single } => prop_oneof![
            6 => compared(comparisons(), of, floats(single)),
            1 => among(of, floats(single)),
            1 => Just(Expression::IsFinite(keep(of))),
            1 => with_itself(of),
        ]
        .boxed(),
        TypeKind::Text => text(of),
        TypeKind::Character => {
            prop_oneof![compared(comparisons(), of, letters()), among(of, letters())].boxed()
        }
        TypeKind::List(item) => list(of, *item, depth - 1),
        TypeKind::Optional(content) => optional(of, *content, depth - 1),
        TypeKind::Opaque => unreachable!("of the author's types only a `Native` asks"),
    }
}

/// What nobody can lower, and what is known without any argument.
fn anything() -> Trees {
    let named = |holds: bool| Expression::Named {
        text: "ENABLED",
        value: if holds {
            || Some(json!(true))
        } else {
            || Some(json!(false))
        },
    };
    prop_oneof![
        Just(Expression::Opaque("known_to(&nobody)")),
        any::<bool>().prop_map(Expression::Bool),
        any::<bool>().prop_map(named),
    ]
    .boxed()
}

fn joined(tests: Trees) -> Trees {
    tests
        .prop_recursive(3, 8, 2, |inner| {
            let pair = || (inner.clone(), inner.clone());
            prop_oneof![
                3 => pair().prop_map(|(a, b)| Expression::And(keep(a), keep(b))),
                3 => pair().prop_map(|(a, b)| Expression::Or(keep(a), keep(b))),
                2 => inner.clone().prop_map(|a| Expression::Not(keep(a))),
                1 => (inner.clone(), any::<bool>()).prop_map(|(a, b)| {
                    Expression::Compare(Comparison::Equal, keep(a), keep(Expression::Bool(b)))
                }),
            ]
        })
        .boxed()
}

fn condition(of: Expression, kind: TypeKind, depth: u32) -> Trees {
    let tests = prop_oneof![12 => test(of, kind, depth), 1 => anything()].boxed();
    if depth < 2 { tests } else { joined(tests) }
}

fn native(name: &'static str, kind: TypeKind) -> Option<Trees> {
    let tests: Vec<fn(&str) -> Option<bool>> = match name {
        "mode" => vec![subjects::quick, subjects::on],
        "plain" => vec![subjects::is_a],
        "perhaps" => vec![subjects::none_or_b],
        "chosen" => vec![subjects::some_slow],
        _ => return None,
    };
    let native = select(tests).prop_map(move |holds| Expression::Native {
        text: "asked(&of)",
        parameter: name,
        holds,
    });
    let of = Expression::Parameter(name);
    Some(match kind {
        TypeKind::Opaque => native.boxed(),
        kind => prop_oneof![native, test(of, kind, 3)].boxed(),
    })
}

/// A predicate over these parameters.
pub(super) fn predicate(parameters: &[&Parameter]) -> Trees {
    let each = parameters.iter().map(|one| {
        native(one.name, one.kind)
            .unwrap_or_else(|| test(Expression::Parameter(one.name), one.kind, 3))
    });
    let tests = proptest::strategy::Union::new(each);
    joined(prop_oneof![15 => tests, 1 => anything()].boxed())
}
