use contract_runtime::prelude::*;

/// Plan it.
#[tool]
#[pre(day > today() && day as f64 > 0.5, shown)]
#[pre(names.iter().all(known) && names[0] != "x", "unknown", shown)]
#[pre(day / 2 > 1 || name.trim() != "", shown = true)]
fn plan(day: u32, names: Vec<String>, name: &str) -> u32 {
    day + names.len() as u32 + name.len() as u32
}

fn today() -> u32 {
    1
}

fn known(name: &String) -> bool {
    name.len() > 1
}

fn main() {}
