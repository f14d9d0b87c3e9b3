use contract_runtime::prelude::*;

struct State;

/// Set it.
#[tool]
fn set(#[context(shared)] state: &State) {
    let _ = state;
}

fn main() {}
