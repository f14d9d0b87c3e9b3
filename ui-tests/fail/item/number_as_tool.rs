use contract_runtime::prelude::*;

fn main() {
    let _ = Registry::builder().tool(5).build();
}
