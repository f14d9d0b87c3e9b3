//! Arguments are refused with all their problems at once, and nothing becomes a silent default.

use std::collections::BTreeMap;

use contract_runtime::prelude::*;
use contract_runtime::{ProblemKind, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::common::{call, ended, output};

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    Celsius,
    Fahrenheit,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Place {
    city: String,
    #[serde(default)]
    days: Option<u8>,
}

/// Tell the weather.
#[tool]
fn weather(
    place: Place,
    unit: Unit,
    count: i32,
    #[arg(default = 50)] limit: u32,
    note: Option<String>,
) -> String {
    format!("{} {unit:?} {count} {limit} {note:?}", place.city)
}

/// Tell the weather, leniently.
#[tool(coerce)]
fn lenient(count: i32, ratio: f64, flag: bool, note: Option<i64>) -> String {
    format!("{count} {ratio} {flag} {note:?}")
}

/// Take nothing.
#[tool]
fn nothing() -> &'static str {
    "nothing"
}

/// Take at most one thing.
#[tool]
fn optional(note: Option<String>) -> Option<String> {
    note
}

fn registry() -> Registry {
    Registry::builder()
        .tool(weather)
        .tool(lenient)
        .tool(nothing)
        .tool(optional)
        .build()
        .unwrap()
}

#[track_caller]
fn refused(name: &str, arguments: &str) -> Vec<(String, ProblemKind)> {
    let outcome = call(&registry(), name, arguments);
    let invalid = outcome
        .invalid_arguments()
        .unwrap_or_else(|| panic!("{arguments} ended as {}", outcome.status()));
    assert_eq!(invalid.total(), invalid.problems().len());
    let problems = invalid.problems().iter();
    problems
        .map(|problem| (problem.pointer.clone(), problem.kind))
        .collect()
}

fn problem(pointer: &str, kind: ProblemKind) -> (String, ProblemKind) {
    (pointer.to_owned(), kind)
}

#[test]
fn every_problem_is_reported_at_once() {
    let mut problems = refused(
        "weather",
        r#"{"place":{"days":300,"cty":"Bonn"},"unit":"celcius","limmit":1,"note":5,"note":6}"#,
    );
    problems.sort_by(|one, other| one.0.cmp(&other.0));
    let mut kinds: Vec<_> = problems.clone();
    kinds.dedup();
    for expected in [
        problem("/count", ProblemKind::Missing),
        problem("/limmit", ProblemKind::Unknown),
        problem("/note", ProblemKind::Duplicate),
        problem("/place/city", ProblemKind::Missing),
        problem("/place/cty", ProblemKind::Unknown),
        problem("/place/days", ProblemKind::Range),
        problem("/unit", ProblemKind::Value),
    ] {
        assert!(problems.contains(&expected), "{expected:?} in {problems:?}");
    }
}

#[test]
fn a_problem_says_where_what_is_expected_what_was_given_and_what_is_near() {
    let outcome = call(
        &registry(),
        "weather",
        r#"{"place":{"city":"Bonn"},"unit":"celcius","count":"many","limmit":3}"#,
    );
    let invalid = outcome.invalid_arguments().unwrap();
    let find = |pointer: &str| {
        let mut problems = invalid.problems().iter();
        problems.find(|problem| problem.pointer == pointer).unwrap()
    };
    let unit = find("/unit");
    assert_eq!(unit.nearest.as_deref(), Some("celsius"));
    assert_eq!(unit.allowed, ["celsius", "fahrenheit"]);
    assert!(unit.got.contains("celcius"));
    let count = find("/count");
    assert!(count.expected.contains("integer"), "{}", count.expected);
    assert!(count.got.contains("many"), "{}", count.got);
    let limit = find("/limmit");
    assert_eq!(limit.nearest.as_deref(), Some("limit"));
    let text = outcome.error().unwrap();
    for part in ["/unit", "celsius", "/count", "integer", "`limit`"] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
    assert!(!text.contains("__contract") && !text.contains("slot_"));
}

#[test]
fn a_refusal_is_at_most_two_thousand_characters() {
    let long = "ä".repeat(50_000);
    let many: Vec<String> = (0..3_000).map(|n| format!(r#""key {n}":1,"#)).collect();
    let many = many.concat();
    let nested = "[".repeat(5_000);
    let deep = format!("{}1{}", "[".repeat(100), "]".repeat(100));
    for arguments in [
        format!(r#"{{"{long}":1}}"#),
        format!(r#"{{"unit":"{long}"}}"#),
        format!(r#"{{{many}"count":1}}"#),
        format!(r#"{{"place":{nested}"#),
        format!(r#"{{"place":{deep}}}"#),
        format!(r#"{{"unit":"{}"}}"#, "\\u0000".repeat(5_000)),
        format!(r#"{{"place":{{{many}"city":5}}}}"#),
        long,
    ] {
        let (status, error) = ended(&registry(), "weather", &arguments);
        assert_eq!(status, Status::InvalidArguments);
        assert!(error.chars().count() <= 2_000, "{}", error.chars().count());
    }
}

#[test]
fn unknown_and_duplicate_keys_are_refused_also_below_the_top() {
    let duplicate = ProblemKind::Duplicate;
    assert_eq!(
        refused("optional", r#"{"note":"a","note":"a"}"#),
        [problem("/note", duplicate)]
    );
    assert_eq!(
        refused("optional", r#"{"note":null,"note":null}"#),
        [problem("/note", duplicate)]
    );
    assert_eq!(
        refused("optional", "{\"note\":\"a\",\"n\\u006fte\":\"a\"}"),
        [problem("/note", duplicate)]
    );
    let place = r#"{"place":{"city":"a","city":"b"},"unit":"celsius","count":1}"#;
    assert_eq!(
        refused("weather", place),
        [problem("/place/city", duplicate)]
    );
    assert_eq!(
        refused("nothing", r#"{"note":1}"#),
        [problem("/note", ProblemKind::Unknown)]
    );
}

/// Nothing is said of other keys.
#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Window {
    days: u8,
    include_weekend: Option<bool>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Labels {
    name: String,
    #[serde(flatten)]
    others: BTreeMap<String, u8>,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[schemars(extend("additionalProperties" = true))]
struct Lenient {
    name: String,
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Shape {
    Circle { radius: u8 },
    Window(Window),
}

#[derive(Debug, Deserialize, Serialize, JsonSchema)]
struct Drawing {
    title: String,
    #[serde(flatten)]
    shape: Shape,
}

/// Plan it.
#[tool]
fn plan(
    window: Option<Vec<Window>>,
    labels: Option<Labels>,
    lenient: Option<Lenient>,
    shape: Option<Shape>,
    drawing: Option<Drawing>,
) -> String {
    format!("{window:?} {labels:?} {lenient:?} {shape:?} {drawing:?}")
}

#[test]
fn a_key_that_nobody_reads_is_refused_at_any_depth_unless_the_type_says_otherwise() {
    let registry = Registry::builder().tool(plan).build().unwrap();
    let refusal = |arguments: &str| ended(&registry, "plan", arguments).1;
    assert_eq!(
        refusal(r#"{"shape":{"type":"circle","radius":1,"diameter":2}}"#),
        "`/shape/diameter`: no such key; the keys are `type`, `radius`"
    );
    // A window is also a part of a shape, which has the key `type` besides; both are open then.
    for accepted in [
        r#"{"window":[{"days":1,"include_weekend":true}]}"#,
        r#"{"labels":{"name":"a","other":1}}"#,
        r#"{"lenient":{"name":"a","other":1}}"#,
        r#"{"drawing":{"title":"a","type":"circle","radius":1}}"#,
        r#"{"drawing":{"title":"a","type":"window","days":1}}"#,
        r#"{"shape":{"type":"window","days":1}}"#,
    ] {
        let text = output(&registry, "plan", accepted);
        assert!(text.contains("Some("), "{text}");
    }
}

/// Plan a week.
#[tool]
fn plan_week(window: Window) -> String {
    format!("{window:?}")
}

#[test]
fn a_misspelt_key_of_a_struct_does_not_become_its_default() {
    let registry = Registry::builder().tool(plan_week).build().unwrap();
    let misspelt = r#"{"window":{"days":1,"include_weekends":true}}"#;
    let (status, error) = ended(&registry, "plan_week", misspelt);
    assert_eq!(status, Status::InvalidArguments);
    assert!(error.contains("did you mean `include_weekend`?"), "{error}");
}

#[test]
fn blank_text_null_and_an_empty_object_all_mean_no_arguments() {
    let registry = registry();
    for arguments in ["", " ", "\n\t \r\n", "null", " null ", "{}", " { } "] {
        assert_eq!(output(&registry, "nothing", arguments), "nothing");
        assert_eq!(output(&registry, "optional", arguments), "null");
        assert_eq!(
            refused("weather", arguments),
            ["/place", "/unit", "/count"].map(|pointer| problem(pointer, ProblemKind::Missing))
        );
    }
}

#[test]
fn anything_but_an_object_is_refused() {
    for arguments in ["[]", "5", "true", "\"{}\"", "[{}]"] {
        assert_eq!(
            refused("nothing", arguments),
            [problem("", ProblemKind::NotAnObject)],
            "{arguments}"
        );
    }
    for arguments in [
        "{",
        "}",
        "{}}",
        "{} {}",
        "nul",
        "{\"a\":}",
        "{'a':1}",
        "{\"a\":1,}",
        "{a:1}",
        "{\"note\":NaN}",
        "{\"note\":01}",
        "// no\n{}",
        "\u{feff}{}",
        "{\"note\":\"\n\"}",
    ] {
        let problems = refused("optional", arguments);
        assert_eq!(
            problems.last().map(|(_, kind)| *kind),
            Some(ProblemKind::Malformed),
            "{arguments}: {problems:?}"
        );
    }
}

#[test]
fn null_and_absence_are_the_same_only_for_what_is_optional() {
    let registry = registry();
    assert_eq!(output(&registry, "optional", r#"{"note":null}"#), "null");
    let null = r#"{"place":{"city":"Bonn","days":null},"unit":"celsius","count":null}"#;
    assert_eq!(
        refused("weather", null),
        [problem("/count", ProblemKind::Type)]
    );
    let fine = r#"{"place":{"city":"Bonn","days":null},"unit":"celsius","count":1,"note":null}"#;
    assert_eq!(output(&registry, "weather", fine), "Bonn Celsius 1 50 None");
}

#[test]
fn an_integer_may_be_written_with_a_zero_fraction_and_nothing_else() {
    let registry = registry();
    let with =
        |count: &str| format!(r#"{{"place":{{"city":"Bonn"}},"unit":"celsius","count":{count}}}"#);
    for (count, read) in [
        ("5.0", "5"),
        ("-5.0", "-5"),
        ("5e0", "5"),
        ("0.5e1", "5"),
        ("500e-2", "5"),
        ("-0.0", "0"),
        ("2147483647.0", "2147483647"),
    ] {
        let outcome = call(&registry, "weather", &with(count));
        let expected = format!("Bonn Celsius {read} 50 None");
        assert_eq!(outcome.output(), Some(expected.as_str()), "{count}");
        assert!(outcome.coercions().is_empty());
    }
    for count in [
        "5.5",
        "\"5\"",
        "true",
        "[5]",
        "2147483648",
        "2147483648.0",
        "1e300",
        "1e999",
        "\"\"",
        "5e-1",
    ] {
        let problems = refused("weather", &with(count));
        assert_eq!(problems.len(), 1, "{count}: {problems:?}");
    }
}

#[test]
fn a_coercion_is_made_only_where_it_is_turned_on_and_is_recorded() {
    let registry = registry();
    let text = r#"{"count":"5","ratio":"0.5","flag":"true","note":"7"}"#;
    let outcome = call(&registry, "lenient", text);
    assert_eq!(outcome.output(), Some("5 0.5 true Some(7)"));
    assert_eq!(outcome.coercions().len(), 4);
    let outcome = call(&registry, "lenient", r#"{"count":5,"ratio":1,"flag":true}"#);
    assert_eq!(outcome.output(), Some("5 1 true None"));
    assert!(outcome.coercions().is_empty());
    for wrong in [
        r#"{"count":"5.5","ratio":"1","flag":"true"}"#,
        r#"{"count":"","ratio":"1","flag":"true"}"#,
        r#"{"count":"five","ratio":"1","flag":"true"}"#,
        r#"{"count":"5.0","ratio":"1","flag":"true"}"#,
        r#"{"count":"1e1","ratio":"1","flag":"true"}"#,
        r#"{"count":"+5","ratio":"1","flag":"true"}"#,
        r#"{"count":" 5","ratio":"1","flag":"true"}"#,
        r#"{"count":"5","ratio":"1e1","flag":"true"}"#,
        r#"{"count":"5","ratio":".5","flag":"true"}"#,
        r#"{"count":"5","ratio":"1","flag":"True"}"#,
        r#"{"count":"99999999999","ratio":"1","flag":"true"}"#,
        r#"{"count":"5","ratio":"NaN","flag":"true"}"#,
        r#"{"count":"5","ratio":"inf","flag":"true"}"#,
        r#"{"count":"5","ratio":"1","flag":"yes please"}"#,
        r#"{"count":true,"ratio":"1","flag":"true"}"#,
    ] {
        assert_eq!(refused("lenient", wrong).len(), 1, "{wrong}");
    }
    let strict = Registry::builder()
        .tool(weather)
        .coerce(true)
        .build()
        .unwrap();
    let text = r#"{"place":{"city":"Bonn","days":"3"},"unit":"celsius","count":"5"}"#;
    let outcome = call(&strict, "weather", text);
    assert!(outcome.is_ok(), "{:?}", outcome.error());
    assert_eq!(outcome.coercions().len(), 2);
}

#[test]
fn unknown_keys_are_left_out_only_where_that_is_turned_on_and_are_recorded() {
    let lenient = Registry::builder()
        .tool(weather)
        .ignore_unknown_keys(true)
        .build()
        .unwrap();
    let text =
        r#"{"place":{"city":"Bonn","days":3,"rank":[1,2]},"unit":"celsius","count":5,"hit":null}"#;
    let outcome = call(&lenient, "weather", text);
    assert!(outcome.is_ok(), "{:?}", outcome.error());
    let left_out: Vec<_> = outcome.coercions().iter().collect();
    let pointers: Vec<_> = left_out.iter().map(|one| one.pointer.as_str()).collect();
    assert_eq!(pointers, ["/place/rank", "/hit"]);
    assert!(left_out.iter().all(|one| one.left_out));
    assert_eq!(left_out[0].from, serde_json::json!([1, 2]));
    // What is known is judged as before, and its name must be right where it is required.
    let outcome = call(
        &lenient,
        "weather",
        r#"{"plaice":{},"unit":"kelvins","count":5}"#,
    );
    let problems = outcome.invalid_arguments().unwrap().problems();
    let kinds: Vec<_> = problems.iter().map(|one| one.kind).collect();
    assert_eq!(kinds, [ProblemKind::Missing, ProblemKind::Value]);
    assert_eq!(
        lenient.tool("weather").unwrap().input_schema(),
        registry().tool("weather").unwrap().input_schema()
    );
    let strict = Registry::builder().tool(weather).build().unwrap();
    assert_eq!(
        call(&strict, "weather", text).status(),
        Status::InvalidArguments
    );
}

#[test]
fn a_null_that_becomes_a_default_is_recorded() {
    let text = r#"{"place":{"city":"Bonn","days":null},"unit":"celsius","count":1,"limit":null,"note":null}"#;
    let outcome = call(&registry(), "weather", text);
    assert_eq!(outcome.output(), Some("Bonn Celsius 1 50 None"));
    let [recorded] = outcome.coercions() else {
        panic!("{:?}", outcome.coercions());
    };
    assert_eq!(recorded.pointer, "/limit");
    assert_eq!(recorded.from, serde_json::Value::Null);
    assert_eq!(recorded.to, 50);
}

#[derive(Deserialize, JsonSchema)]
struct Batch {
    #[serde(default = "five")]
    count: u8,
}

fn five() -> u8 {
    5
}

/// Count the parts of a batch.
#[tool]
fn parts(v: Batch, stock: BTreeMap<Unit, u8>) -> String {
    format!("{} {}", v.count, stock.len())
}

#[test]
fn a_null_below_an_argument_that_stands_for_an_absent_member_is_recorded() {
    let registry = Registry::builder().tool(parts).build().unwrap();
    let text = r#"{"v":{"count":null},"stock":{"celsius":null}}"#;
    let outcome = call(&registry, "parts", text);
    assert_eq!(outcome.output(), Some("5 0"));
    let recorded = outcome.coercions().iter();
    let recorded: Vec<_> = recorded
        .map(|one| (one.pointer.as_str(), one.left_out))
        .collect();
    assert_eq!(recorded, [("/v/count", true), ("/stock/celsius", true)]);
}

#[test]
fn a_number_that_no_float_holds_is_refused_where_it_stands() {
    for (text, sentence) in [
        (
            r#"{"place":{"city":"Bonn","days":-1e400},"unit":"celsius","count":1}"#,
            "`/place/days`: expected a number between -1.8e308 and 1.8e308",
        ),
        (
            "{\"unit\":\"celsius\",\n \"count\": 1e400}",
            "`/count`: expected a number between -1.8e308 and 1.8e308",
        ),
    ] {
        let (_, error) = ended(&registry(), "weather", text);
        assert!(error.starts_with(sentence), "{error}");
    }
}

#[test]
fn a_default_is_used_only_for_an_absent_argument() {
    let registry = registry();
    let with =
        |limit: &str| format!(r#"{{"place":{{"city":"Bonn"}},"unit":"celsius","count":1{limit}}}"#);
    assert!(output(&registry, "weather", &with("")).contains(" 50 "));
    assert!(output(&registry, "weather", &with(r#","limit":7"#)).contains(" 7 "));
    for limit in [r#","limit":"x""#, r#","limit":-1"#, r#","limit":[]"#] {
        assert_eq!(refused("weather", &with(limit)).len(), 1, "{limit}");
    }
}

#[test]
fn a_type_that_refuses_what_its_schema_admits_says_why_in_its_own_words() {
    #[derive(JsonSchema)]
    #[schemars(transparent)]
    struct Even(i32);
    impl<'de> Deserialize<'de> for Even {
        fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
            let value = i32::deserialize(deserializer)?;
            match value % 2 {
                0 => Ok(Self(value)),
                _ => Err(serde::de::Error::custom("an odd number is no pair")),
            }
        }
    }
    /// Halve a number.
    #[tool]
    fn halve(number: Even, #[arg(secret)] hidden: Option<Even>) -> i32 {
        number.0 / 2 + hidden.map_or(0, |hidden| hidden.0)
    }
    let registry = Registry::builder().tool(halve).build().unwrap();
    let outcome = call(&registry, "halve", r#"{"number":3}"#);
    let problems = outcome.invalid_arguments().unwrap().problems();
    assert_eq!(problems[0].kind, ProblemKind::Rejected);
    assert_eq!(problems[0].pointer, "/number");
    assert!(
        outcome
            .error()
            .unwrap()
            .contains("an odd number is no pair")
    );
    let (status, error) = ended(&registry, "halve", r#"{"number":2,"hidden":3}"#);
    assert_eq!(status, Status::InvalidArguments);
    assert!(!error.contains("odd"), "{error}");
}

/// Give marks to rooms, by floor and by number.
#[tool]
fn mark(
    floors: Vec<BTreeMap<u8, BTreeMap<i8, u8>>>,
    #[arg(secret)] codes: Option<BTreeMap<u8, u8>>,
) -> usize {
    floors.len() + codes.map_or(0, |codes| codes.len())
}

#[test]
fn a_key_that_its_type_refuses_is_pointed_at() {
    let registry = Registry::builder().tool(mark).build().unwrap();
    for (arguments, pointer, got) in [
        (
            r#"{"floors": [{}, {"1": {}, "300": {"7": 1}}]}"#,
            "/floors/1/300",
            "a key it refuses: invalid value: integer `300`, expected u8",
        ),
        (
            r#"{"floors":[{"1":{"-129":1}}]}"#,
            "/floors/0/1/-129",
            "a key it refuses: invalid value: integer `-129`, expected i8",
        ),
        (
            r#"{"floors":[],"codes":{"300":1}}"#,
            "/codes",
            "a value it refuses",
        ),
    ] {
        let outcome = call(&registry, "mark", arguments);
        let invalid = outcome.invalid_arguments().unwrap();
        let [problem] = invalid.problems() else {
            panic!("{invalid}");
        };
        assert_eq!(problem.pointer, pointer);
        assert_eq!(problem.kind, ProblemKind::Rejected);
        assert_eq!(problem.got, got);
    }
}
