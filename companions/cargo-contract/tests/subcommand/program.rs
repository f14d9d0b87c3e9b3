//! The program that links the crates, as far as the command sees: this executable, with the tools below.

use std::collections::BTreeMap;
use std::env;
use std::process::ExitCode;

use contract_runtime::Policy;
use contract_runtime::prelude::*;

use super::daykit;

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

#[allow(dead_code, reason = "no registry has it, so its method is left out")]
struct Shelf;

#[tool]
impl Shelf {
    /// Say how many books there are.
    #[tool(read_only)]
    fn books(&self) -> u32 {
        3
    }
}

/// The tools of all packages are compiled into this one, so those of `kit` and `daykit` are named.
pub(crate) fn main() -> ExitCode {
    let tools = Registry::builder().policy(Policy::Enforce);
    let tools = match env::args().nth(1).as_deref() {
        Some("kit") => tools.tool(double).tool(total),
        Some("daykit") => tools
            .tool(daykit::is_leap_year)
            .tool(daykit::days_in_month)
            .tool(daykit::weekday)
            .tool(daykit::day_of_year)
            .tool(daykit::days_left),
        _ => return contract_program::__run_package(),
    };
    contract_program::run_from(tools, env::args_os().skip(1))
}
