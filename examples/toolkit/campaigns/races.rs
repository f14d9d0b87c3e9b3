//! Races every tool against somebody who swaps folders and files for links that lead out, and prints what came of it.
//!
//! `cargo run --release -p toolkit --example races [calls of each operation] [seconds for each, at most]`

mod swapper;

use std::process::ExitCode;
use std::time::Duration;

use swapper::Operation;

fn main() -> ExitCode {
    let mut arguments = std::env::args()
        .skip(1)
        .filter_map(|argument| argument.parse().ok());
    let calls = arguments.next().unwrap_or(1_000_000);
    let longest = Duration::from_secs(arguments.next().unwrap_or(36_000));
    let mut escaped = false;
    for operation in [Operation::CheckThenOpen]
        .into_iter()
        .chain(Operation::TOOLS)
    {
        let Some(figures) = operation.race(calls, longest) else {
            println!("NOT RUN F3 {operation:?}: two names cannot be exchanged here");
            continue;
        };
        println!(
            "{operation:?}: {} escapes in {} calls: {figures:?}",
            figures.escapes, figures.calls
        );
        escaped |= operation != Operation::CheckThenOpen && figures.escapes > 0;
    }
    if escaped {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
