use contract_runtime::prelude::*;

struct State(u8);

/// Set it.
#[tool]
fn set(value: u8, #[context] state: &mut State) {
    state.0 = value;
}

fn main() {}
