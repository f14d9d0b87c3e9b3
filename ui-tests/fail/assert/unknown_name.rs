use contract_runtime::prelude::*;

fn main() {
    contract_assert!(number % 2 == 0, "odd");
}
