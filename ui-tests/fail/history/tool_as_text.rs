use contract_runtime::prelude::*;

/// Find a user.
#[tool]
fn find_user(name: String) -> u32 {
    name.len() as u32
}

/// Remove a user.
#[tool]
#[pre(history().seen("find_user"), "find the user first")]
#[pre(history().ok(find_user(String::new())))]
fn remove_user(id: u32) {
    let _ = id;
}

fn main() {}
