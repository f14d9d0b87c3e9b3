use contract_runtime::prelude::*;

/// Remove a user.
#[tool]
#[post(|_| history().count(remove_user) < 2)]
fn remove_user(id: u32) {
    let _ = id;
}

fn main() {}
