use contract_runtime::prelude::*;

struct State;

/// Set it.
#[tool]
fn set(#[context] #[arg(secret)] state: &State) {
    let _ = state;
}

fn main() {}
