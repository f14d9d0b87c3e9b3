#![allow(unused_variables)]

use contract_runtime::prelude::*;

/// Refund.
#[tool]
#[pre(cents < 10, ask = 3)]
#[pre(cents < 20, ask = " ")]
#[pre(cents < 30, ask)]
#[pre(cents < 40, ask = "Refund {amount}?")]
#[pre(cents < 50, ask = "Refund with {pin}?")]
#[pre(cents < 60, ask = "Refund {}?")]
#[pre(cents < 70, ask = "Refund?", cents)]
#[pre(cents < 80, asks = "Refund?")]
#[pre(cents < 90, "no more", ask)]
#[pre(cents < 95, id = "")]
fn refund(cents: u32, #[arg(secret)] pin: String) {}

/// Pay out.
#[tool(confirm = "Pay {cent}?")]
#[pre(cents < 10, ask = "Pay?", policy = observe)]
#[pre(cents < 20, ask("Pay?"))]
#[pre(cents < 30, id = "limit")]
#[pre(cents < 40, id = "limit")]
#[post(|paid| *paid == cents, ask = "Pay?")]
fn pay_out(cents: u32) -> u32 {
    cents
}

#[pre(number > 0, ask = "Halve?")]
fn half(number: u32) -> u32 {
    number / 2
}

fn main() {}
