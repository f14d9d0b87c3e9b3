//! rig: `ErasedTool::execute` of a tool in a `HashMap`, and the definitions that it sends.
//!
//! Its agent makes an effect of each call, which a driver serves through a queue; both are left out.

use std::collections::HashMap;

use rig_core::completion::ToolDefinition;
use rig_core::message::ToolName;
use rig_core::rig_tool;
use rig_core::tool::{ErasedTool, ToolContext, ToolExecutionError};

use crate::meter::Meter;
use crate::tools::{Found, Order, Prices, Unit, found, json, metres, once, size, sum};
use crate::work::{LISTED, Work};

/// Add two numbers.
#[rig_tool]
fn add(a: i64, b: i64) -> Result<i64, ToolExecutionError> {
    Ok(a.wrapping_add(b))
}

/// Add two numbers, later.
#[rig_tool]
async fn add_async(a: i64, b: i64) -> Result<i64, ToolExecutionError> {
    Ok(a.wrapping_add(b))
}

/// Search for something.
#[rig_tool]
fn search(
    query: String,
    limit: Option<u32>,
    tags: Vec<String>,
) -> Result<Found, ToolExecutionError> {
    Ok(found(query, limit, tags))
}

/// Place an order.
#[rig_tool]
fn place(order: Order) -> Result<u64, ToolExecutionError> {
    Ok(size(&order))
}

/// Convert a length.
#[rig_tool]
fn convert(length: i64, unit: Unit) -> Result<i64, ToolExecutionError> {
    Ok(metres(length, &unit))
}

/// Add up prices.
#[rig_tool]
fn total(prices: Prices) -> Result<i64, ToolExecutionError> {
    Ok(sum(&prices))
}

/// Find pages about a subject.
#[rig_tool]
fn find_pages(
    /// What the pages are about.
    query: String,
    /// How many pages are wanted at most.
    limit: Option<u32>,
    /// Words that each of the pages has.
    tags: Vec<String>,
) -> Result<Found, ToolExecutionError> {
    Ok(found(query, limit, tags))
}

type Tools = HashMap<String, Box<dyn ErasedTool>>;

pub(super) fn run(meter: &Meter, work: Work) {
    if work == Work::List {
        return meter.list(list);
    }
    let tools: [Box<dyn ErasedTool>; 6] = [
        Box::new(Add),
        Box::new(AddAsync),
        Box::new(Search),
        Box::new(Place),
        Box::new(Convert),
        Box::new(Total),
    ];
    let tools: Tools = tools.into_iter().map(|tool| (tool.name(), tool)).collect();
    meter.call(|| {
        let mut context = ToolContext::new();
        let arguments = work.arguments().to_owned();
        let result = once(tools[work.name()].execute(arguments, &mut context).as_mut());
        result
            .into_result()
            .expect("the arguments are right")
            .render()
    });
}

fn list() -> (Tools, String) {
    let tools: Tools = (0..LISTED)
        .map(|index| {
            (
                format!("find_pages_{index}"),
                Box::new(FindPages) as Box<dyn ErasedTool>,
            )
        })
        .collect();
    let listed = tools.iter().map(|(name, tool)| ToolDefinition {
        name: ToolName::new(name.as_str()).expect("it is not empty"),
        description: tool.description(),
        parameters: tool.parameters(),
    });
    let text = json(&listed.collect::<Vec<_>>());
    (tools, text)
}
