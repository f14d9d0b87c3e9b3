use contract_runtime::prelude::*;

struct State;

/// Set it.
#[tool]
fn set(#[context] state: State) {
    let _ = state;
}

fn main() {}
