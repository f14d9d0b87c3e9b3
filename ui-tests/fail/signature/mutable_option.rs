use contract_runtime::prelude::*;

struct State(u8);

/// Set it.
#[tool]
fn set(value: Option<&mut u8>, #[context] state: Option<&mut State>) {
    let _ = (value, state);
}

fn main() {}
