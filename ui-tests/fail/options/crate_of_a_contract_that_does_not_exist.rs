use contract_runtime::prelude::*;

#[pre(number > 0, crate = nowhere)]
#[post(|half| *half <= number)]
fn half(number: u32) -> u32 {
    number / 2
}

struct Shop;

impl Shop {
    #[pre(count > 0, crate = nowhere_else)]
    fn sell(&self, count: u32) -> u32 {
        count - 1
    }
}

fn main() {
    let _ = half(Shop.sell(2));
}
