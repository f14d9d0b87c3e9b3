use contract_runtime::prelude::*;

fn on_paper(registry: Registry) -> Registry {
    registry
}

/// Double a number.
#[tool]
#[verify(run, setup = on_paper)]
fn double(number: i32) -> i64 {
    i64::from(number) * 2
}

fn main() {}
