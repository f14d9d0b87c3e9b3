use contract_runtime::prelude::*;

/// Do it.
#[tool]
#[pre(number.is_some_and(|number| number > 4))]
#[pre(number.is_none_or(|it| it < 4))]
fn run(number: Option<i8>) {}

fn main() {}
