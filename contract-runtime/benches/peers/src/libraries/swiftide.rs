//! swiftide: `Tool::invoke` of a tool in a `HashMap`, and the specifications that it sends.
//!
//! Its agent finds a tool in its set, and spawns a task for each call; both are left out. All of its tools are async.

use std::collections::HashMap;

use chat_completion::errors::ToolError;
use chat_completion::{Tool, ToolCall, ToolOutput};
use swiftide_macros::tool;
use traits::AgentContext;

use crate::meter::Meter;
use crate::tools::{self, Order, Prices, Unit, json, once};
use crate::work::{LISTED, Work};

// The parts of the facade that the macro names.
pub use swiftide_core::chat_completion;
pub mod traits {
    //! What tools are given.
    pub use swiftide_core::agent_traits::*;
}
pub mod reexports {
    //! What generated code uses.
    pub use {anyhow, async_trait, schemars, serde, serde_json};
}

#[tool(
    description = "Add two numbers.",
    param(name = "a", description = "One."),
    param(name = "b", description = "The other.")
)]
async fn add(_context: &dyn AgentContext, a: i64, b: i64) -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::text(json(&a.wrapping_add(b))))
}

#[tool(
    description = "Search for something.",
    param(name = "query", description = "What the pages are about."),
    param(name = "limit", description = "How many pages are wanted at most."),
    param(name = "tags", description = "Words that each of the pages has.")
)]
async fn search(
    _context: &dyn AgentContext,
    query: String,
    limit: Option<u32>,
    tags: Vec<String>,
) -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::text(json(&tools::found(query, limit, tags))))
}

#[tool(
    description = "Place an order.",
    param(name = "order", description = "What is wanted.")
)]
async fn place(_context: &dyn AgentContext, order: Order) -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::text(json(&tools::size(&order))))
}

#[tool(
    description = "Convert a length.",
    param(name = "length", description = "How many."),
    param(name = "unit", description = "Of what.")
)]
async fn convert(
    _context: &dyn AgentContext,
    length: i64,
    unit: Unit,
) -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::text(json(&tools::metres(length, &unit))))
}

#[tool(
    description = "Add up prices.",
    param(name = "prices", description = "The price of each item.")
)]
async fn total(_context: &dyn AgentContext, prices: Prices) -> Result<ToolOutput, ToolError> {
    Ok(ToolOutput::text(json(&tools::sum(&prices))))
}

type Tools = HashMap<String, Box<dyn Tool>>;

pub(super) fn run(meter: &Meter, work: Work) {
    let called = match work {
        Work::List => return meter.list(list),
        Work::AddAsync => Work::Add.name(),
        _ => work.name(),
    };
    let tools: Tools = [add(), search(), place(), convert(), total()]
        .into_iter()
        .map(|tool| (tool.name().into_owned(), tool))
        .collect();
    meter.call(|| {
        let call = ToolCall::builder()
            .id("1")
            .name(called)
            .args(work.arguments())
            .build();
        let call = call.expect("nothing is missing");
        let output = once(tools[call.name()].invoke(&(), &call).as_mut());
        match output.expect("the arguments are right") {
            ToolOutput::Text(text) => text,
            _ => String::new(),
        }
    });
}

fn list() -> (Tools, String) {
    let tools: Tools = (0..LISTED)
        .map(|index| (format!("find_pages_{index}"), search()))
        .collect();
    let listed = tools.iter().map(|(name, tool)| {
        let mut listed = tool.tool_spec();
        listed.name.clone_from(name);
        listed
    });
    let text = json(&listed.collect::<Vec<_>>());
    (tools, text)
}
