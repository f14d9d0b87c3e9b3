use std::sync::Arc;

use contract_runtime::prelude::*;

trait Db {}

/// Count the rows of a table.
#[tool(read_only)]
fn count(#[context] db: &Arc<dyn Db>, table: &str) -> usize {
    let _ = db;
    table.len()
}

fn main() {}
