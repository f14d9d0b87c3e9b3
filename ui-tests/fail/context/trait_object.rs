use contract_runtime::prelude::*;

trait Db: Send + Sync {}

/// Count the rows of a table.
#[tool(read_only)]
fn count(#[context] db: &dyn Db, table: &str) -> usize {
    let _ = db;
    table.len()
}

fn main() {}
