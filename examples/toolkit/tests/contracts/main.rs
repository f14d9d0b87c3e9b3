//! The contracts of the package: which arguments they admit, who may switch them off, and what nobody can talk them into.

#[path = "../common/mod.rs"]
mod common;

mod arguments;
mod context;
mod frozen;
mod injection;
mod policies;
mod results;
mod shown;
mod switched_off;
mod verify;

use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::Value;

use common::{check, mutations, samples};

/// Arguments of every tool that break one of its preconditions.
fn violating(registry: &Registry) -> Vec<(String, Value)> {
    let mut found = Vec::new();
    for tool in registry.tools() {
        for arguments in samples(tool.name()) {
            for (_, spoiled) in mutations(&arguments, tool.input_schema()) {
                let outcome = check(registry, tool.name(), &spoiled.to_string());
                if outcome.status() == Status::Violation {
                    found.push((tool.name().to_owned(), spoiled));
                }
            }
        }
    }
    found
}
