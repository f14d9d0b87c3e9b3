//! Intersections of keywords, checked by what they accept.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::super::fragment::{Keywords, conjoin};

fn keywords(value: Value) -> Keywords {
    serde_json::from_value(value).unwrap()
}

fn any_keywords() -> impl Strategy<Value = Value> {
    let number = || {
        prop_oneof![
            (-3..6_i64).prop_map(|n| json!(n)),
            Just(json!(2.5)),
            Just(json!(1.0))
        ]
    };
    let scalar = || {
        prop_oneof![
            number(),
            Just(json!("a")),
            Just(Value::Null),
            Just(json!(true))
        ]
    };
    let leaf = prop_oneof![
        number().prop_map(|n| json!({"minimum": n})),
        number().prop_map(|n| json!({"maximum": n})),
        number().prop_map(|n| json!({"exclusiveMinimum": n})),
        number().prop_map(|n| json!({"exclusiveMaximum": n})),
        (1..5_u64).prop_map(|n| json!({"multipleOf": n})),
        (0..3_u64).prop_map(|n| json!({"minLength": n})),
        (0..3_u64).prop_map(|n| json!({"maxItems": n})),
        scalar().prop_map(|v| json!({"const": v})),
        prop::collection::vec(scalar(), 1..4).prop_map(|v| json!({"enum": v})),
        prop::sample::subsequence(vec!["integer", "null", "string", "array", "boolean"], 1..=5)
            .prop_map(|v| json!({"type": v})),
        scalar().prop_map(|v| json!({"not": {"const": v}})),
        Just(json!({"not": {"type": "null"}})),
        Just(json!({"not": {}})),
        Just(json!({"pattern": "a"})),
        Just(json!({"anyOf": [{"type": "null"}, {"type": "string"}]})),
        number().prop_map(|n| json!({"items": {"minimum": n}})),
        number().prop_map(|n| json!({"contains": {"maximum": n}})),
        Just(json!({"allOf": [{"minimum": 1}, {"not": {"const": 2}}]})),
    ];
    prop::collection::vec(leaf, 1..4).prop_map(|all| {
        let mut joined = Keywords::new();
        for one in all {
            joined.extend(keywords(one));
        }
        Value::Object(joined)
    })
}

fn values() -> Vec<Value> {
    let mut values = vec![
        json!(null),
        json!(true),
        json!(false),
        json!("a"),
        json!("b"),
        json!(""),
        json!("ab"),
    ];
    values.extend((-4..8).map(|n| json!(f64::from(n) / 2.0)));
    values.extend((-4..14).map(|n| json!(n)));
    values.extend([
        json!([]),
        json!([1]),
        json!([null]),
        json!([3, -1]),
        json!([0, 5, 2]),
    ]);
    values
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_merged_accepts_what_both_accept(parts in prop::collection::vec(any_keywords(), 2..4)) {
        let mut merged = Keywords::new();
        for part in &parts {
            conjoin(&mut merged, keywords(part.clone()));
        }
        let merged = Value::Object(merged);
        prop_assert!(jsonschema::meta::is_valid(&merged), "{merged}");
        let judge = |schema: &Value| jsonschema::draft202012::new(schema).unwrap();
        let (each, merged_judge): (Vec<_>, _) = (parts.iter().map(judge).collect(), judge(&merged));
        for value in values() {
            let both = each.iter().all(|one| one.is_valid(&value));
            prop_assert_eq!(merged_judge.is_valid(&value), both, "{} {:?} {}", value, parts, merged);
        }
    }
}
