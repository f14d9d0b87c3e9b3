//! What authors write, read by the macro and judged by others: the published schema refuses nothing that Rust accepts.

#![allow(
    clippy::all,
    clippy::pedantic,
    reason = "authors write it in more ways than the linter likes"
)]

use contract_manifest::PortableRule;
use contract_runtime::prelude::*;
use contract_runtime::{Builder, Lowering, Registry, Status, ToolCall};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::LazyLock;

const MAX: u32 = 12;
const SIGNED: i64 = -4;
const LENGTH: usize = 3;
const RATIO: f64 = 0.5;
const NAME: &str = "admin";
const NAMES: [&str; 2] = ["admin", "root"];
const PORTS: Ports = Ports(1, 9);
const BEYOND: u128 = u128::MAX;
static LIMIT: u8 = 7;
static LAZY: LazyLock<u32> = LazyLock::new(|| 3);

/// It serialises as a list, and contains what lies between.
#[derive(Serialize)]
struct Ports(u32, u32);

impl Ports {
    fn contains(&self, port: &u32) -> bool {
        (self.0..=self.1).contains(port)
    }
}

type Count = u32;
type Note = Option<String>;

/// Written one way, read in another.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all(serialize = "UPPERCASE", deserialize = "kebab-case"))]
enum Unit {
    KG,
    HalfPound,
    Stone,
}

impl Unit {
    const DEFAULT: Self = Self::KG;

    fn is_metric(self) -> bool {
        self == Self::KG
    }
}

/// Equal to its neighbours, as no number is.
#[derive(Debug, Clone, Copy, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
struct Near(u32);

impl PartialEq<u32> for Near {
    fn eq(&self, other: &u32) -> bool {
        self.0.abs_diff(*other) <= 1
    }
}

impl Near {
    fn is_empty(&self) -> bool {
        self.0 > 5
    }
}

mod glob {
    /// Another function of that name, to which a star means anything.
    pub(super) fn matches_pattern(text: &str, pattern: &'static str) -> bool {
        text.starts_with(pattern.trim_end_matches(".*"))
    }
}

const CODE: &str = "^[A-Z]{3}$";

struct Case {
    name: &'static str,
    predicate: &'static str,
    values: Value,
    /// Least that the schema must say.
    lowering: Lowering,
    /// Whether it must be a rule.
    ruled: bool,
}

macro_rules! cases {
    ($($name:ident($param:ident: $ty:ty) { $($predicate:tt)+ } of $values:tt is $lowering:ident $($rule:ident)?;)*) => {
        $(
            /// One condition.
            #[tool]
            #[pre($($predicate)+)]
            fn $name($param: $ty) {
                let _ = $param;
            }
        )*

        fn registry() -> Builder {
            Registry::builder()$(.tool($name))*
        }

        fn cases() -> Vec<Case> {
            vec![$(Case {
                name: stringify!($name),
                predicate: stringify!($($predicate)+),
                values: json!($values),
                lowering: Lowering::$lowering,
                ruled: false $(|| stringify!($rule) == "ruled")?,
            }),*]
        }
    };
}

cases! {
    named(x: u32) { x > 0 && x <= MAX } of [0, 1, 12, 13] is Exact ruled;
    negative(x: i64) { x > SIGNED && -5 < x } of [-6, -5, -4, -3] is Exact;
    a_static(x: u8) { x < LIMIT } of [6, 7, 8] is Exact ruled;
    lazy(x: u32) { x < *LAZY } of [2, 3, 4] is Exact ruled;
    of_a_const_block(x: u32) { x < const { MAX / 2 } } of [5, 6] is Exact ruled;
    wide(x: u128) { x < BEYOND } of [0, 18_446_744_073_709_551_615_u64] is Described;
    alias(x: Count) { x < MAX } of [11, 12, 13] is Exact ruled;
    ratio(x: f64) { !x.is_nan() && x <= RATIO } of [0.4, 0.5, 0.6, 1] is Partial;
    range(x: u32) { (2..MAX).contains(&x) } of [1, 2, 11, 12] is Exact ruled;
    patterns(x: u32) { matches!(x, 1..=3 | 9) } of [0, 1, 3, 4, 9] is Exact ruled;
    listed(x: &str) { matches!(x, "a" | "b") } of ["a", "b", "c", ""] is Exact ruled;
    constants(x: &str) { NAMES.contains(&x) } of ["admin", "root", "other"] is Described;
    not_a_list(x: u32) { PORTS.contains(&x) } of [0, 1, 5, 9, 10] is Described;
    pattern(x: &str) { matches_pattern(x, r"^[a-z]+\d?$") } of ["a", "ab1", "A", ""] is Exact ruled;
    named_pattern(x: &str) { contract_runtime::matches_pattern(x, CODE) } of ["ABC", "AB", "abc"] is Exact ruled;
    another_pattern(x: &str) { glob::matches_pattern(x, "a.*") } of ["a.b", "ba"] is Described;
    half(x: f32) { x < 0.1f32 && x > -0.1 } of [0.0, 0.09, 0.1, 0.2, -0.1] is Partial;
    length(x: String) { x.len() < LENGTH } of ["", "ab", "abc", "é", "éé"] is Partial ruled;
    letters(x: Cow<'_, str>) { x.chars().count() < LENGTH } of ["", "ab", "abc", "éé", "ééé"] is Exact ruled;
    bytes(x: [u8; 2]) { x.iter().all(|&byte| byte < LIMIT) } of [[1, 2], [6, 7]] is Exact;
    items(x: &[String]) { !x.is_empty() && x.iter().all(|item| item != NAME) } of [[], ["a"], ["a", "admin"]] is Exact ruled;
    absent(x: Option<u32>) { x.is_none() || x == Some(3) } of [null, 3, 4] is Exact;
    given(x: Option<u32>) { x != None && x.map_or(true, |x| x < MAX) } of [null, 11, 12] is Exact;
    in_place(x: Option<u32>) { x.unwrap_or(20) < MAX } of [null, 11, 12] is Exact;
    replaced(x: Option<u32>) { x.unwrap_or(2) < MAX } of [null, 11, 12] is Exact;
    mapped(x: Note) { x.as_deref().map(|note| !note.is_empty()).unwrap_or(true) } of [null, "", "a"] is Exact;
    sure(x: Option<bool>) { x.unwrap_or(true) } of [null, true, false] is Exact;
    some(x: Option<&str>) { matches!(x, None | Some("a" | "b")) } of [null, "a", "c"] is Exact;
    either(x: i8) { if x < 0 { x > -5 } else { x != 3 } } of [-5, -4, 0, 3, 4] is Partial;
    metric(x: Unit) { x.is_metric() } of ["k-g", "half-pound", "KG", "stone"] is Exact ruled;
    unit(x: Unit) { x == Unit::KG || x == Unit::Stone } of ["k-g", "half-pound", "stone"] is Exact ruled;
    default(x: Unit) { x == Unit::DEFAULT } of ["k-g", "half-pound", "stone"] is Exact;
    ordered(x: Unit) { x > Unit::KG } of ["k-g", "half-pound", "stone"] is Exact;
    maybe_unit(x: Option<Unit>) { x.is_none_or(|unit| unit == Unit::KG) && x != Some(Unit::Stone) } of [null, "k-g", "stone"] is Exact;
    not_a_number(x: Near) { x == 3 && !x.is_empty() } of [1, 2, 3, 4, 5, 6] is Described;
    flag(x: bool) { x == true && !!x } of [true, false] is Exact ruled;
    first(x: char) { x != 'a' } of ["a", "b"] is Exact;
    nested(x: Vec<Vec<u8>>) { x.iter().any(|row| row.iter().all(|&x| x > 1)) } of [[], [[]], [[1]], [[2], [1]]] is Described;
    divided(x: u32) { x / 2 > 1 } of [3, 4] is Described;
}

#[test]
fn what_rust_accepts_the_schema_accepts() {
    let registry = registry().build().unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    for case in cases() {
        let tool = registry.tool(case.name).unwrap();
        let condition = &tool.conditions()[0];
        let schema = jsonschema::draft202012::new(tool.input_schema()).unwrap();
        let (mut accepted, mut refused) = (0, 0);
        for value in case.values.as_array().unwrap() {
            let arguments = json!({ "x": value });
            let call = ToolCall::new("1", case.name, arguments.to_string());
            let outcome = runtime.block_on(registry.check(call));
            let accepts = match outcome.status() {
                Status::Ok => true,
                Status::Violation => false,
                // The type refuses it, and so must the schema.
                _ => {
                    assert!(
                        !schema.is_valid(&arguments),
                        "{}: {arguments}",
                        case.predicate
                    );
                    continue;
                }
            };
            accepted += usize::from(accepts);
            refused += usize::from(!accepts);
            let shown = schema.is_valid(&arguments);
            let exact = condition.lowering() == Lowering::Exact;
            assert!(
                shown == accepts || (shown && !exact),
                "{} of {arguments}: Rust says {accepts}, the schema ({:?}) {shown}: {}",
                case.predicate,
                condition.lowering(),
                tool.input_schema()
            );
        }
        assert!(accepted > 0, "{} is never met", case.predicate);
        assert!(
            refused > 0 || case.name == "wide",
            "{} is always met",
            case.predicate
        );
    }
}

#[test]
fn what_is_read_is_published() {
    let registry = registry().build().unwrap();
    let mut less = Vec::new();
    for case in cases() {
        let condition = &registry.tool(case.name).unwrap().conditions()[0];
        let ruled = PortableRule::of(condition).is_some();
        if condition.lowering() > case.lowering || (case.ruled && !ruled) {
            less.push(format!(
                "{}: {:?}, ruled {ruled}",
                case.predicate,
                condition.lowering()
            ));
        }
    }
    assert!(less.is_empty(), "{less:#?}");
}

/// Whatever these say in Rust, in JSON they say nothing.
#[test]
fn what_only_rust_knows_is_told() {
    let registry = registry().build().unwrap();
    for name in ["another_pattern", "not_a_list", "not_a_number", "divided"] {
        let condition = &registry.tool(name).unwrap().conditions()[0];
        assert_eq!(
            (condition.lowering(), PortableRule::of(condition)),
            (Lowering::Described, None),
            "{name}"
        );
    }
}
