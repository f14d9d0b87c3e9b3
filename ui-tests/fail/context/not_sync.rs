use contract_runtime::prelude::*;
use std::cell::Cell;

struct State(Cell<u8>);

/// Set it.
#[tool]
fn set(#[context] state: &State) {
    state.0.set(1);
}

fn main() {}
