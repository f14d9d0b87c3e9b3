use contract_runtime::prelude::*;

fn half(number: u32) -> Option<u32> {
    contract_assert!(number.checked_sub(1)? > 0);
    Some(number / 2)
}

fn main() {
    half(1);
}
