use contract_runtime::prelude::*;

fn main() {
    contract_assert!();
}
