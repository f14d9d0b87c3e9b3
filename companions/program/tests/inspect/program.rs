//! The program under test.

use std::process::ExitCode;

use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;

/// Give a number back.
#[tool(read_only)]
#[pre(number > 2, "more than two")]
#[pre(is_odd(number), "an odd number")]
#[post(|result| *result > 3, "more than three")]
fn echo(number: u64) -> u64 {
    number
}

fn is_odd(number: u64) -> bool {
    number % 2 == 1
}

/// Give a text back.
#[tool]
fn repeat(text: String) -> String {
    text
}

/// Log in.
#[tool]
fn log_in(user: &str, #[arg(secret)] password: &str, #[context] log: &Log) -> usize {
    log.info(format_args!("{user} comes"));
    user.len() + password.len()
}

/// Say on the way out that it was stopped.
#[tool]
async fn wait() {
    struct Told;
    impl Drop for Told {
        fn drop(&mut self) {
            eprintln!("stopped");
        }
    }
    let _told = Told;
    eprintln!("waiting");
    std::future::pending::<()>().await;
}

/// Check something many times.
#[tool]
fn many(times: u32) {
    for time in 0..times {
        contract_assert!(time < times);
    }
}

/// Bring bytes along.
#[tool]
fn bytes() -> Content {
    Content::text("two").with(Artifact::image("image/png", [0, 255]))
}

/// Pay somebody.
#[tool]
#[pre(cents <= 100, "that is much", ask = "Pay {cents} cents to {user}?")]
fn pay(user: String, cents: u32) -> String {
    format!("{cents} to {user}")
}

pub(crate) fn main() -> ExitCode {
    let tools = Registry::builder()
        .tool(echo)
        .tool(repeat)
        .tool(log_in)
        .tool(wait)
        .tool(many)
        .tool(bytes)
        .tool(pay)
        .observe(
            Observer::new().violations(|violation| eprintln!("observer: {}", violation.contract)),
        );
    contract_program::run(tools)
}
