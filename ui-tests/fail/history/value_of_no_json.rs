use contract_runtime::prelude::*;

struct Id(u32);

/// Remove a user.
#[tool]
#[pre(history().with("id", &Id(id)).count(remove_user) < 1)]
fn remove_user(id: u32) {
    let _ = id;
}

fn main() {}
