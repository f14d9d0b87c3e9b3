use contract_runtime::prelude::*;

trait Shop {
    #[pre(price > 0)]
    fn sell(price: u32);
}

fn main() {}
