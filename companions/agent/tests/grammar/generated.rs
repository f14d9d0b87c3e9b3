//! Registries that nobody wrote.

use contract_agent::Constraint;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use serde_json::{Map, Value, json};

use crate::exact::compare;
use crate::sampled::is_left_to_the_call;
use crate::tools::{Random, arguments, dynamic, judge, sample};

/// A schema of what llguidance enforces, and of `not`.
fn schema(random: &mut Random, depth: usize) -> Value {
    match random.below(if depth == 0 { 5 } else { 9 }) {
        0 => integer(random),
        1 => number(random),
        2 => text(random),
        3 => json!({"enum": ([["a", "b\"\u{e9}"], ["", "c"]][random.below(2)])}),
        4 => json!({"type": ["boolean", "null"]}),
        5 => json!({
            "type": "array",
            "items": schema(random, depth - 1),
            "minItems": random.below(3),
            "maxItems": 2 + random.below(2),
        }),
        6 => json!({"$ref": "#/$defs/D"}),
        7 => {
            json!({"anyOf": [schema(random, depth - 1), schema(random, depth - 1), {"type": "null"}]})
        }
        _ => object(random, depth),
    }
}

fn integer(random: &mut Random) -> Value {
    let low = i64::try_from(random.below(2_000)).expect("small") - 1_000;
    let high = low + [0, 7, 90, 1_234, 99_999][random.below(5)];
    match random.below(5) {
        0 => json!({"type": "integer", "minimum": low}),
        1 => json!({"type": "integer", "maximum": high}),
        2 => json!({"type": "integer", "exclusiveMinimum": low, "maximum": high + 1}),
        3 => {
            json!({"type": "integer", "minimum": low, "maximum": high, "multipleOf": ([1, 2, 4, 5][random.below(4)])})
        }
        _ => json!({"type": "integer", "minimum": low, "maximum": high, "not": {"const": low + 1}}),
    }
}

fn number(random: &mut Random) -> Value {
    let quarters = |count: usize| f64::from(u16::try_from(count).expect("small")) / 4.0;
    let low = quarters(random.below(400)) - 50.0;
    let high = low + quarters(1 + random.below(200));
    match random.below(4) {
        0 => json!({"type": "number", "minimum": low, "maximum": high}),
        1 => json!({"type": "number", "exclusiveMinimum": low, "exclusiveMaximum": high}),
        2 => json!({"type": "number", "minimum": low, "not": {"const": high}}),
        _ => json!({"type": "number"}),
    }
}

fn text(random: &mut Random) -> Value {
    let min = random.below(3);
    match random.below(4) {
        0 => json!({"type": "string", "minLength": min, "maxLength": min + random.below(4)}),
        1 => {
            json!({"type": "string", "pattern": (["^[a-c]+$", "x", "^\\d{2}(-[A-Z])?$", "c$"][random.below(4)])})
        }
        2 => json!({"type": "string", "pattern": "^[a-f]*$", "minLength": min, "maxLength": 4}),
        _ => json!({"type": "string"}),
    }
}

fn object(random: &mut Random, depth: usize) -> Value {
    let names = ["first", "second", "third", "\u{fc}n\"amed"];
    let names = &names[..=random.below(4)];
    let members: Map<_, _> = names
        .iter()
        .map(|name| ((*name).to_owned(), schema(random, depth.saturating_sub(1))))
        .collect();
    let required: Vec<_> = names.iter().filter(|_| random.below(2) == 0).collect();
    json!({"type": "object", "properties": members, "required": required, "additionalProperties": false})
}

fn input(random: &mut Random) -> Value {
    let mut input = object(random, 2);
    // It refers to itself, behind a list that may be empty.
    input["$defs"] = json!({"D": {"anyOf": [
        schema(random, 0),
        {"type": "array", "items": {"$ref": "#/$defs/D"}, "maxItems": 2},
    ]}});
    input
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, rng_seed: RngSeed::Fixed(53), ..ProptestConfig::default() })]

    #[test]
    fn a_call_accepts_every_sampled_text_as_far_as_it_is_enforced(seed: u64) {
        let mut random = Random::new(seed);
        let Some(registry) = dynamic(input(&mut random)) else { return Ok(()) };
        let Some((_, mask)) = arguments(&registry, "it") else { return Ok(()) };
        for _ in 0..6 {
            let Some(text) = sample(&mask, &mut random) else { continue };
            if let Err(error) = judge(&registry, "it", &text) {
                prop_assert!(is_left_to_the_call(&error), "{text}: {error}");
            }
        }
    }

    #[test]
    fn grammars_accept_every_near_miss_that_a_call_accepts(seed: u64) {
        let mut random = Random::new(seed);
        let Some(registry) = dynamic(input(&mut random)) else { return Ok(()) };
        compare(&registry, "it", 1, &mut random);
    }
}

#[test]
fn llguidance_finds_a_contradiction() {
    let constraint =
        Constraint::from_schema(json!({"type": "integer", "minimum": 3, "maximum": 2}));
    let error = constraint.expect("a schema").recognizer().unwrap_err();
    assert!(
        error.to_string().contains("Unsatisfiable schema"),
        "{error}"
    );
}
