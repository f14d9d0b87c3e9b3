use contract_runtime::prelude::*;

/// Wait.
#[tool]
fn wait(
    #[arg(description = "how long")] seconds: u32,
    #[arg(min = 1, optional)] times: u32,
) {
    let _ = (seconds, times);
}

fn main() {}
