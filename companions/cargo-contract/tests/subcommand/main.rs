//! `cargo contract` over a workspace of three crates, and over the crate of the page on publishing, with a Cargo that compiles nothing.
//!
//! Building the workspace takes minutes, so the program that links its crates is this executable again; the nightly campaign
//! `publish` builds a true one. Everything else is true: the command, the workspace, what Cargo reads of it, and Git.
//!
//! | file | holds |
//! |---|---|
//! | `cargo` | the Cargo that `cargo contract` runs |
//! | `program` | the program that this Cargo "builds", and its tools |
//! | `daykit` | the library of the page |
//! | `workspace` | the workspaces, and how the command ends over them |
//! | `commands` | `check`, `verify`, `diff`, `freeze` |

mod cargo;
mod commands;
#[rustfmt::skip]
#[allow(unreachable_pub, missing_docs, clippy::pedantic, reason = "as the page shows it")]
mod daykit;
mod program;
mod workspace;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if std::env::var_os(cargo::REAL_CARGO).is_none() {
        return libtest_mimic::run(&Arguments::from_args(), commands::tests()).exit_code();
    }
    match std::env::args().nth(1).as_deref() {
        Some("build" | "metadata") => cargo::main(),
        _ => program::main(),
    }
}
