use contract_runtime::prelude::*;

// What a tool becomes, as another macro might hand it on.
#[pre(number > 0)]
fn double(number: u32) -> u32 {
    fn __contract_body(number: u32) -> u32 {
        number * 2
    }
    __contract_body(number)
}

fn main() {}
