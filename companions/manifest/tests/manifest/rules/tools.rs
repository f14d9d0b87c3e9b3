//! One tool for each clause that has a rule.

#![allow(
    unused_variables,
    clippy::all,
    clippy::pedantic,
    reason = "what authors may write, not what they should"
)]

use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

type Count = usize;

const MOST: u32 = 12;
const RATIO: f64 = 0.1;
const PORTS: [u64; 3] = [1, 2, 30];
const STEPS: &[f64] = &[0.1, 2.5, 7.0];
const NAMES: [&str; 2] = ["a", "it's"];
const OWNER: &str = "admin";

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
enum Mode {
    VeryFast,
    /// With a description of its own.
    Slow,
    Off,
}

impl Mode {
    fn moves(self) -> bool {
        self != Mode::Off
    }
}

/// Written as a number.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(try_from = "u8")]
enum Level {
    Low,
    Middle,
    High,
}

impl TryFrom<u8> for Level {
    type Error = &'static str;

    fn try_from(number: u8) -> Result<Self, Self::Error> {
        match number {
            1 => Ok(Self::Low),
            2 => Ok(Self::Middle),
            3 => Ok(Self::High),
            _ => Err("no level"),
        }
    }
}

impl JsonSchema for Level {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Level".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({"enum": [1, 2, 3]})
    }
}

/// A tool with the one clause under test, and the names and types of its parameters.
pub(crate) struct Clause {
    pub(crate) name: &'static str,
    pub(crate) predicate: &'static str,
    pub(crate) parameters: &'static [(&'static str, &'static str)],
}

macro_rules! clauses {
    ($($name:ident($($(#[$meta:meta])* $parameter:ident: $type:ty),*) [$($predicate:tt)*])*) => {
        $(
            /// Do what the clause allows.
            #[tool]
            #[pre($($predicate)*)]
            fn $name($($(#[$meta])* $parameter: $type),*) {}
        )*

        pub(crate) const CLAUSES: &[Clause] = &[$(Clause {
            name: stringify!($name),
            predicate: stringify!($($predicate)*),
            parameters: &[$((stringify!($parameter), stringify!($type))),*],
        }),*];

        pub(crate) fn registry() -> Registry {
            Registry::builder()$(.tool($name))*.build().unwrap()
        }
    };
}

clauses! {
    above(count: u32) [count > 3]
    between(count: i64) [count >= -5 && count <= 1_000]
    within(count: u8) [(1..=9).contains(&count)]
    below_constant(count: u32) [count < MOST * 2]
    equal(count: i32) [count == 7 || count == -7]
    unequal(count: usize) [count != 0]
    negated(count: i32) [!(count > 3 && count != 5)]
    large(id: u64) [id > 10]
    later(start: u32, end: u32) [end > start]
    later_wide(start: i64, end: i64) [end > start && start != 4]
    not_same(left: u64, right: u64) [left != right]
    even(count: i32) [count % 2 == 0]
    even_wide(count: i64) [count % 2 == 0]
    remainder(count: i32) [count % 5 == -3]
    remainder_twice(count: i8) [count % 100 * 2 > -50]
    divides(count: i32, by: i32) [by != 0 && count % by == 0]
    divides_or(count: u8, by: u8) [by == 0 || count % by != 1]
    small_sum(left: u8, right: u8) [left + right <= 100]
    small_difference(left: u8, right: u8) [left - right > 3]
    not_small_product(left: i8, right: i8) [!(left * right > 20)]
    chain(a: i32, b: i32, c: i32) [a - (b - c) * 2 < 10 - a]
    big_product(left: i64, right: i64) [left * right < 1_000_000]
    opposite(count: i8) [-count < 3]
    guarded_sum(left: u8, right: u8) [left > 200 || right > 200 || left + right < 250]
    among(count: i16) [[1, 2, 30].contains(&count)]
    not_among(count: u64) [![1, 2, 30].contains(&count)]
    port(port: u64) [PORTS.contains(&port)]
    step(step: f64) [!STEPS.contains(&step)]
    named(name: &str) [NAMES.contains(&name)]
    implies(strict: bool, count: u32) [!strict || count <= MOST]
    both(left: bool, right: bool) [left == right]
    agree(flag: bool, count: i32) [flag == (count > 2)]
    true_only(flag: bool) [flag != false]
    positive(ratio: f64) [ratio > 0.0]
    ratio(ratio: f64) [(0.0..=RATIO).contains(&ratio)]
    not_ratio(ratio: f64) [!(ratio < RATIO) && ratio != 2.5]
    product(ratio: f64, scale: f64) [ratio * scale - 1.5 <= 100.0]
    not_product(ratio: f64, scale: f64) [!(ratio * scale > 1e300)]
    two_products(ratio: f64, scale: f64) [ratio * scale < scale * 2.0]
    finite(ratio: f64, scale: f64) [(ratio * scale).is_finite()]
    finite_alone(ratio: f64) [ratio.is_finite() && !ratio.is_nan()]
    single_above(ratio: f32) [ratio > 0.1]
    single_at_least(ratio: f32) [ratio >= 0.1 && ratio <= 7.3]
    single_equal(ratio: f32) [ratio == 0.1 || 2.5 == ratio]
    single_order(low: f32, high: f32) [low < high]
    bytes(name: String) [name.len() <= 5]
    bytes_at_least(name: &str) [name.len() >= 3 && name.len() != 4]
    not_empty(name: &str) [!name.is_empty()]
    empty_or_long(name: &str) [name.len() < 1 || name.len() + 1 > 4]
    shorter(name: &str, most: usize) [name.len() - 1 < most]
    characters(name: &str) [name.chars().count() <= 3]
    prefix(name: &str) [name.starts_with("a'b\\") || name.starts_with('é')]
    suffix(name: &str) [!name.ends_with(".rs")]
    holds(name: &str, part: &str) [name.contains(part) && !name.contains("\n")]
    same_text(name: &str, other: String) [name == other || name == OWNER]
    one_of(name: String) [["a", "b", OWNER].contains(&name.as_str())]
    letter(letter: char) [letter == 'a' || letter != 'é' && ['x', '😀'].contains(&letter)]
    pattern(name: &str) [matches_pattern(name, r"^[a-z]\w{0,3}(\d|-)$")]
    not_pattern(name: &str) [!matches_pattern(name, r"\s|^$|[[:upper:].]")]
    few_for(tags: &[String], most: u32) [tags.len() <= most as usize]
    count_as_wide(tags: Vec<String>, most: u64) [most > tags.len() as u64]
    widened(count: u32, most: i64) [i64::from(count) - 3 < most]
    widened_small(count: i8, most: i64) [(count as i64) * 2 <= most]
    widened_product(count: u8) [count as u32 * 1000 <= 5000]
    widened_difference(start: u32, end: u32) [i64::from(end) - i64::from(start) >= 10]
    widened_sum(one: u8, other: u8) [u16::from(one) + u16::from(other) <= 300]
    widened_magnitude(count: i8) [(count as i16).abs() <= 100]
    widened_length(tags: &[String], most: u8) [tags.len() as u64 * 2 <= u64::from(most) + 1]
    magnitude(ratio: f64) [ratio.abs() <= 2.5]
    not_magnitude(ratio: f64) [!(ratio.abs() > RATIO)]
    single_magnitude(ratio: f32) [ratio.abs() < 7.3]
    unsigned_magnitude(count: i8, other: i64) [count.unsigned_abs() < 5 || other.unsigned_abs() >= 3]
    magnitude_of_sum(left: i16, right: i16) [(left - right).abs() <= 3]
    magnitude_is_not(left: i64) [left.abs() != 7]
    whole_magnitude(count: i8, other: i64) [count.abs() < 5 || other.abs() >= 3]
    not_whole_magnitude(count: i32) [!(count.abs() > 3)]
    same_magnitude(left: i32, right: i32) [left.abs() == right.abs()]
    ascii(name: &str, letter: char) [name.is_ascii() && letter.is_ascii()]
    not_ascii(name: String) [!name.is_ascii()]
    aliased(tags: Vec<String>, most: u8) [tags.len() <= most as Count]
    each_widened(counts: Vec<u8>, most: u32) [counts.iter().all(|count| *count as u32 <= most)]
    few(tags: &[String]) [tags.len() <= 2 && !tags.is_empty()]
    each_short(tags: Vec<String>) [tags.iter().all(|tag| !tag.is_empty() && tag.len() <= 3)]
    not_each(tags: Vec<String>) [!tags.iter().all(|tag| tag.starts_with('a'))]
    some_even(counts: Vec<i32>) [counts.iter().any(|count| count % 2 == 0 && *count != 4)]
    each_sum(counts: Vec<u8>, more: u8) [counts.iter().all(|var| *var + more < 250)]
    nested(rows: Vec<Vec<String>>) [rows.iter().all(|row| row.iter().any(|row| row == "a") || row.len() > 1)]
    hidden(rows: Vec<Option<String>>, tags: Vec<String>) [rows.iter().all(|row| row.as_ref().is_none_or(|wanted| !tags.iter().any(|row| row == wanted)))]
    has_tag(tags: Vec<String>, tag: String) [tags.contains(&tag)]
    has_count(counts: Vec<i32>) [counts.contains(&3)]
    has_ratio(ratios: Vec<f64>) [!ratios.contains(&2.5)]
    some_items(names: Vec<Option<String>>) [names.iter().all(|name| name.as_deref().is_some_and(|name| name.len() > 1))]
    given(note: Option<String>) [note.is_some()]
    absent(note: Option<u32>) [note == None || note.is_some_and(|note| note > 5)]
    maybe_short(note: Option<String>) [note.as_deref().is_none_or(|note| note.chars().count() < 3)]
    maybe_many(count: Option<i64>) [count.is_some_and(|count| count > 3)]
    not_maybe(count: Option<u8>, most: u8) [!count.is_some_and(|count| count + most > 10)]
    default_count(#[arg(default = 4)] count: u32, most: u32) [count <= most]
    default_text(#[arg(default = "a")] name: &str, other: &str) [name != other]
    default_list(#[arg(default = vec![1, 2])] counts: Vec<i32>, count: i32) [counts.contains(&count)]
    default_ratio(#[arg(default = -1.5)] ratio: f64, scale: f64) [ratio * 2.0 < scale]
    default_flag(#[arg(default = true)] flag: bool, other: bool) [flag || other]
    default_some(#[arg(default = Some(7))] count: Option<i32>, most: i32) [count.is_some_and(|count| count <= most)]
    default_some_given(#[arg(default = Some(7))] count: Option<i32>, flag: bool) [count.is_some() == flag]
    mode(mode: Mode) [matches!(mode, Mode::VeryFast | Mode::Slow)]
    mode_moves(mode: Mode, count: u32) [mode.moves() || count == 0]
    mode_maybe(mode: Option<Mode>) [mode != Some(Mode::Off)]
    mode_default(#[arg(default = Mode::Off)] mode: Mode, flag: bool) [mode == Mode::Off || flag]
    level(level: Level) [level != Level::Low]
    level_maybe(level: Option<Level>, flag: bool) [level.is_none() == flag || level == Some(Level::High)]
    reserved(#[arg(name = "in")] inside: u32, #[arg(name = "namespace")] dashed: Option<u32>) [inside > 2 && dashed.is_none_or(|namespace| namespace < inside)]
}
