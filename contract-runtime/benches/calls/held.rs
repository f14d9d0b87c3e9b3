//! Holds the instructions of some rows below their limits.
//!
//! Most limits are ratios to the same work by hand in the same run, because a new compiler or C library moves both sides. They stand
//! a few percent above what is reached, so that a change that costs more is seen; the aims, where they are lower, are in numbers.md.

use std::process::ExitCode;

use crate::meter::Callgrind;
use crate::{CASES, Case};

enum Limit {
    /// At most this many times the instructions of the row that the case is compared with.
    Times(f64),
    /// At most this many instructions.
    Instructions(u64),
}
use Limit::{Instructions, Times};

const LIMITS: &[(&str, Limit)] = &[
    ("add", Times(1.70)),
    ("add, lent", Times(1.90)),
    ("add, async", Times(2.00)),
    ("search", Times(1.25)),
    ("a struct", Times(1.90)),
    ("a number and an enum", Times(1.85)),
    ("a map of three", Times(1.95)),
    ("4 pre, 1 post", Times(1.75)),
    ("direct call, 4 pre, 1 post", Instructions(140)),
    (
        "direct call of an ordinary function, 4 pre, 1 post",
        Instructions(110),
    ),
    (
        "build and first listing, 500 tools",
        Instructions(12_000_000),
    ),
];

/// Prints each row with its limit. Fails if one is above it or cannot be measured.
pub(crate) fn compare() -> ExitCode {
    let Some(callgrind) = Callgrind::find() else {
        println!("NOT RUN: valgrind is not installed");
        return ExitCode::FAILURE;
    };
    let mut all_held = true;
    for (name, limit) in LIMITS {
        let is_held = is_held(&callgrind, name, limit).unwrap_or_else(|| {
            println!("{name}: not measured");
            false
        });
        all_held &= is_held;
    }
    if all_held {
        return ExitCode::SUCCESS;
    }
    println!("find out what has changed; the limits stand in benches/calls/held.rs");
    ExitCode::FAILURE
}

fn is_held(callgrind: &Callgrind, name: &str, limit: &Limit) -> Option<bool> {
    let found = CASES.iter().find(|case| case.name == name)?;
    let count = callgrind.count(name)?;
    let (is_held, figure, limit) = match (limit, found) {
        (Instructions(limit), _) => (count <= *limit, count.to_string(), limit.to_string()),
        (Times(limit), Case { beside, .. }) => {
            #[allow(clippy::cast_precision_loss, reason = "counts are below 2^52")]
            let ratio = count as f64 / callgrind.count((*beside)?)? as f64;
            (
                ratio <= *limit,
                format!("{ratio:.2} x"),
                format!("{limit:.2} x"),
            )
        }
    };
    let verdict = if is_held { "held" } else { "NOT HELD" };
    println!("{name}: {count} instructions, {figure}, at most {limit}: {verdict}");
    Some(is_held)
}
