use contract_runtime::prelude::*;

trait Db: Send + Sync {}

/// Count the rows of a table.
#[tool(read_only)]
fn count(#[context] db: impl Db, #[context] log: &impl Db, table: &str) -> usize {
    let _ = (db, log);
    table.len()
}

fn main() {}
