//! contract-runtime: `call(..).text()`, and the export for OpenAI.

use std::pin::pin;

use contract_runtime::Dialect;
use contract_runtime::prelude::*;

use crate::meter::Meter;
use crate::tools::{self, Found, Order, Prices, Unit, once};
use crate::work::{LISTED, Work};

/// Add two numbers.
#[tool]
fn add(a: i64, b: i64) -> i64 {
    a.wrapping_add(b)
}

/// Add two numbers, later.
#[tool]
async fn add_async(a: i64, b: i64) -> i64 {
    a.wrapping_add(b)
}

/// Search for something.
#[tool]
fn search(query: String, limit: Option<u32>, tags: Vec<String>) -> Found {
    tools::found(query, limit, tags)
}

/// Place an order.
#[tool]
fn place(order: Order) -> u64 {
    tools::size(&order)
}

/// Convert a length.
#[tool]
fn convert(length: i64, unit: Unit) -> i64 {
    tools::metres(length, &unit)
}

/// Add up prices.
#[tool]
fn total(prices: Prices) -> i64 {
    tools::sum(&prices)
}

/// Find pages about a subject.
#[tool]
fn find_pages(
    /// What the pages are about.
    query: String,
    /// How many pages are wanted at most.
    limit: Option<u32>,
    /// Words that each of the pages has.
    tags: Vec<String>,
) -> Found {
    tools::found(query, limit, tags)
}

pub(super) fn run(meter: &Meter, work: Work) {
    if work == Work::List {
        return meter.list(list);
    }
    let builder = Registry::builder()
        .tool(add)
        .tool(add_async)
        .tool(search)
        .tool(place)
        .tool(convert)
        .tool(total);
    let registry = builder.build().expect("the tools are in order");
    meter.call(|| {
        let call = ("1", work.name(), work.arguments());
        once(pin!(registry.call(call).text())).expect("the arguments are right")
    });
}

/// One function under all of the names: the types of as many functions would be described once as well.
fn list() -> (Registry, String) {
    let builder = (0..LISTED).fold(Registry::builder(), |builder, index| {
        builder
            .tool(find_pages)
            .rename("find_pages", format!("find_pages_{index}"))
    });
    let registry = builder.build().expect("the tools are in order");
    let text = registry.export_text(Dialect::OpenAiChat).to_owned();
    (registry, text)
}
