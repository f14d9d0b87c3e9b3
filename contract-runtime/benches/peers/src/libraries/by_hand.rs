//! The same by hand: a `HashMap` of functions, derived `Args`, `from_str`, `to_string`; schemas by schemars.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;

use serde::Deserialize;

use crate::meter::Meter;
use crate::tools::{
    FIND_PAGES, Listed, Order, Prices, Search, Unit, found, json, metres, once, size, sum,
};
use crate::work::{LISTED, Work};

type Function = fn(&str) -> Result<String, String>;
type Later<'a> = Pin<Box<dyn Future<Output = Result<String, String>> + Send + 'a>>;
type AsyncFunction = fn(&str) -> Later<'_>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Add {
    a: i64,
    b: i64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Place {
    order: Order,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Convert {
    length: i64,
    unit: Unit,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Total {
    prices: Prices,
}

fn read<'t, T: Deserialize<'t>>(text: &'t str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

fn written(value: &impl serde::Serialize) -> Result<String, String> {
    serde_json::to_string(value).map_err(|error| error.to_string())
}

fn add(text: &str) -> Result<String, String> {
    let Add { a, b } = read(text)?;
    written(&a.wrapping_add(b))
}

fn add_async(text: &str) -> Later<'_> {
    Box::pin(async move { add(text) })
}

fn search(text: &str) -> Result<String, String> {
    let Search { query, limit, tags } = read(text)?;
    written(&found(query, limit, tags))
}

fn place(text: &str) -> Result<String, String> {
    let Place { order } = read(text)?;
    written(&size(&order))
}

fn convert(text: &str) -> Result<String, String> {
    let Convert { length, unit } = read(text)?;
    written(&metres(length, &unit))
}

fn total(text: &str) -> Result<String, String> {
    let Total { prices } = read(text)?;
    written(&sum(&prices))
}

pub(super) fn run(meter: &Meter, work: Work) {
    let text = work.arguments();
    match work {
        Work::AddAsync => {
            let tools: HashMap<&str, AsyncFunction> =
                HashMap::from([("add_async", add_async as _)]);
            meter.call(|| match tools.get(work.name()) {
                Some(function) => once(function(text).as_mut()).expect("the arguments are right"),
                None => String::new(),
            });
        }
        Work::List => meter.list(list),
        _ => {
            let tools: HashMap<&str, Function> = HashMap::from([
                ("add", add as _),
                ("search", search as _),
                ("place", place as _),
                ("convert", convert as _),
                ("total", total as _),
            ]);
            meter.call(|| match tools.get(work.name()) {
                Some(function) => function(text).expect("the arguments are right"),
                None => String::new(),
            });
        }
    }
}

/// A function under each of the names, and the schema of its arguments.
fn list() -> (HashMap<String, Function>, String) {
    let names: Vec<String> = (0..LISTED)
        .map(|index| format!("find_pages_{index}"))
        .collect();
    let tools = names
        .iter()
        .map(|name| (name.clone(), search as Function))
        .collect();
    let listed = names.iter().map(|name| Listed {
        name,
        description: FIND_PAGES,
        parameters: schemars::schema_for!(Search),
    });
    (tools, json(&listed.collect::<Vec<_>>()))
}
