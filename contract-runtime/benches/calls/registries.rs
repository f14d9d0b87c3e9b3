//! The same calls through a registry, and what grows with the number of tools.

use std::pin::pin;

use contract_runtime::prelude::*;
use contract_runtime::{Dialect, DynamicSpec};
use serde_json::json;

use crate::by_hand::once;
use crate::meter::Meter;
use crate::tools::{self, ADD, SEARCH};

/// The tools in the registry of every call that is compared with one by hand.
pub(crate) const TOOLS: usize = 100;

/// Tools that no macro made, as many as are wanted.
pub(crate) fn fillers(count: usize) -> Vec<Tool> {
    (0..count)
        .map(|index| {
            let spec = DynamicSpec::new(format!("tool_{index}"), "Repeat a number.").input_schema(
                json!({
                    "type": "object",
                    "properties": {"number": {"type": "integer", "description": "The number to repeat."}},
                    "required": ["number"],
                    "additionalProperties": false,
                }),
            );
            Tool::dynamic(spec, |arguments| async move {
                Ok::<_, String>(Content::text(arguments["number"].to_string()))
            })
        })
        .collect()
}

pub(crate) fn built(builder: contract_runtime::Builder) -> Registry {
    match builder.build() {
        Ok(registry) => registry,
        Err(error) => unreachable!("the tools of the benchmark are in order: {error}"),
    }
}

fn registry() -> Registry {
    built(
        Registry::builder()
            .tool(tools::add)
            .tool(tools::add_async)
            .tool(tools::search)
            .tool(tools::search_async)
            .with(fillers(TOOLS - 4)),
    )
}

/// `Registry::call`, polled once; the `ToolCall` is made before and the `Outcome` dropped after.
pub(crate) fn measure(meter: &Meter, registry: &Registry, name: &str, text: &str) -> f64 {
    let outcome = once(pin!(registry.call(ToolCall::new("1", name, text))));
    assert!(
        outcome.as_ref().is_some_and(Outcome::is_ok),
        "{name}: {outcome:?}"
    );
    meter.measure(
        1_000,
        || ToolCall::new("1", name, text),
        |call| once(pin!(registry.call(call))),
    )
}

/// From a text that is somebody else's to a text: the making of the `ToolCall` and the rest of the `Outcome` included.
fn whole(meter: &Meter, registry: &Registry, name: &str, text: &str) -> f64 {
    meter.measure(
        1_000,
        || (),
        |()| {
            let outcome = once(pin!(registry.call(ToolCall::new("1", name, text))));
            outcome.and_then(|outcome| outcome.into_result().output)
        },
    )
}

/// From text to text, both lent.
fn lent(meter: &Meter, name: &str, text: &str) -> f64 {
    let registry = registry();
    meter.measure(
        1_000,
        || ("1", name, text),
        |call| once(pin!(registry.call(call).text())),
    )
}

/// The same on a thread that runs no async code.
fn lent_blocking(meter: &Meter, name: &str, text: &str) -> f64 {
    let registry = registry();
    meter.measure(
        1_000,
        || ("1", name, text),
        |call| registry.call(call).text().blocking(),
    )
}

fn blocking(meter: &Meter, name: &str, text: &str) -> f64 {
    let registry = registry();
    meter.measure(
        1_000,
        || ToolCall::new("1", name, text),
        |call| registry.call(call).blocking(),
    )
}

pub(crate) fn lent_add(meter: &Meter) -> f64 {
    lent(meter, "add", ADD)
}

pub(crate) fn lent_search(meter: &Meter) -> f64 {
    lent(meter, "search", SEARCH)
}

pub(crate) fn lent_add_async(meter: &Meter) -> f64 {
    lent(meter, "add_async", ADD)
}

pub(crate) fn lent_add_blocking(meter: &Meter) -> f64 {
    lent_blocking(meter, "add", ADD)
}

pub(crate) fn add_blocking(meter: &Meter) -> f64 {
    blocking(meter, "add", ADD)
}

pub(crate) fn add_async_blocking(meter: &Meter) -> f64 {
    blocking(meter, "add_async", ADD)
}

pub(crate) fn whole_add(meter: &Meter) -> f64 {
    whole(meter, &registry(), "add", ADD)
}

pub(crate) fn whole_search(meter: &Meter) -> f64 {
    whole(meter, &registry(), "search", SEARCH)
}

pub(crate) fn add(meter: &Meter) -> f64 {
    measure(meter, &registry(), "add", ADD)
}

pub(crate) fn add_async(meter: &Meter) -> f64 {
    measure(meter, &registry(), "add_async", ADD)
}

pub(crate) fn search(meter: &Meter) -> f64 {
    measure(meter, &registry(), "search", SEARCH)
}

pub(crate) fn search_async(meter: &Meter) -> f64 {
    measure(meter, &registry(), "search_async", SEARCH)
}

pub(crate) fn make(meter: &Meter) -> f64 {
    meter.measure(1_000, || (), |()| ToolCall::new("1", "add", ADD))
}

pub(crate) fn forget(meter: &Meter) -> f64 {
    let registry = registry();
    meter.measure(
        1_000,
        || once(pin!(registry.call(ToolCall::new("1", "add", ADD)))),
        drop,
    )
}

fn dynamic(meter: &Meter, count: usize) -> f64 {
    let registry = built(Registry::builder().with(fillers(count)));
    measure(meter, &registry, "tool_7", r#"{"number": 7}"#)
}

pub(crate) fn dynamic_10(meter: &Meter) -> f64 {
    dynamic(meter, 10)
}

pub(crate) fn dynamic_1_000(meter: &Meter) -> f64 {
    dynamic(meter, 1_000)
}

pub(crate) fn dynamic_10_000(meter: &Meter) -> f64 {
    dynamic(meter, 10_000)
}

fn find(meter: &Meter, count: usize) -> f64 {
    let registry = built(Registry::builder().with(fillers(count)));
    meter.measure(
        1_000,
        || "tool_7",
        |name| registry.tool(name).map(|tool| tool.name().len()),
    )
}

pub(crate) fn find_10(meter: &Meter) -> f64 {
    find(meter, 10)
}

pub(crate) fn find_1_000(meter: &Meter) -> f64 {
    find(meter, 1_000)
}

pub(crate) fn find_10_000(meter: &Meter) -> f64 {
    find(meter, 10_000)
}

/// A call of a tool that is not there, to which the nearest name is found.
pub(crate) fn wrong_name(meter: &Meter) -> f64 {
    let registry = built(Registry::builder().with(fillers(10_000)));
    meter.measure(
        10,
        || ToolCall::new("1", "tol_7777", r#"{"number": 7}"#),
        |call| once(pin!(registry.call(call))),
    )
}

/// The tools in the function-calling format, as every request to a model has them.
fn listed(registry: &Registry) -> &str {
    registry.export_text(Dialect::OpenAiChat)
}

/// Making dynamic tools, building their registry and listing it for a model, as text.
fn list(meter: &Meter, count: usize) -> f64 {
    meter.measure(
        1,
        || (),
        |()| {
            let registry = built(Registry::builder().with(fillers(count)));
            let length = listed(&registry).len();
            (registry, length)
        },
    )
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
) -> String {
    format!("{query} {limit:?} {tags:?}")
}

/// As many tools of three documented parameters, as a macro makes them.
fn made_by_macro(count: usize) -> Registry {
    let tools = (0..count).fold(Registry::builder(), |builder, index| {
        builder
            .tool(find_pages)
            .rename("find_pages", format!("find_pages_{index}"))
    });
    built(tools)
}

pub(crate) fn list_500(meter: &Meter) -> f64 {
    meter.measure(
        1,
        || (),
        |()| {
            let registry = made_by_macro(500);
            let length = listed(&registry).len();
            (registry, length)
        },
    )
}

/// The same list as text once more, as every request to a model has it.
pub(crate) fn text_again(meter: &Meter) -> f64 {
    let registry = made_by_macro(500);
    meter.measure(1, || (), |()| listed(&registry).len())
}

pub(crate) fn list_10(meter: &Meter) -> f64 {
    list(meter, 10)
}

pub(crate) fn list_1_000(meter: &Meter) -> f64 {
    list(meter, 1_000)
}

pub(crate) fn list_10_000(meter: &Meter) -> f64 {
    list(meter, 10_000)
}

pub(crate) fn list_again(meter: &Meter) -> f64 {
    let registry = built(Registry::builder().with(fillers(10_000)));
    meter.measure(1, || (), |()| listed(&registry).len())
}
