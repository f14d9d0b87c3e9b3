use contract_runtime::prelude::*;

/// Stop it all.
#[tool]
fn stop() -> ! {
    panic!()
}

fn main() {}
