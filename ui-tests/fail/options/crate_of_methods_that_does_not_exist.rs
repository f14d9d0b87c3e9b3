use contract_runtime::prelude::*;

struct Shop;

#[tool(crate = nowhere)]
impl Shop {
    /// Sell some.
    #[tool]
    #[pre(count > 0)]
    #[post(|left| *left < count)]
    fn sell(&self, count: u32) -> u32 {
        count - 1
    }

    /// Wait.
    #[tool]
    async fn wait(&self) -> u32 {
        1
    }
}

fn main() {
    let _ = Shop.sell(2);
}
