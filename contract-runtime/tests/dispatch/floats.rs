//! No number that JSON cannot carry comes in or goes out.

use std::collections::BTreeMap;

use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde::Serialize;

use crate::common::{call, ended};

/// Make a number that is none.
fn bad(kind: &str) -> f64 {
    match kind {
        "nan" => f64::NAN,
        "inf" => f64::INFINITY,
        "-inf" => f64::NEG_INFINITY,
        _ => 1.5,
    }
}

#[derive(Serialize)]
struct Deep {
    fine: Option<u8>,
    #[serde(rename = "a/b~c")]
    list: Vec<Variant>,
}

#[derive(Serialize)]
enum Variant {
    Unit,
    New(f32),
    Pair(u8, f64),
    Named { x: Option<f64> },
}

/// Give a number.
#[tool]
fn plain(kind: &str) -> f64 {
    bad(kind)
}

/// Give a small number.
#[tool]
fn small(kind: &str) -> Result<f32, String> {
    #[allow(
        clippy::cast_possible_truncation,
        reason = "what is not finite stays so"
    )]
    Ok(bad(kind) as f32)
}

/// Give a number somewhere.
#[tool]
#[allow(clippy::option_option, reason = "a form that results may have")]
fn optional(kind: &str) -> Option<Option<f64>> {
    Some(Some(bad(kind)))
}

/// Give a number in a map.
#[tool]
fn mapped(kind: &str) -> BTreeMap<&str, [f64; 2]> {
    BTreeMap::from([("x", [1.0, bad(kind)])])
}

/// Give a number deep down.
#[tool]
async fn deep(kind: &str, place: usize) -> Deep {
    let number = bad(kind);
    let mut list = vec![Variant::Unit, Variant::Unit, Variant::Unit];
    #[allow(
        clippy::cast_possible_truncation,
        reason = "what is not finite stays so"
    )]
    let variant = match place {
        0 => Variant::New(number as f32),
        1 => Variant::Pair(1, number),
        _ => Variant::Named { x: Some(number) },
    };
    list[place] = variant;
    Deep { fine: None, list }
}

/// Take a number.
#[tool]
fn taken(number: f64, small: Option<f32>) -> bool {
    number.is_finite() && small.is_none_or(f32::is_finite)
}

#[test]
fn a_result_that_is_not_finite_fails_and_says_where() {
    let registry = Registry::builder()
        .tool(plain)
        .tool(small)
        .tool(optional)
        .tool(mapped)
        .tool(deep)
        .build()
        .unwrap();
    for kind in ["nan", "inf", "-inf"] {
        for (name, place) in [
            ("plain", "the result is a number that JSON cannot carry"),
            ("small", "the result is a number that JSON cannot carry"),
            ("optional", "the result is a number that JSON cannot carry"),
            ("mapped", "`/x/1`"),
        ] {
            let (status, error) = ended(&registry, name, &format!(r#"{{"kind":"{kind}"}}"#));
            assert_eq!(status, Status::Failed, "{name} {kind}");
            assert!(error.contains(place), "{name} {error}");
        }
        for (place, pointer) in [
            (0, "/a~1b~0c/0/New"),
            (1, "/a~1b~0c/1/Pair/1"),
            (2, "/a~1b~0c/2/Named/x"),
        ] {
            let arguments = format!(r#"{{"kind":"{kind}","place":{place}}}"#);
            let (status, error) = ended(&registry, "deep", &arguments);
            assert_eq!(status, Status::Failed);
            assert!(error.contains(pointer), "{error}");
        }
    }
    for name in ["plain", "small", "optional", "mapped"] {
        assert!(call(&registry, name, r#"{"kind":""}"#).is_ok());
    }
    for place in 0..3 {
        let arguments = format!(r#"{{"kind":"","place":{place}}}"#);
        assert!(call(&registry, "deep", &arguments).is_ok());
    }
}

#[test]
fn an_argument_that_is_not_finite_is_refused() {
    let registry = Registry::builder().tool(taken).build().unwrap();
    for number in [
        "NaN",
        "nan",
        "Infinity",
        "-Infinity",
        "inf",
        "1e999",
        "-1e999",
        "null",
        "\"NaN\"",
        "1e400",
    ] {
        for arguments in [
            format!(r#"{{"number":{number}}}"#),
            format!(r#"{{"number":1,"small":{number}}}"#),
        ] {
            if number == "null" && arguments.contains("small") {
                continue;
            }
            let (status, error) = ended(&registry, "taken", &arguments);
            assert_eq!(status, Status::InvalidArguments, "{arguments}: {error}");
        }
    }
    for arguments in [
        r#"{"number":1.7976931348623157e308}"#,
        r#"{"number":5}"#,
        r#"{"number":-0.0}"#,
        r#"{"number":1,"small":3.4e38}"#,
    ] {
        assert_eq!(call(&registry, "taken", arguments).output(), Some("true"));
    }
}

#[test]
fn a_number_too_large_for_a_small_float_never_becomes_infinite() {
    let registry = Registry::builder().tool(taken).build().unwrap();
    let outcome = call(&registry, "taken", r#"{"number":1,"small":1e300}"#);
    assert_ne!(
        outcome.output(),
        Some("false"),
        "the body was given an infinity"
    );
    assert_eq!(outcome.status(), Status::InvalidArguments);
}

/// Want more than a little.
#[tool]
#[pre(ratio > 0.1)]
fn more(ratio: f32, #[arg(default = 1.0)] of: f64) -> f64 {
    f64::from(ratio) * of
}

#[test]
fn a_refused_f32_is_shown_with_the_digits_that_were_sent() {
    let registry = Registry::builder().tool(more).build().unwrap();
    for (sent, shown) in [("0.1", "0.1"), ("0", "0.0"), ("-1.5", "-1.5")] {
        let call = ToolCall::new("1", "more", format!(r#"{{"ratio":{sent}}}"#));
        let outcome = registry.call(call).blocking();
        let expected = format!("`more` requires `ratio > 0.1`, got ratio = {shown}");
        assert_eq!(outcome.error(), Some(&*expected));
    }
}

/// Take numbers of every kind.
#[tool]
fn every_kind(
    whole: u32,
    small: f32,
    all: Vec<Option<f64>>,
    by_name: BTreeMap<String, f64>,
    any: serde_json::Value,
    wide: u128,
) -> String {
    format!("{whole} {small} {all:?} {by_name:?} {any} {wide}")
}

/// `5.0` for an integer is put right, so every other number is read twice.
#[test]
fn numbers_are_read_beside_one_that_is_put_right() {
    let registry = Registry::builder().tool(every_kind).build().unwrap();
    for whole in ["5", "5.0"] {
        let arguments = format!(
            r#"{{"whole":{whole},"small":0.25,"all":[0.5,null,1e-7,-3],"by_name":{{"a":1.5}},
                "any":[2.5,{{"b":1e2}}],"wide":340282366920938463463374607431768211455}}"#
        );
        // Where numbers are kept as text, this one is written as it was sent.
        let expected = ["1e2", "1e+2", "100.0"].map(|any| {
            format!(
                "5 0.25 [Some(0.5), None, Some(1e-7), Some(-3.0)] {{\"a\": 1.5}} [2.5,{{\"b\":{any}}}] {}",
                u128::MAX
            )
        });
        let outcome = call(&registry, "every_kind", &arguments);
        let output = outcome.output().map(str::to_owned);
        assert!(
            output
                .as_ref()
                .is_some_and(|output| expected.contains(output)),
            "{output:?} {:?}",
            outcome.error()
        );
    }
}

/// Count down.
#[tool]
fn count_down(from: u8) -> u8 {
    from
}

#[test]
fn a_fraction_too_small_for_a_float_is_no_integer() {
    let registry = Registry::builder().tool(count_down).build().unwrap();
    let call = |number: &str| {
        let call = ToolCall::new("1", "count_down", format!("{{\"from\":{number}}}"));
        registry.call(call).blocking()
    };
    for number in ["1e-400", "-1e-400", "0.000001e-395"] {
        assert_eq!(
            call(number).error().unwrap(),
            format!("`/from`: expected an integer from 0 to 255, got the number {number}")
        );
    }
    for number in ["0e-400", "-0.0", "0.0e5"] {
        assert_eq!(call(number).output(), Some("0"), "{number}");
    }
}
