contract_verify::verify!("divide");

fn main() {}
