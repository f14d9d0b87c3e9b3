//! Contracts that look as if they could not be kept, and can; and places where the compiler's judge must not be in the way.
#![deny(warnings)]
#![allow(dead_code, unused_variables)]

use contract_runtime::prelude::*;

const LEAST: u32 = 3;

/// Strict bounds next to each other, and bounds that leave one value.
#[tool]
#[pre(a > 3 && a < 5)]
#[pre(b >= LEAST && b <= LEAST)]
#[pre(c > 0.1 && c < 0.100_000_000_000_000_03)]
#[pre(d >= 0.1 && d <= 0.1)]
#[pre(e.len() == 4 && e.chars().count() == 1)]
#[pre(f <= g && g <= f)]
#[pre(tags.is_empty() || tags.iter().all(|tag| tag.len() > 3 && tag.len() < 2))]
fn narrow(a: u8, b: u32, c: f64, d: f32, e: String, f: i64, g: i64, tags: Vec<String>) {}

/// What no number satisfies, NaN does, which comes by a direct call.
#[tool]
#[pre(!(ratio > 1.0))]
#[pre(!(ratio < 2.0))]
fn not_a_number(ratio: f64) {}

/// Beyond what is counted here.
#[tool]
#[pre(number > 170_141_183_460_469_231_731_687_303_715_884_105_726)]
#[pre(number < other)]
fn large(number: u128, other: u128) {}

/// A default and an example at the very end.
#[tool]
#[pre(size <= 8 && name.len() < 3)]
fn at_the_end(#[arg(default = 8, example = 0)] size: u8, #[arg(example = "ab")] name: &str) {}

struct Own(u32);

impl PartialEq<u32> for Own {
    fn eq(&self, _: &u32) -> bool {
        true
    }
}

impl PartialOrd<u32> for Own {
    fn partial_cmp(&self, _: &u32) -> Option<std::cmp::Ordering> {
        None
    }
}

type Alias = Own;

#[pre(own == 1)]
#[pre(own == 2)]
#[pre(alias == 1 && alias == 2)]
fn own_order(own: Own, alias: Alias) {}

struct Grid<T, const N: usize>(T);

impl<T: PartialOrd<u32> + Copy, const N: usize> Grid<T, N> {
    const MOST: usize = N;

    #[pre(at < N && at < Self::MOST)]
    #[pre(value == 1 && value == 2)]
    fn set<U: AsRef<str>>(&self, at: usize, value: T, name: U) {}

    #[pre(at < N)]
    fn find(at: usize, values: &[T]) {}
}

#[tool]
impl<T: Send + Sync + 'static, const N: usize> Grid<T, N> {
    /// Count.
    #[tool]
    #[pre(at < N && at < Self::MOST_OF_ALL)]
    fn count(&self, at: usize) {}
}

impl<T, const N: usize> Grid<T, N> {
    const MOST_OF_ALL: usize = 8;
}

struct Store;

#[tool]
impl Store {
    const LIMIT: u32 = 5;

    /// Count.
    #[tool]
    #[pre(count < Self::LIMIT && count < LEAST)]
    fn count(&self, count: u32, #[cfg(any())] other: Missing) {}
}

fn main() {
    narrow(
        4,
        3,
        0.100_000_000_000_000_02,
        0.1,
        "😀".into(),
        1,
        1,
        Vec::new(),
    );
    not_a_number(f64::NAN);
    large(u128::MAX - 1, u128::MAX);
    own_order(Own(0), Own(0));
}
