contract_verify::verify!();

fn main() {}
