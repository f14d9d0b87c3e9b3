use contract_runtime::prelude::*;

fn main() {
    contract_assert!(5 % 2 == 0, policy = enforced);
}
