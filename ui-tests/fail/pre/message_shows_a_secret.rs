use contract_runtime::prelude::*;

/// Log in.
#[tool]
#[pre(password.len() > 8, "{password} is too short")]
fn login(#[arg(secret)] password: String) {
    let _ = password;
}

fn main() {}
