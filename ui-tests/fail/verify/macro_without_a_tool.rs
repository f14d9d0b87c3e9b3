contract_runtime::verify!();

fn main() {}
