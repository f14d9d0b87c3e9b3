use contract_runtime::prelude::*;
use std::rc::Rc;

struct Lab;

#[tool]
impl Lab {
    /// Make it.
    #[tool]
    async fn make(&self) -> u32 {
        let shared = Rc::new(1);
        std::future::ready(()).await;
        *shared
    }
}

fn main() {}
