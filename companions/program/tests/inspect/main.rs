//! The page of `inspect`: its server as a browser meets it.
//!
//! | file | holds |
//! |---|---|
//! | `program` | the program under test: this executable, when it is told so |
//! | `served` | starts it, and speaks HTTP with it |
//! | `access` | who is answered, and what every answer says of itself |
//! | `calls` | the tools, checks and calls |
//! | `follow` | calls as they happen, told to pages that are quick, slow, late and many |

#[macro_use]
mod served;

mod access;
mod calls;
mod follow;
mod program;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if std::env::var_os(served::PROGRAM).is_some() {
        return program::main();
    }
    let arguments = Arguments::from_args();
    let tests = [access::tests(), calls::tests(), follow::tests()];
    libtest_mimic::run(&arguments, tests.into_iter().flatten().collect()).exit_code()
}
