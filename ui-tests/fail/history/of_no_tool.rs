use contract_runtime::prelude::*;

/// Find a user.
#[tool]
fn find_user(name: String) -> u32 {
    name.len() as u32
}

#[pre(history().seen(find_user))]
#[given(times = history().count(find_user))]
fn remove_user(id: u32) {
    let _ = (id, times);
}

fn main() {}
