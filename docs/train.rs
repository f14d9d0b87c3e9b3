//! The tool of the page on what a model sees.

use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Deserialize;

#[derive(Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "their docs would be in the schema")]
pub enum Wagon {
    Seats,
    Beds,
    Freight,
}

#[must_use]
/// Reserve places on a train.
#[tool]
#[pre((1..=9).contains(&places))]
#[pre(wagon != Wagon::Freight, "freight takes no people")]
#[pre(to != from, "a trip leads somewhere else")]
#[pre(name.len() <= 40, "the ticket has room for 40 bytes")]
pub fn reserve(
    /// Who travels.
    name: &str,
    from: &str,
    to: &str,
    wagon: Wagon,
    #[arg(default = 1)] places: u8,
) -> String {
    format!("{places} {wagon:?} for {name}, {from} to {to}")
}
