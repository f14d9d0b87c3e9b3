//! The tools of the bank as a program: `cargo run -p bank -- call transfer from=ada ..`, `inspect`, `serve`.

use std::process::ExitCode;

use bank::Bank;
use contract_runtime::Registry;

fn main() -> ExitCode {
    match Bank::in_memory() {
        Ok(bank) => contract_program::run(Registry::builder().with(bank)),
        Err(error) => {
            eprintln!("the database cannot be made: {error}");
            ExitCode::FAILURE
        }
    }
}
