use contract_runtime::prelude::*;
use std::sync::Mutex;

struct Counter(Mutex<u32>);

#[tool]
impl Counter {
    /// Add to the counter.
    #[tool]
    #[given(mut count = self.0.lock(), else)]
    async fn add(&self) -> u32 {
        std::future::ready(()).await;
        *count += 1;
        *count
    }
}

fn main() {}
