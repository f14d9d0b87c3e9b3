use contract_runtime::prelude::*;

struct Clock;

/// Wait.
#[tool]
fn wait(
    #[args(default = 5)] seconds: u32,
    #[default = 5] times: u32,
    #[pre(pause > 0)] pause: u32,
    #[ctx] clock: &Clock,
    #[contxt] other: &Clock,
    #[tool(secret)] token: String,
    #[param(name = "why")] reason: String,
) {
    let _ = (seconds, times, pause, clock, other, token, reason);
}

fn main() {}
