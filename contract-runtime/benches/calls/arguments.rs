//! Arguments that are more than numbers and strings: structs, enums, maps, lists of structs.

use std::collections::BTreeMap;

use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::by_hand;
use crate::meter::Meter;
use crate::registries::{built, fillers, measure};

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Order {
    item: String,
    count: u32,
    note: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum Unit {
    Metre,
    Mile,
    Yard,
}

impl Unit {
    fn metres(&self) -> i64 {
        match self {
            Self::Metre => 1_000,
            Self::Mile => 1_609_344,
            Self::Yard => 914,
        }
    }
}

fn size(order: &Order) -> u64 {
    let note = order.note.as_ref().map_or(0, String::len);
    order.item.len() as u64 + u64::from(order.count) + note as u64
}

/// Place an order.
#[tool]
fn place(order: Order) -> u64 {
    size(&order)
}

/// Place several orders.
#[tool]
fn place_all(orders: Vec<Order>) -> u64 {
    orders.iter().map(size).sum()
}

/// Convert a length.
#[tool]
fn convert(length: i64, unit: Unit) -> i64 {
    length.wrapping_mul(unit.metres())
}

/// Add up prices.
#[tool]
fn total(prices: BTreeMap<String, i64>) -> i64 {
    prices
        .values()
        .fold(0, |sum, price| sum.wrapping_add(*price))
}

const PLACE: &str = r#"{"order": {"item": "paper, A4", "count": 12, "note": "white"}}"#;
const CONVERT: &str = r#"{"length": 26, "unit": "mile"}"#;
const TOTAL: &str = r#"{"prices": {"paper": 1250, "pencils": 399, "ink": 2799}}"#;

fn place_all_text() -> String {
    let orders = [r#"{"item": "paper, A4", "count": 12, "note": "white"}"#; 10];
    format!(r#"{{"orders": [{}]}}"#, orders.join(", "))
}

fn registry() -> Registry {
    built(
        Registry::builder()
            .tool(place)
            .tool(place_all)
            .tool(convert)
            .tool(total)
            .with(fillers(crate::registries::TOOLS - 4)),
    )
}

pub(crate) fn structure(meter: &Meter) -> f64 {
    measure(meter, &registry(), "place", PLACE)
}

pub(crate) fn structures(meter: &Meter) -> f64 {
    measure(meter, &registry(), "place_all", &place_all_text())
}

pub(crate) fn enumeration(meter: &Meter) -> f64 {
    measure(meter, &registry(), "convert", CONVERT)
}

pub(crate) fn map(meter: &Meter) -> f64 {
    measure(meter, &registry(), "total", TOTAL)
}

pub(crate) fn structure_by_hand(meter: &Meter) -> f64 {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Args {
        order: Order,
    }
    by_hand::measure(meter, "place", PLACE, |text| {
        let Args { order } = by_hand::read(text)?;
        by_hand::text_of(&size(&order))
    })
}

pub(crate) fn structures_by_hand(meter: &Meter) -> f64 {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Args {
        orders: Vec<Order>,
    }
    by_hand::measure(meter, "place_all", &place_all_text(), |text| {
        let Args { orders } = by_hand::read(text)?;
        by_hand::text_of(&orders.iter().map(size).sum::<u64>())
    })
}

pub(crate) fn enumeration_by_hand(meter: &Meter) -> f64 {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Args {
        length: i64,
        unit: Unit,
    }
    by_hand::measure(meter, "convert", CONVERT, |text| {
        let Args { length, unit } = by_hand::read(text)?;
        by_hand::text_of(&length.wrapping_mul(unit.metres()))
    })
}

pub(crate) fn map_by_hand(meter: &Meter) -> f64 {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Args {
        prices: BTreeMap<String, i64>,
    }
    by_hand::measure(meter, "total", TOTAL, |text| {
        let Args { prices } = by_hand::read(text)?;
        by_hand::text_of(
            &prices
                .values()
                .fold(0_i64, |sum, price| sum.wrapping_add(*price)),
        )
    })
}
