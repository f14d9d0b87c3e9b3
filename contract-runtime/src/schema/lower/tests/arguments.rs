//! Random arguments near the boundaries of conditions.

use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value, json};

use super::subjects::Parameter;
use super::trees::TEXTS;
use crate::contract::type_kind::TypeKind;

type Values = BoxedStrategy<Value>;

fn integers(low: i128, high: i128) -> Values {
    let near = [
        -130,
        -128,
        -3,
        0,
        4,
        7,
        101,
        127,
        256,
        low,
        high,
        1 << 53,
        1 << 63,
    ];
    let near = (select(near.to_vec()), -2..3_i128).prop_map(|(at, by)| at.saturating_add(by));
    let wide = prop_oneof![near, -5..9_i128].prop_filter_map("a number of JSON", |value| {
        super::super::normal::integer(value)
    });
    let small = (-4..9_i32).prop_map(|value| json!(f64::from(value)));
    prop_oneof![8 => wide, 1 => small].boxed()
}

fn floats() -> Values {
    let at = [
        0.0,
        0.1,
        0.3,
        1.0,
        2.5,
        -1.5,
        100.0,
        1e-45,
        1e-46,
        16_777_216.0,
        16_777_217.0,
        16_777_218.0,
        1e9,
        9_007_199_254_740_992.0,
        -9_007_199_254_740_992.0,
        3.402_823_466_385_288_6e38,
    ];
    let steps = |value: f64| {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the neighbours of the nearest"
        )]
        let single = value as f32;
        vec![
            value,
            value.next_up(),
            value.next_down(),
            single.into(),
            single.next_up().into(),
            single.next_down().into(),
            f64::midpoint(single.into(), single.next_up().into()),
        ]
    };
    let near: Vec<Value> = at
        .into_iter()
        .flat_map(steps)
        .map(|value| json!(value))
        .collect();
    let whole = [
        0,
        1,
        2,
        100,
        (1_u64 << 53) - 1,
        1 << 53,
        (1 << 53) + 1,
        (1 << 53) + 2,
        (1 << 53) + 3,
    ];
    let whole = select(whole.to_vec()).prop_map(|value| json!(value));
    let edges = select(vec![
        json!(f64::MAX),
        json!(f64::MIN),
        json!(1e300),
        json!(-0.0),
    ]);
    prop_oneof![6 => select(near), 2 => whole, 1 => edges].boxed()
}

fn values(kind: TypeKind) -> Values {
    match kind {
        TypeKind::Bool => any::<bool>().prop_map(Value::Bool).boxed(),
        TypeKind::Integer { low, high } => integers(low, high),
        TypeKind::Float { .. } => floats(),
        TypeKind::Text => prop_oneof![
            select(TEXTS.to_vec()).prop_map(str::to_owned),
            "[abc.é日\n]{0,6}",
            "[0-9]{1,4}"
        ]
        .prop_map(Value::String)
        .boxed(),
        TypeKind::Character => "[abé日]".prop_map(Value::String).boxed(),
        TypeKind::List(item) => prop::collection::vec(values(*item), 0..6)
            .prop_map(Value::Array)
            .boxed(),
        TypeKind::Optional(content) => {
            prop_oneof![1 => Just(Value::Null), 3 => values(*content)].boxed()
        }
        TypeKind::Opaque => select(vec!["very-fast", "slow", "off", "A", "B"])
            .prop_map(|name| json!(name))
            .boxed(),
    }
}

/// Objects of arguments, some of which are left out; not all are of their types.
pub(super) fn arguments(parameters: &[&Parameter]) -> BoxedStrategy<Map<String, Value>> {
    let each: Vec<_> = parameters
        .iter()
        .map(|one| {
            let name = one.name.to_owned();
            (Just(name), prop::option::weighted(0.85, values(one.kind)))
        })
        .collect();
    each.prop_map(|all| {
        let given = all.into_iter();
        given
            .filter_map(|(name, value)| Some((name, value?)))
            .collect()
    })
    .boxed()
}
