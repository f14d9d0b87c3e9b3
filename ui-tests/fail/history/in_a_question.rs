use contract_runtime::prelude::*;

/// Refund.
#[tool(confirm = "Refund again, after {}?", history().count(refund))]
#[pre(cents < 10, "too much", ask = "So much, after {}?", history().count(refund))]
fn refund(cents: u32) {
    let _ = cents;
}

fn main() {}
