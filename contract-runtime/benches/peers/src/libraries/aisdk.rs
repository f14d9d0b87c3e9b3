//! aisdk: `ToolExecute::call` of a tool in a `HashMap`.
//!
//! Its own `ToolList::execute` searches a list behind a lock, and spawns a task for each call. It has no async tools. An argument that
//! is missing or wrong becomes the default of its type, and parameters have no descriptions.

use std::collections::HashMap;

use aisdk::core::tools::Tool;
use aisdk::macros::tool;

use crate::meter::Meter;
use crate::tools::{Listed, Order, Prices, Unit, found, json, metres, size, sum};
use crate::work::{LISTED, Work};

#[tool]
/// Add two numbers.
fn add(a: i64, b: i64) -> Tool {
    Ok(json(&a.wrapping_add(b)))
}

#[tool]
/// Search for something.
fn search(query: String, limit: Option<u32>, tags: Vec<String>) -> Tool {
    Ok(json(&found(query, limit, tags)))
}

#[tool]
/// Place an order.
fn place(order: Order) -> Tool {
    Ok(json(&size(&order)))
}

#[tool]
/// Convert a length.
fn convert(length: i64, unit: Unit) -> Tool {
    Ok(json(&metres(length, &unit)))
}

#[tool]
/// Add up prices.
fn total(prices: Prices) -> Tool {
    Ok(json(&sum(&prices)))
}

#[tool]
/// Find pages about a subject.
fn find_pages(query: String, limit: Option<u32>, tags: Vec<String>) -> Tool {
    Ok(json(&found(query, limit, tags)))
}

pub(super) fn run(meter: &Meter, work: Work) {
    match work {
        Work::AddAsync => {}
        Work::List => meter.list(list),
        _ => {
            let tools: HashMap<String, Tool> = [add(), search(), place(), convert(), total()]
                .into_iter()
                .map(|tool| (tool.name.clone(), tool))
                .collect();
            meter.call(|| {
                let arguments =
                    serde_json::from_str(work.arguments()).expect("the arguments are JSON");
                tools[work.name()]
                    .execute
                    .call(arguments)
                    .expect("the arguments are right")
            });
        }
    }
}

fn list() -> (HashMap<String, Tool>, String) {
    let tools: HashMap<String, Tool> = (0..LISTED)
        .map(|index| {
            let mut tool = find_pages();
            tool.name = format!("find_pages_{index}");
            (tool.name.clone(), tool)
        })
        .collect();
    let listed = tools.values().map(|tool| Listed {
        name: &tool.name,
        description: &tool.description,
        parameters: &tool.input_schema,
    });
    let text = json(&listed.collect::<Vec<_>>());
    (tools, text)
}
