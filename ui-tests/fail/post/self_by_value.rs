use contract_runtime::prelude::*;

struct Basket(Vec<u32>);

impl Basket {
    #[post(|weight| *weight as usize >= self.0.len())]
    fn weigh(self) -> u32 {
        self.0.into_iter().sum()
    }
}

fn main() {}
