use contract_runtime::prelude::*;

#[pre(true)]
enum Colour {
    Red,
}

fn main() {}
