use contract_runtime::prelude::*;

/// A place.
#[tool]
struct Place {
    latitude: f64,
}

fn main() {}
