/// Halve it.
#[contract_runtime::tool]
#[pre(number % 2 == 0)]
#[contract_runtime::post(|half| *half <= number)]
fn half(number: u32) -> u32 {
    number / 2
}

fn main() {}
