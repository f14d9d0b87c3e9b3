//! One clause of every kind: each tool stands beside its twin without the clause.

#![allow(
    clippy::manual_range_contains,
    clippy::manual_is_multiple_of,
    clippy::float_cmp,
    clippy::too_many_arguments,
    reason = "predicates are tried in every spelling"
)]

use contract_runtime::matches_pattern;
use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

pub(crate) struct Sample {
    /// The name of the tool with the clause.
    pub(crate) name: &'static str,
    /// Of each list at least one must be in an export more often than without the clause, or after a `-` less often.
    pub(crate) evidence: &'static [&'static [&'static str]],
    with: fn() -> Registry,
    /// The same tool without the clause, under the same name.
    pub(crate) without: fn() -> Registry,
}

impl Sample {
    pub(crate) fn registry(&self) -> Registry {
        (self.with)()
    }
}

macro_rules! samples {
    ($($with:ident, $without:ident($($parameters:tt)*) [$($clause:tt)*] [$($evidence:expr),* $(,)?];)*) => {
        $(
            /// Take it.
            #[tool]
            #[pre($($clause)*)]
            #[allow(unused_variables, clippy::needless_pass_by_value)]
            fn $with($($parameters)*) {}

            /// Take it.
            #[tool]
            #[allow(unused_variables, clippy::needless_pass_by_value)]
            fn $without($($parameters)*) {}
        )*

        pub(crate) const SAMPLES: &[Sample] = &[$(Sample {
            name: stringify!($with),
            evidence: &[$(&$evidence),*],
            with: || Registry::builder().tool($with).build().unwrap(),
            without: || {
                let builder = Registry::builder().tool($without);
                builder.rename(stringify!($without), stringify!($with)).build().unwrap()
            },
        }),*];
    };
}

const LIMIT: u32 = 73;

fn is_prime(number: u32) -> bool {
    number > 1 && (2..number).all(|divisor| !number.is_multiple_of(divisor))
}

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Mode {
    VeryFast,
    /// With care.
    Slow,
    Off,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[allow(dead_code, reason = "most of it is only shown")]
pub(crate) struct Place {
    city: String,
    /// Above the sea, in metres.
    #[serde(default)]
    height: u16,
    #[serde(default)]
    floors: Option<u8>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub(crate) enum Shape {
    Empty,
    Disk { radius: f64 },
}

samples! {
    more_than, more_than_bare(count: u32) [count > 16] [["16", "17"]];
    at_most, at_most_bare(count: u16) [count <= 93] [["93"]];
    within, within_bare(count: u32) [(21..=84).contains(&count)] [["21"], ["84"]];
    unlike, unlike_bare(count: i64) [count != 47] [["47"]];
    alike, alike_bare(count: i64) [count == 47] [["47"]];
    multiple, multiple_bare(count: i32) [count % 35 == 0] [["35"]];
    named, named_bare(count: u32) [count < LIMIT] [["72", "LIMIT"]];
    listed, listed_bare(count: u8) [[31, 52].contains(&count)] [["31"], ["52"]];
    negative, negative_bare(count: i8) [count >= -37] [["-37"]];
    wide, wide_bare(count: u64) [count <= 9_007_199_254_740_991] [["9007199254740991"]];
    far, far_bare(count: u64) [count <= 18_446_744_073_709_551_000] [["18446744073709551000"]];
    outside, outside_bare(count: u8) [count < 11 || count > 88] [["10", "11"], ["88", "89"]];
    above, above_bare(ratio: f64) [ratio > 0.25] [["0.25"]];
    single, single_bare(ratio: f32) [ratio <= 62.5] [["62.5"]];
    nonzero, nonzero_bare(ratio: f64) [ratio != 0.125] [["0.125"]];
    bytes, bytes_bare(name: String) [name.len() <= 61] [["61"]];
    many_bytes, many_bytes_bare(name: String) [name.len() >= 13] [["13"]];
    letters, letters_bare(name: String) [name.chars().count() <= 57] [["57"]];
    filled, filled_bare(name: String) [!name.is_empty()] [["minLength", "at least 1 character", "is_empty"]];
    begins, begins_bare(name: String) [name.starts_with("home")] [["home"]];
    ends, ends_bare(name: String) [name.ends_with("rs77")] [["rs77"]];
    holds, holds_bare(name: String) [name.contains("needle")] [["needle"]];
    matching, matching_bare(name: String) [matches_pattern(&name, "^[a-f]{3,7}$")] [["a-f"]];
    both, both_bare(name: String) [name.starts_with("abx") && name.ends_with("xyz")] [["abx"], ["xyz"]];
    begins_not, begins_not_bare(name: String) [!name.starts_with("tmp")] [["tmp"]];
    is_text, is_text_bare(name: String) [name == "admin"] [["admin"]];
    not_text, not_text_bare(name: String) [name != "root"] [["root"]];
    one_text, one_text_bare(name: String) [["left", "right"].contains(&name.as_str())] [["left"], ["right"]];
    letter, letter_bare(letter: char) [letter == 'q' || letter == 'z'] [["q\"", "'q'"], ["z\"", "'z'"]];
    few, few_bare(tags: Vec<String>) [tags.len() <= 19] [["19"]];
    some, some_bare(tags: Vec<String>) [!tags.is_empty()] [["minItems", "at least 1 item", "is_empty"]];
    every, every_bare(tags: Vec<String>) [tags.iter().all(|tag| tag.chars().count() <= 23)] [["23"]];
    any, any_bare(tags: Vec<String>) [tags.iter().any(|tag| tag == "wanted")] [["wanted"]];
    item, item_bare(tags: Vec<i32>) [tags.contains(&77)] [["77"]];
    rows, rows_bare(tags: Vec<Vec<u8>>) [tags.iter().all(|tag| tag.len() <= 29)] [["29"]];
    maybe, maybe_bare(count: Option<u32>) [count.is_none_or(|count| count <= 39)] [["39"]];
    given, given_bare(name: Option<String>) [name.is_some()] [["is_some", "required", "-null"]];
    absent, absent_bare(name: Option<String>) [name.is_none()] [["is_none", "-\"string\"", "-STRING", "null"]];
    short, short_bare(name: Option<String>) [name.as_deref().is_some_and(|name| name.len() <= 27)] [["27"]];
    fast, fast_bare(mode: Mode) [matches!(mode, Mode::VeryFast | Mode::Slow)] [["-off", "very-fast", "Mode::Slow"]];
    on, on_bare(mode: Mode) [mode != Mode::Off] [["-off", "very-fast", "Mode::Off"]];
    sure, sure_bare(flag: bool) [flag] [["true", "`flag`"]];
    unsure, unsure_bare(flag: bool) [!flag] [["false", "`!flag`"]];
    after, after_bare(start: u32, end: u32) [end > start] [["end > start"]];
    sum, sum_bare(start: u8, end: u8) [u16::from(start) + u16::from(end) <= 66, "more than 66 together"] [["66"]];
    implied, implied_bare(flag: bool, count: u32) [!flag || count <= 44] [["44"]];
    opaque, opaque_bare(count: u32) [is_prime(count), "must be a prime"] [["must be a prime"]];
    field, field_bare(place: Place) [place.city != "atlantis", "nobody has found atlantis"] [["atlantis"]];
    other_field, other_field_bare(shape: Shape) [!matches!(shape, Shape::Disk { radius } if radius > 7.5), "the radius is above 7.5"] [["7.5"]];
    fallback, fallback_bare(#[arg(default = 40)] count: u16) [count <= 90] [["90"]];
    other_default, other_default_bare(#[arg(default = Some(4))] count: Option<u16>) [count.is_none_or(|count| count <= 91)] [["91"]];
    several, several_bare(count: u32) [count >= 12 && count <= 600 && count % 28 == 0 && count != 336] [["12"], ["600"], ["28"], ["336"]];
}
