use contract_runtime::prelude::*;

fn main() {
    contract_assert!("five is odd", 5 % 2 == 0);
}
