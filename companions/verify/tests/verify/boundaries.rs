//! Boundaries: what was just accepted and just refused is recorded once, and a bound that moves is found.
//!
//! Recording is asked for by the environment of the process, so it happens in a process of its own: these tests run
//! themselves again.

#![allow(
    clippy::manual_range_contains,
    reason = "bounds are written in every form that authors write"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use contract_runtime::prelude::*;
use contract_runtime::{Builder, matches_pattern};
use contract_verify::{Fault, Layer, Report, Verifier};
use serde_json::{Value, json};

/// Where a test that records is told to record.
const HERE: &str = "VERIFY_EDGES_HERE";

#[derive(serde::Deserialize, schemars::JsonSchema, PartialEq)]
#[serde(rename_all = "snake_case")]
enum Colour {
    Red,
    Green,
    Blue,
    Black,
    White,
}

mod before {
    use super::*;

    /// Book a room.
    #[tool]
    #[pre(end > start)]
    #[pre(end <= 24 * 60, policy = observe)]
    pub(super) fn book(start: u32, end: u32) {
        let _ = (start, end);
    }

    /// Weigh something.
    #[tool]
    #[pre(grams > 0.0 && grams <= 2.5)]
    pub(super) fn weigh(grams: f64) {
        let _ = grams;
    }

    /// Name something.
    #[tool]
    #[pre(name.len() <= 200)]
    #[pre(matches_pattern(name, "^[a-z]*$"))]
    pub(super) fn name(name: &str) {
        let _ = name;
    }

    /// Add up.
    #[tool]
    #[pre(!numbers.is_empty() && numbers.len() <= 4)]
    #[pre(numbers.iter().all(|number| *number >= -50 && *number <= 50))]
    pub(super) fn add(numbers: Vec<i32>) {
        let _ = numbers;
    }

    /// Divide.
    #[tool]
    #[pre(!(dividend == i64::MIN && divisor == -1))]
    pub(super) fn divide(dividend: i64, divisor: i64) {
        let _ = (dividend, divisor);
    }

    /// Average readings.
    #[tool]
    #[pre(!readings.is_empty() && readings.len() <= 64)]
    #[pre(readings.iter().all(|reading| *reading > -0.5 && *reading <= 12.5))]
    pub(super) fn average(readings: Vec<f64>) {
        let _ = readings;
    }

    /// Paint.
    #[tool]
    #[pre(matches!(colour, Colour::Red | Colour::Green))]
    #[pre(matches_pattern(code, "^[a-f]{2}[0-9]*$"))]
    pub(super) fn paint(colour: Colour, code: &str) {
        let _ = (colour, code);
    }

    /// Count a great deal.
    #[tool]
    #[pre(many >= u128::from(u64::MAX))]
    pub(super) fn count(many: u128) {
        let _ = many;
    }

    /// Refund an order that was looked up.
    #[tool]
    #[pre(history().seen(anything), "look it up first")]
    #[pre(order <= 900)]
    pub(super) fn refund(order: u32) {
        let _ = order;
    }

    /// Open a door a few times.
    #[tool]
    #[pre(checksum(&serial) == checksum("QX-8841-77"))]
    #[pre(times <= 7)]
    pub(super) fn unlock(serial: String, times: u8) {
        let _ = (serial, times);
    }

    /// Take anything.
    #[tool]
    pub(super) fn anything(number: i32) {
        let _ = number;
    }

    pub(super) fn tools() -> Builder {
        let builder = Registry::builder().tool(book).tool(weigh).tool(name);
        let builder = builder.tool(add).tool(divide).tool(count);
        let builder = builder.tool(average).tool(paint);
        builder.tool(refund).tool(unlock).tool(anything)
    }
}

fn checksum(text: &str) -> u32 {
    let bytes = text.bytes();
    bytes.fold(7, |sum, byte| {
        sum.wrapping_mul(31).wrapping_add(byte.into())
    })
}

/// The same tools, each with one bound moved by a single step.
macro_rules! moved {
    ($module:ident, $name:ident, $pre:expr, ($($argument:ident: $type:ty),*)) => {
        mod $module {
            use super::*;

            /// The same.
            #[tool]
            #[pre($pre)]
            pub(super) fn $name($($argument: $type),*) {
                let _ = ($($argument),*);
            }
        }
    };
}

moved!(end_up, book, end > start && end <= 1_441, (start: u32, end: u32));
moved!(equal, book, end >= start && end <= 1_440, (start: u32, end: u32));
moved!(end_down, book, end > start && end <= 1_439, (start: u32, end: u32));
moved!(zero, weigh, grams >= 0.0 && grams <= 2.5, (grams: f64));
moved!(open, weigh, grams > 0.0 && grams < 2.5, (grams: f64));
moved!(longer, name, name.len() <= 201 && matches_pattern(name, "^[a-z]*$"), (name: &str));
moved!(shorter, name, name.len() < 200 && matches_pattern(name, "^[a-z]*$"), (name: &str));
moved!(empty, add, numbers.len() <= 4 && numbers.iter().all(|number| *number >= -50 && *number <= 50), (numbers: Vec<i32>));
moved!(low, add, !numbers.is_empty() && numbers.len() <= 4 && numbers.iter().all(|number| *number > -50 && *number <= 50), (numbers: Vec<i32>));
moved!(high, add, !numbers.is_empty() && numbers.len() <= 4 && numbers.iter().all(|number| *number >= -50 && *number < 50), (numbers: Vec<i32>));
moved!(pair, divide, !(dividend == i64::MIN && divisor == -2), (dividend: i64, divisor: i64));
moved!(wide, count, many > u128::from(u64::MAX), (many: u128));
moved!(many, average, !readings.is_empty() && readings.len() <= 65 && readings.iter().all(|reading| *reading > -0.5 && *reading <= 12.5), (readings: Vec<f64>));
moved!(few, average, !readings.is_empty() && readings.len() <= 63 && readings.iter().all(|reading| *reading > -0.5 && *reading <= 12.5), (readings: Vec<f64>));
moved!(warm, average, !readings.is_empty() && readings.len() <= 64 && readings.iter().all(|reading| *reading > -0.5 && *reading < 12.5), (readings: Vec<f64>));
moved!(cold, average, !readings.is_empty() && readings.len() <= 64 && readings.iter().all(|reading| *reading >= -0.5 && *reading <= 12.5), (readings: Vec<f64>));
moved!(fewer, paint, matches!(colour, Colour::Red) && matches_pattern(code, "^[a-f]{2}[0-9]*$"), (colour: Colour, code: &str));
moved!(other, paint, matches!(colour, Colour::Red | Colour::Green | Colour::Black) && matches_pattern(code, "^[a-f]{2}[0-9]*$"), (colour: Colour, code: &str));
moved!(three, paint, matches!(colour, Colour::Red | Colour::Green) && matches_pattern(code, "^[a-f]{3}[0-9]*$"), (colour: Colour, code: &str));
moved!(letters, paint, matches!(colour, Colour::Red | Colour::Green) && matches_pattern(code, "^[a-f]{2}[0-9a-z]*$"), (colour: Colour, code: &str));

moved!(more_times, unlock, checksum(&serial) == checksum("QX-8841-77") && times <= 8, (serial: String, times: u8));
moved!(less_times, unlock, checksum(&serial) == checksum("QX-8841-77") && times < 7, (serial: String, times: u8));

/// With a condition over the history beside the one that has moved.
macro_rules! moved_refund {
    ($module:ident, $most:expr) => {
        mod $module {
            use super::*;

            /// The same.
            #[tool]
            #[pre(history().seen(before::anything), "look it up first")]
            #[pre(order <= $most)]
            pub(super) fn refund(order: u32) {
                let _ = order;
            }
        }
    };
}

moved_refund!(dearer, 901);
moved_refund!(cheaper, 899);

fn report(builder: Builder, boundaries: &Path) -> Report {
    let registry = builder.build().unwrap();
    Verifier::new(registry).seed(3).boundaries(boundaries).run()
}

#[test]
#[ignore = "not a test by itself: the others run it in a process whose environment asks for recording"]
fn record() {
    let place = std::env::var_os(HERE).unwrap();
    let place = Path::new(&place);
    // What chance does not meet is kept, and has boundaries too.
    let kept = place.with_extension("kept.json");
    let kept_ones = json!([{"serial": "QX-8841-77", "times": 3}, {"serial": "QX", "times": 2}]);
    let inputs = json!({ "unlock": kept_ones });
    fs::write(&kept, inputs.to_string()).unwrap();
    let registry = before::tools().build().unwrap();
    let verifier = Verifier::new(registry).seed(3).boundaries(place);
    verifier.regressions(kept).run().assert();
}

/// The boundaries of the tools before, in a place of this test's own.
fn recorded(place: &str) -> PathBuf {
    let place = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(place);
    let _ = fs::remove_dir_all(&place);
    let _ = fs::remove_file(&place);
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["boundaries::record", "--exact", "--ignored"])
        .env("UPDATE_CONTRACTS", "1")
        .env(HERE, &place)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    place
}

#[test]
fn what_is_recorded_are_neighbours() {
    let place = recorded("boundaries-neighbours");
    let read = |tool: &str| -> Value {
        let file = place.join(format!("{tool}.json"));
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
    };
    let weigh = json!({"weigh": {
        "accepts": [{"grams": 5e-324}, {"grams": 2.5}],
        "refuses": [{"grams": -0.0}, {"grams": 2.500_000_000_000_000_4}],
    }});
    assert_eq!(read("weigh"), weigh);
    let count =
        json!({"count": {"accepts": [{"many": u64::MAX}], "refuses": [{"many": u64::MAX - 1}]}});
    assert_eq!(read("count"), count);
    let book = read("book");
    let of = |list: &str| book["book"][list].as_array().unwrap().clone();
    assert!(
        of("accepts").contains(&json!({"start": 0, "end": 1440})),
        "{book}"
    );
    assert!(
        of("refuses").contains(&json!({"start": 0, "end": 1441})),
        "{book}"
    );
    // Long lists are written in short.
    let average = fs::read_to_string(place.join("average.json")).unwrap();
    assert!(
        average.contains(r#"{"readings":{"$items":[[0,64]]}}"#),
        "{average}"
    );
    assert!(
        average.contains(r#"{"readings":[12.500000000000002]}"#),
        "{average}"
    );
    // What was kept is recorded too, with the answer to it.
    let unlock = read("unlock");
    let is_recorded = |list: &str, input: Value| {
        let listed = unlock["unlock"][list].as_array().unwrap();
        listed.contains(&input)
    };
    let kept = json!({"serial": "QX-8841-77", "times": 3});
    assert!(is_recorded("accepts", kept), "{unlock}");
    assert!(
        is_recorded("refuses", json!({"serial": "QX", "times": 2})),
        "{unlock}"
    );
    // A long text is written in short, so that the file can be read.
    let name = fs::read_to_string(place.join("name.json")).unwrap();
    assert!(
        name.contains(r#"{"name":{"$repeat":[["a",201]]}}"#),
        "{name}"
    );
    assert!(name.lines().all(|line| line.len() < 120), "{name}");
    assert!(
        !place.join("anything.json").exists(),
        "it has no boundaries"
    );
}

#[test]
fn recording_twice_gives_the_same() {
    let read = |place: &Path| fs::read_to_string(place).unwrap();
    let (one, other) = (
        recorded("boundaries-one.json"),
        recorded("boundaries-other.json"),
    );
    assert_eq!(read(&one), read(&other));
}

#[test]
fn what_has_not_moved_is_not_reported() {
    let place = recorded("boundaries-still");
    report(before::tools(), &place).assert();
}

#[test]
fn every_bound_that_moved_is_found_in_whatever_form() {
    let place = recorded("boundaries-moved");
    let one = |builder: Builder, accepts: bool| {
        let report = report(builder, &place);
        let found = report.problems().any(|problem| {
            assert_eq!(problem.layer, Layer::Meaning, "{report}");
            match problem.fault {
                Fault::NowAccepted => accepts,
                Fault::NowRefused { .. } => !accepts && problem.clause.is_some(),
                _ => panic!("{report}"),
            }
        });
        assert!(found, "{report}");
        let line = "\nregistry.call((\"\", ";
        assert!(report.to_string().contains(line), "{report}");
    };
    let tool = Registry::builder;
    one(tool().tool(end_up::book), true);
    one(tool().tool(equal::book), true);
    one(tool().tool(end_down::book), false);
    one(tool().tool(zero::weigh), true);
    one(tool().tool(open::weigh), false);
    one(tool().tool(longer::name), true);
    one(tool().tool(shorter::name), false);
    one(tool().tool(empty::add), true);
    one(tool().tool(low::add), false);
    one(tool().tool(high::add), false);
    one(tool().tool(pair::divide), true);
    one(tool().tool(wide::count), false);
    one(tool().tool(many::average), true);
    one(tool().tool(few::average), false);
    one(tool().tool(warm::average), false);
    one(tool().tool(cold::average), true);
    one(tool().tool(fewer::paint), false);
    one(tool().tool(other::paint), true);
    one(tool().tool(three::paint), false);
    one(tool().tool(letters::paint), true);
    one(tool().tool(dearer::refund), true);
    one(tool().tool(cheaper::refund), false);
    one(tool().tool(more_times::unlock), true);
    one(tool().tool(less_times::unlock), false);
}

#[test]
fn what_moved_is_not_kept_as_an_input_that_failed() {
    let place = recorded("boundaries-kept");
    let kept = place.join("kept.json");
    let registry = Registry::builder().tool(zero::weigh).build().unwrap();
    let verifier = Verifier::new(registry).seed(3).boundaries(&place);
    assert!(!verifier.regressions(&kept).run().is_ok());
    assert!(!kept.exists());
}

#[test]
fn boundaries_that_cannot_be_read_fail_loudly() {
    let place = recorded("boundaries-broken.json");
    for (text, told) in [
        ("[1", "line 1"),
        (r#"{"weigh": {"accepts": []}}"#, "`refuses`"),
    ] {
        fs::write(&place, text).unwrap();
        let report = report(Registry::builder().tool(before::weigh), &place);
        let fault = &report.problems().next().unwrap().fault;
        let Fault::Unreadable { why } = fault else {
            panic!("{report}");
        };
        assert!(
            why.contains(told) && why.contains("boundaries-broken"),
            "{why}"
        );
    }
}
