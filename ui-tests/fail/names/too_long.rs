use contract_runtime::prelude::*;

/// Wait.
#[tool(name = "wait_until_everybody_has_come_back_from_lunch_and_the_coffee_is_ready")]
fn wait() {}

fn main() {}
