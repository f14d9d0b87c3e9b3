use std::sync::Arc;

use contract_runtime::prelude::*;

trait Db: Send + Sync {}

/// Count the rows of a table.
#[tool(read_only)]
fn count(
    #[context] db: Arc<dyn Db>,
    #[context] replica: Option<Arc<dyn Db>>,
    #[context] cache: Option<&dyn Db>,
    table: &str,
) -> usize {
    let _ = (db, replica, cache);
    table.len()
}

fn main() {}
