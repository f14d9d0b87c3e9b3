//! The program that links the crates, as far as the command sees: this executable, with the tools below.

use std::collections::BTreeMap;
use std::env;
use std::process::{Command, ExitCode};

use contract_runtime::prelude::*;

/// Set where `double` breaks its promise.
pub(crate) const BROKEN: &str = "TEST_BROKEN";

/// Double a number.
#[tool(read_only)]
#[pre(number <= 100, "only small numbers are doubled")]
#[post(|double| *double == 2 * u32::from(number))]
fn double(
    /// The number to double.
    number: u8,
) -> u32 {
    let is_wrong = number > 10 && env::var_os(BROKEN).is_some();
    2 * u32::from(number) + u32::from(is_wrong)
}

/// Add up numbers by name, which one provider cannot be told.
#[tool(read_only)]
fn total(
    /// The numbers, by name.
    numbers: BTreeMap<String, u8>,
) -> u32 {
    numbers.into_values().map(u32::from).sum()
}

pub(crate) fn main() -> ExitCode {
    let mut words = env::args_os().skip(1);
    let package = words.next().unwrap();
    if package != "kit" {
        return contract_program::__run_package();
    }
    // The tools of `kit` are compiled into this package.
    let status = Command::new(env::current_exe().unwrap())
        .arg("contract-program")
        .args(words)
        .status();
    ExitCode::from(u8::try_from(status.unwrap().code().unwrap()).unwrap())
}
