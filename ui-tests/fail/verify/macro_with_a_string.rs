contract_runtime::verify!("divide");

fn main() {}
