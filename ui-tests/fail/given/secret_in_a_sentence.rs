use contract_runtime::prelude::*;

/// Log in.
#[tool]
#[given(user = Some(token.len()), else "nobody has the token {token}")]
#[pre(user > 3, "{} is short", token.trim())]
fn log_in(
    /// A secret.
    #[arg(secret)]
    token: String,
) -> usize {
    user
}

fn main() {}
