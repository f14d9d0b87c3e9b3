//! What it costs to show contracted tools to a model: the first time, which does the work, and again.

use contract_dialects::{StrictDialect, StrictExport as _};
use contract_runtime::Dialect;
use contract_runtime::prelude::*;

use crate::meter::Meter;

/// How many tools a registry of these cases holds.
const TOOLS: usize = 500;
/// How many of them a request to Anthropic may hold to their schemas.
const STRICT_TOOLS: usize = 20;

/// Plan a trip.
#[tool(read_only)]
#[pre(!city.is_empty() && city.chars().count() <= 80)]
#[pre((1..=30).contains(&days), "a trip takes a day to a month")]
#[pre(last > first, "the last day must come after the first")]
#[pre(budget >= 0.0)]
#[pre(stops.len() <= 8 && stops.iter().all(|stop| !stop.is_empty()))]
#[pre(guests.is_none_or(|guests| guests <= 12))]
fn plan(
    /// Where to.
    city: String,
    /// How many days.
    days: u32,
    first: u32,
    last: u32,
    /// In euro.
    budget: f64,
    stops: Vec<String>,
    guests: Option<u32>,
) -> String {
    format!("{city} {days} {first} {last} {budget} {stops:?} {guests:?}")
}

fn planners(count: usize) -> Option<Registry> {
    let builder = (0..count).fold(Registry::builder(), |builder, index| {
        builder.tool(plan).rename("plan", format!("plan_{index}"))
    });
    builder.build().ok()
}

/// The export alone, of a registry that has made none.
pub(crate) fn first(meter: &Meter, dialect: Dialect) -> f64 {
    made(meter, TOOLS, |registry| registry.export_text(dialect).len())
}

/// The same in a strict or reduced dialect.
pub(crate) fn strict(meter: &Meter, dialect: StrictDialect) -> f64 {
    let limited = dialect == StrictDialect::Anthropic;
    let count = if limited { STRICT_TOOLS } else { TOOLS };
    made(meter, count, |registry| registry.export_strict(dialect))
}

fn made<T>(meter: &Meter, count: usize, export: impl Fn(&Registry) -> T) -> f64 {
    meter.measure(
        1,
        || planners(count),
        |registry| {
            let made = registry.as_ref().map(&export);
            (registry, made)
        },
    )
}

/// The same export once more.
pub(crate) fn again(meter: &Meter, dialect: Dialect) -> f64 {
    let registry = planners(TOOLS);
    meter.measure(
        1,
        || (),
        |()| {
            registry
                .as_ref()
                .map(|registry| registry.export_text(dialect).len())
        },
    )
}

/// Building the registry, which judges the conditions and lowers none.
pub(crate) fn build(meter: &Meter) -> f64 {
    meter.measure(1, || (), |()| planners(TOOLS))
}

/// Building it and listing it for the first time, for which every condition is lowered.
pub(crate) fn list(meter: &Meter) -> f64 {
    meter.measure(
        1,
        || (),
        |()| {
            let registry = planners(TOOLS);
            let export = registry
                .as_ref()
                .map(|registry| registry.export_text(Dialect::OpenAiChat));
            let length = export.map(str::len);
            (registry, length)
        },
    )
}
