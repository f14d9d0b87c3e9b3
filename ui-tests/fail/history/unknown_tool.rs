use contract_runtime::prelude::*;

/// Remove a user.
#[tool]
#[pre(history().seen(find_user), "find the user first")]
fn remove_user(id: u32) {
    let _ = id;
}

fn main() {}
