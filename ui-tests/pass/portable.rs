//! Predicates of every kind, portable and not, on parameters of every kind.

#![deny(
    warnings,
    unused,
    trivial_casts,
    trivial_numeric_casts,
    unused_qualifications,
    unused_results,
    rust_2018_idioms
)]
#![forbid(unsafe_code)]
#![allow(deprecated, reason = "one condition names what is deprecated")]

use std::borrow::Cow;
use std::sync::LazyLock;

use contract_runtime::Builder;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

const MAX: u32 = 12;
const WIDEST: u128 = 340_282_366_920_938_463_463_374_607_431_768_211_455;
const LENGTH: usize = 40;
const RATIO: f64 = 0.5;
const NAME: &str = "admin";
const ON: bool = true;
const LIMITED: Option<u32> = Some(3);
const ALLOWED: [&str; 2] = ["a", "b"];
#[deprecated]
const OLD: u32 = 1;
static LIMIT: u32 = 100;
static LAZY: LazyLock<u32> = LazyLock::new(|| 3);

type Text = String;
type Count = u32;

const fn most() -> u32 {
    9
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Unit {
    KG,
    HalfPound,
}

impl Unit {
    fn metric(self) -> bool {
        self == Self::KG
    }
}

#[derive(Debug, Clone, Deserialize, JsonSchema)]
struct Size {
    width: f64,
}

/// Constants of every kind.
#[tool]
#[pre(count < MAX && count <= LIMIT && count > *LAZY - 3 && count != OLD)]
#[pre(count < const { most() } && count < u32::MAX)]
#[pre(wide < WIDEST && signed > i128::MIN && small < i8::MAX)]
#[pre(ratio < RATIO && single < std::f32::consts::PI && ratio > -f64::EPSILON)]
#[pre(flag == ON || name == NAME || LIMITED == limit)]
#[pre(name.len() < LENGTH && name.chars().count() < LENGTH && ALLOWED.contains(&name.as_str()))]
#[pre(alias < MAX && text != NAME)]
#[pre(Unit::KG == unit || unit.metric())]
fn constants(
    count: u32,
    wide: u128,
    signed: i128,
    small: i8,
    ratio: f64,
    single: f32,
    flag: bool,
    name: String,
    limit: Option<u32>,
    alias: Count,
    text: Text,
    unit: Unit,
) -> u32 {
    drop((
        wide, signed, small, ratio, single, flag, name, limit, alias, text, unit,
    ));
    count
}

/// Parameters of every kind.
#[tool]
#[pre(short.starts_with('a') && boxed.len() < 9 && cow.ends_with("z"))]
#[pre(bytes.len() == 3 && bytes[0] > 0 && items.iter().all(|item| item.len() < 9))]
#[pre(items.contains(&String::from("x")) || !items.is_empty())]
#[pre(sizes.len() < 3 && sizes.iter().all(|size| size.width > 0.0))]
#[pre(maybe.is_some_and(|text| text.len() > 1) || maybe.is_none())]
#[pre(size.width > 0.0 && size.width.is_finite())]
#[pre(units.is_none_or(|unit| unit == Unit::HalfPound) && units != Some(Unit::KG))]
#[pre(pair.0 < pair.1)]
#[pre(r#type == "x" && letter != 'x')]
#[pre(matches_pattern(short, r"^a.*$"), "{short} must begin with a")]
fn parameters<'a>(
    short: &'a str,
    boxed: Box<str>,
    cow: Cow<'a, str>,
    bytes: [u8; 3],
    items: &[String],
    sizes: Vec<Size>,
    maybe: Option<&'a str>,
    size: &Size,
    units: Option<Unit>,
    pair: (u8, u8),
    r#type: &str,
    letter: char,
) -> u32 {
    drop((
        boxed, cow, bytes, items, sizes, maybe, size, units, pair, r#type, letter,
    ));
    u32::try_from(short.len()).unwrap_or(0)
}

/// Defaults and examples are asked about.
#[tool]
#[pre(unit != Unit::HalfPound, "{unit:?} is no unit")]
#[pre(count > 0, "{count}")]
#[pre(name.len() > 2)]
fn defaults(
    #[arg(default = Unit::KG)] unit: Unit,
    #[arg(default = 5, example = 7)] count: u32,
    #[arg(example = "abc")] name: &str,
) -> u32 {
    let _: (Unit, &str) = (unit, name);
    count
}

/// Shown, or the build would fail.
#[tool]
#[pre(count > 0 && matches!(unit, Unit::KG), shown)]
#[pre(name.trim() != "", shown = false)]
#[post(|result| *result > 0, shown = false)]
fn shown(count: u32, unit: Unit, name: String) -> u32 {
    let _: (Unit, String) = (unit, name);
    count
}

struct Buffer<T, const SIZE: usize>(T);

trait Bounded {
    const LEAST: u32;
}

impl Bounded for u8 {
    const LEAST: u32 = 2;
}

#[tool]
impl<T: Bounded + Send + Sync + 'static, const SIZE: usize> Buffer<T, SIZE> {
    const MOST: u32 = 50;

    /// What the block is generic over, and `Self`.
    #[tool]
    #[pre(at < SIZE)]
    #[pre(count >= T::LEAST && count <= Self::MOST && count < MAX)]
    #[pre(unit.metric() || unit == Unit::KG || size_of_val(&self.0) > 0)]
    fn at(&self, at: usize, count: u32, #[arg(default = Unit::KG)] unit: Unit) -> usize {
        let _: (u32, Unit) = (count, unit);
        at
    }
}

/// No tool, so `SIZE` may be anything.
struct Plain<const SIZE: usize>;

impl<const SIZE: usize> Plain<SIZE> {
    #[pre(at < SIZE && unit != Unit::KG && size.width > 0.0)]
    fn at(at: usize, unit: Unit, size: Size) -> usize {
        let _: (Unit, Size) = (unit, size);
        at
    }
}

#[pre(number < N)]
fn generic<const N: usize>(number: usize) -> usize {
    number
}

macro_rules! bounded {
    ($name:ident, $param:ident: $ty:ty, $low:expr, $high:expr, $($check:tt)*) => {
        /// From a macro.
        #[tool]
        #[pre(($low..=$high).contains(&$param) && !($param == $high), shown)]
        #[pre($($check)*)]
        fn $name($param: $ty) -> $ty {
            $param
        }
    };
}

bounded!(from_a_macro, number: u32, 1, 2 * 4, number % 2 == 1 && number < MAX);

fn main() {
    fn outer() -> Builder {
        const INNER: u32 = 3;

        /// With a constant of the function around it.
        #[tool]
        #[pre(count < INNER)]
        fn inner(count: u32) -> u32 {
            count
        }

        Registry::builder().tool(inner)
    }
    let registry = outer()
        .tool(constants)
        .tool(parameters)
        .tool(defaults)
        .tool(shown)
        .tool(from_a_macro)
        .with(Buffer::<u8, 4>(1))
        .build()
        .unwrap();
    let called = |name, arguments: &str| {
        registry
            .call(ToolCall::new("1", name, arguments))
            .blocking()
    };
    assert_eq!(called("at", r#"{"at":3,"count":2}"#).output(), Some("3"));
    assert!(called("at", r#"{"at":4,"count":2}"#).error().is_some());
    assert!(called("at", r#"{"at":3,"count":1}"#).error().is_some());
    assert_eq!(
        called("from_a_macro", r#"{"number":3}"#).output(),
        Some("3")
    );
    assert!(called("from_a_macro", r#"{"number":8}"#).error().is_some());
    assert_eq!(called("defaults", r#"{"name":"abc"}"#).output(), Some("5"));
    assert_eq!(called("inner", r#"{"count":2}"#).output(), Some("2"));
    assert_eq!(Plain::<3>::at(2, Unit::HalfPound, Size { width: 1.0 }), 2);
    assert_eq!(generic::<3>(2), 2);
}
