use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use contract_runtime::prelude::*;

struct Db;

/// Count the rows of a table.
#[tool(read_only)]
fn count(
    #[context] db: Rc<Db>,
    #[context] replica: Option<Rc<Db>>,
    #[context] cache: Arc<RefCell<Db>>,
    #[context] log: &Rc<Db>,
    table: &str,
) -> usize {
    let _ = (db, replica, cache, log);
    table.len()
}

fn main() {}
