use contract_runtime::prelude::*;
use std::rc::Rc;

/// Mix it.
#[tool]
fn mix(left: Rc<String>) -> usize {
    left.len()
}

fn main() {}
