use contract_runtime::prelude::*;
use std::rc::Rc;

/// Make it.
#[tool]
async fn make() -> u32 {
    let shared = Rc::new(1);
    std::future::ready(()).await;
    *shared
}

fn main() {}
