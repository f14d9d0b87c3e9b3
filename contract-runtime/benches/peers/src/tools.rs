//! What the tools of all libraries share: their types, and what they do.

use std::collections::BTreeMap;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What a search found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Found {
    query: String,
    limit: u32,
    tags: Vec<String>,
    total: u64,
}

pub(crate) fn found(query: String, limit: Option<u32>, tags: Vec<String>) -> Found {
    Found {
        total: query.len() as u64 + tags.len() as u64,
        limit: limit.unwrap_or(10),
        query,
        tags,
    }
}

/// An order. aisdk needs `Default`, and swiftide `Serialize`.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Order {
    item: String,
    count: u32,
    note: Option<String>,
}

pub(crate) fn size(order: &Order) -> u64 {
    let note = order.note.as_ref().map_or(0, String::len);
    order.item.len() as u64 + u64::from(order.count) + note as u64
}

/// A unit of length.
#[derive(Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Unit {
    #[default]
    Metre,
    Mile,
    Yard,
}

pub(crate) fn metres(length: i64, unit: &Unit) -> i64 {
    length.wrapping_mul(match unit {
        Unit::Metre => 1_000,
        Unit::Mile => 1_609_344,
        Unit::Yard => 914,
    })
}

pub(crate) type Prices = BTreeMap<String, i64>;

pub(crate) fn sum(prices: &Prices) -> i64 {
    prices
        .values()
        .fold(0, |sum, price| sum.wrapping_add(*price))
}

/// The arguments of the tools of a listing, and of a search, where a library has no macro for them.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Search {
    /// What the pages are about.
    pub(crate) query: String,
    /// How many pages are wanted at most.
    pub(crate) limit: Option<u32>,
    /// Words that each of the pages has.
    pub(crate) tags: Vec<String>,
}

pub(crate) const FIND_PAGES: &str = "Find pages about a subject.";

/// One tool of a listing, as JSON, for libraries that leave this to each provider.
#[derive(Serialize)]
pub(crate) struct Listed<'t, S> {
    pub(crate) name: &'t str,
    pub(crate) description: &'t str,
    pub(crate) parameters: S,
}

/// For libraries whose tools give text, and for the lists of those that give values.
pub(crate) fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("every key is a string")
}

/// Polls a future once, which is enough for every tool here.
pub(crate) fn once<F: Future + ?Sized>(future: Pin<&mut F>) -> F::Output {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => unreachable!("no tool here waits for anything"),
    }
}

/// Calls a function for each number below 500: `call::<0>(into)` and so on.
macro_rules! for_500 {
    ($call:ident, $into:expr) => {{
        $crate::tools::for_500!(@100, $call, $into, 0);
        $crate::tools::for_500!(@100, $call, $into, 100);
        $crate::tools::for_500!(@100, $call, $into, 200);
        $crate::tools::for_500!(@100, $call, $into, 300);
        $crate::tools::for_500!(@100, $call, $into, 400);
    }};
    (@100, $call:ident, $into:expr, $from:expr) => {
        $crate::tools::for_500!(@10, $call, $into, $from);
        $crate::tools::for_500!(@10, $call, $into, $from + 10);
        $crate::tools::for_500!(@10, $call, $into, $from + 20);
        $crate::tools::for_500!(@10, $call, $into, $from + 30);
        $crate::tools::for_500!(@10, $call, $into, $from + 40);
        $crate::tools::for_500!(@10, $call, $into, $from + 50);
        $crate::tools::for_500!(@10, $call, $into, $from + 60);
        $crate::tools::for_500!(@10, $call, $into, $from + 70);
        $crate::tools::for_500!(@10, $call, $into, $from + 80);
        $crate::tools::for_500!(@10, $call, $into, $from + 90);
    };
    (@10, $call:ident, $into:expr, $from:expr) => {
        $call::<{ $from }>($into);
        $call::<{ $from + 1 }>($into);
        $call::<{ $from + 2 }>($into);
        $call::<{ $from + 3 }>($into);
        $call::<{ $from + 4 }>($into);
        $call::<{ $from + 5 }>($into);
        $call::<{ $from + 6 }>($into);
        $call::<{ $from + 7 }>($into);
        $call::<{ $from + 8 }>($into);
        $call::<{ $from + 9 }>($into);
    };
}
pub(crate) use for_500;
