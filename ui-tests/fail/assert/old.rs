use contract_runtime::prelude::*;

fn main() {
    contract_assert!(old(5) == 5);
}
