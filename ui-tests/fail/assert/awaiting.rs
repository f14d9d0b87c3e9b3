use contract_runtime::prelude::*;

async fn ready() -> bool {
    true
}

async fn run() {
    contract_assert!(ready().await);
}

fn main() {
    drop(run());
}
