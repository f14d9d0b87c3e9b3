//! Schema subsumption: whether one schema accepts all that another accepts, or why that is not shown.
//!
//! It never says yes wrongly. It works on the shape of the two schemas: the inner one is taken apart into branches of one type
//! each, and every keyword of the outer one is shown to hold of every branch. Recursive schemas are judged by induction over
//! the values: a claim that is met again below itself, which is about a smaller value there, may be used.

mod accepts;
mod array;
mod branch;
mod empty;
mod finding;
mod node;
mod object;
mod scalar;
mod structural_eq;
mod subsumes;
#[cfg(test)]
mod tests;

use serde_json::Value;

pub(super) use accepts::equal;
pub(super) use finding::{Direction, Finding};
pub(super) use node::Node;
pub(super) use object::changed_default;

use contract_runtime::__family::check_schema;
use subsumes::Prover;

/// What a missing optional member stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Defaults {
    /// The `default` of its schema, which must therefore stay.
    Matter,
    /// Nothing, as in a result.
    AreNotes,
}

/// Shows that `outer` accepts everything that `inner` accepts.
///
/// Both documents must be [`readable`].
pub(super) fn accepts_all(
    outer: Node<'_>,
    inner: Node<'_>,
    defaults: Defaults,
) -> Result<(), Finding> {
    Prover::new(defaults).subsumes(&[inner], outer)
}

/// Refuses a document whose keywords mean something that is not known here, or nothing.
pub(super) fn readable(document: &Value) -> Result<(), String> {
    let edition = document.get("$schema").and_then(Value::as_str);
    if let Some(edition) = edition
        && edition.trim_end_matches('#') != "https://json-schema.org/draft/2020-12/schema"
    {
        return Err(format!("`{edition}` is another edition of JSON Schema"));
    }
    check_schema(document).map_err(|error| error.to_string())
}
