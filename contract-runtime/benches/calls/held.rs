//! Holds the instructions of some calls to what was recorded, so that speed is not lost in silence.

use std::fmt::Write as _;
use std::process::ExitCode;

use crate::meter::Callgrind;

/// The names of the rows that are held, each with its recorded instructions behind a colon.
const RECORDED: &str = include_str!("../instructions.txt");
const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/benches/instructions.txt");

/// How far a figure may be from the recorded one, in hundredths of it: the same program repeats within one.
const TOLERANCE: u64 = 2;

/// Compares, or with `UPDATE_EXPECTED=1` records again.
pub(crate) fn compare() -> ExitCode {
    let Some(callgrind) = Callgrind::find() else {
        println!("NOT RUN: valgrind is not installed");
        return ExitCode::FAILURE;
    };
    let update = std::env::var_os("UPDATE_EXPECTED").is_some();
    let (mut recorded, mut all_held) = (String::new(), true);
    for line in RECORDED.lines() {
        let Some((name, before)) = line.split_once(": ") else {
            let _ = writeln!(recorded, "{line}");
            continue;
        };
        let (Some(now), Ok(before)) = (callgrind.count(name), before.parse::<u64>()) else {
            println!("{name}: not measured");
            all_held = false;
            continue;
        };
        let _ = writeln!(recorded, "{name}: {now}");
        let is_held = now.abs_diff(before) * 100 <= before * TOLERANCE;
        all_held &= is_held;
        let verdict = if is_held { "held" } else { "NOT HELD" };
        println!("{name}: {now} instructions, recorded {before}: {verdict}");
    }
    if update {
        return match std::fs::write(FILE, recorded) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                println!("{FILE}: {error}");
                ExitCode::FAILURE
            }
        };
    }
    if all_held {
        return ExitCode::SUCCESS;
    }
    println!(
        "find out what has changed; if it is meant, record it: UPDATE_EXPECTED=1 .ci/steps/instructions.sh"
    );
    ExitCode::FAILURE
}
