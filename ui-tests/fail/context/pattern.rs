use contract_runtime::prelude::*;

struct State(u8);

/// Set it.
#[tool]
fn set(#[context] State(inner): &State) {
    let _ = inner;
}

fn main() {}
