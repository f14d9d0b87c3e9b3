//! Contracts that no compiler refuses, and that are wrong all the same.

#![allow(
    unused_variables,
    clippy::needless_pass_by_value,
    reason = "the bodies do nothing"
)]

use std::borrow::Cow;
use std::sync::atomic::{AtomicU32, Ordering};

use contract_runtime::prelude::*;
use contract_runtime::{DynamicSpec, ToolFunction};
use contract_verify::{Fault, Layer, Problem, Verifier};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer};
use serde_json::json;

#[track_caller]
fn only<F: ToolFunction<S>, S>(tool: F) -> Problem {
    let registry = Registry::builder().tool(tool).build().unwrap();
    let report = Verifier::new(registry).run();
    let problems: Vec<_> = report.problems().cloned().collect();
    let [problem] = problems.as_slice() else {
        panic!("{} problems: {report}", problems.len());
    };
    println!("{report}");
    problem.clone()
}

/// Take part of a text.
#[tool]
#[pre(i64::from(count) >= 0)]
fn never_fails(count: u32) {}

#[test]
fn a_condition_that_refuses_nothing_is_found() {
    let problem = only(never_fails);
    assert_eq!(
        (problem.layer, problem.clause.as_deref()),
        (Layer::Meaning, Some("never_fails.pre[0]"))
    );
    let Fault::NeverFails { tried, samples } = &problem.fault else {
        panic!("{problem}");
    };
    assert!(*tried > 200 && samples.len() == 4);
}

/// Take what nobody has.
#[tool]
#[pre(text.trim().is_empty() && text.to_lowercase().contains("k"))]
fn never_holds(text: String) {}

#[test]
fn a_condition_that_accepts_nothing_is_found() {
    let problem = only(never_holds);
    assert!(
        matches!(problem.fault, Fault::NeverHolds { tried, .. } if tried > 200),
        "{problem}"
    );
    assert_eq!(problem.layer, Layer::Meaning);
}

fn checksum(text: &str) -> u32 {
    text.bytes().fold(7, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(byte.into())
    })
}

/// Take six texts that are seldom right at the same time.
#[tool]
#[pre(checksum(&one) % 12 == 0)]
#[pre(checksum(&two) % 12 == 0)]
#[pre(checksum(&three) % 12 == 0)]
#[pre(checksum(&four) % 12 == 0)]
#[pre(checksum(&five) % 12 == 0)]
#[pre(checksum(&six) % 12 == 0)]
fn too_rare(one: String, two: String, three: String, four: String, five: String, six: String) {}

#[test]
fn conditions_that_nearly_never_hold_together_are_found() {
    let problem = only(too_rare);
    let Fault::TooFewAccepted {
        tried,
        accepted,
        needed,
        ..
    } = problem.fault
    else {
        panic!("{problem}");
    };
    assert!(accepted < needed && tried > 500, "{problem}");
}

/// Take a number that an author has shown.
#[tool(read_only)]
#[pre(checksum(&serial) == checksum("QX-8841-77"))]
fn shown(#[arg(example = "QX-8841-77")] serial: String) {}

#[test]
fn an_example_helps_where_chance_does_not() {
    let registry = Registry::builder().tool(shown).build().unwrap();
    let report = Verifier::new(registry).run();
    let never_holds = |problem: &Problem| matches!(problem.fault, Fault::NeverHolds { .. });
    assert!(!report.problems().any(never_holds), "{report}");
}

/// Sum two numbers that may be too large for it.
#[tool]
#[pre(left.checked_add(right).unwrap() < 1_000)]
fn panics(left: i32, right: i32) {}

#[test]
fn a_condition_that_panics_is_found_at_its_smallest() {
    let problem = only(panics);
    assert_eq!(problem.fault, Fault::ConditionPanicked);
    let input = problem.input.unwrap();
    let sum = input["left"].as_i64().unwrap() + input["right"].as_i64().unwrap();
    let next = [i64::from(i32::MAX) + 1, i64::from(i32::MIN) - 1];
    assert!(next.contains(&sum), "{input}");
}

static ASKED: AtomicU32 = AtomicU32::new(0);

/// Hold two times of three, in no order that an input could fall into step with (Fibonacci hashing).
#[tool]
#[pre(number == 0 || ASKED.fetch_add(1, Ordering::Relaxed).wrapping_mul(0x9E37_79B9) >> 28 > 4)]
fn unsteady(number: u8) {}

#[test]
fn a_condition_with_an_effect_is_found() {
    let problem = only(unsteady);
    assert_eq!(problem.fault, Fault::Unsteady);
    assert_eq!(problem.clause.as_deref(), Some("unsteady.pre[0]"));
}

/// A number that is even, which its schema does not say.
#[derive(Debug)]
struct Even(u32);

impl<'de> Deserialize<'de> for Even {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let number = u32::deserialize(from)?;
        if number % 2 == 0 || number < 100 {
            return Ok(Self(number));
        }
        Err(serde::de::Error::custom("not even"))
    }
}

impl JsonSchema for Even {
    fn schema_name() -> Cow<'static, str> {
        "Even".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({"type": "integer", "minimum": 0, "maximum": u32::MAX})
    }
}

/// Take an even number.
#[tool(read_only)]
fn take(even: Even) -> u32 {
    even.0
}

#[test]
fn a_type_that_refuses_what_its_schema_accepts_is_found() {
    let problem = only(take);
    assert!(
        matches!(problem.fault, Fault::Types { schema: true, .. }),
        "{problem}"
    );
    assert_eq!(problem.input, Some(json!({"even": 101})));
}

#[derive(Deserialize, JsonSchema)]
#[allow(dead_code, reason = "there is no value of it")]
struct Endless {
    next: Box<Endless>,
    other: Option<u8>,
}

/// Go on for ever.
#[tool(read_only)]
fn go_on(from: Endless) {}

#[test]
fn a_type_without_values_is_found_and_ends() {
    assert!(matches!(
        only(go_on).fault,
        Fault::TooFewAccepted { accepted: 0, .. }
    ));
}

fn held(_: u32) -> Option<u32> {
    None
}

/// Pay, if there is such an account.
#[tool(read_only)]
#[pre(cents > 0 && account < 100)]
#[given(held = held(account), else "there is no account {account}")]
#[pre(cents <= held, "there are only {held} cents")]
fn pay_from(account: u32, cents: u32) {}

/// An example cannot help where nothing is to be found.
#[test]
fn a_lookup_that_finds_nothing_names_the_setup() {
    let problem = only(pay_from);
    assert!(
        matches!(
            problem.fault,
            Fault::TooFewAccepted {
                accepted: 0,
                ungiven: 20..,
                ..
            }
        ),
        "{problem}"
    );
    let text = problem.to_string();
    assert!(text.contains("`#[verify(setup = ..)]`"), "{text}");
    assert!(!text.contains("example"), "{text}");
}

#[test]
fn a_dynamic_condition_that_refuses_nothing_is_found() {
    let spec = DynamicSpec::new("keep", "Keep a number.").input_schema(json!({
        "type": "object",
        "properties": {"number": {"type": "integer", "minimum": 0}},
        "required": ["number"],
    }));
    let keep = Tool::dynamic(spec, |_| async { Ok::<_, String>(Content::text("kept")) })
        .pre("not negative", |arguments| {
            arguments["number"].as_i64() != Some(-1)
        });
    let registry = Registry::builder().with(keep).build().unwrap();
    let report = Verifier::new(registry).run();
    let problem = report.problems().next().unwrap();
    assert_eq!(problem.clause.as_deref(), Some("keep.pre[0]"));
    assert!(matches!(problem.fault, Fault::NeverFails { .. }));
}

/// Make a little more of it.
#[tool(read_only)]
#[pre((1.0..3.5).contains(&share))]
#[post(|more| *more < 3.5)]
fn a_little_more(share: f32) -> f32 {
    share + 5e-7
}

/// Keep a short note, a short list.
#[tool(read_only)]
fn keep_short(note: String, list: Vec<u32>) -> u8 {
    assert!(list.len() < 30);
    u8::try_from(note.len()).unwrap()
}

#[test]
fn neighbours_of_32_bits_and_more_than_a_byte_counts_are_tried() {
    assert!(matches!(
        only(a_little_more).fault,
        Fault::PromiseBroken { .. }
    ));
    assert!(matches!(only(keep_short).fault, Fault::BodyPanicked { .. }));
}
