use contract_runtime::prelude::*;

fn main() {
    let mut number = 5;
    contract_assert!({ number += 1; number > 5 });
}
