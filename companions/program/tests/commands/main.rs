//! The command line as a program: this executable is the program too, when it is told so.
//!
//! | file | holds |
//! |---|---|
//! | `program` | the program under test |
//! | `started` | starts it, and reads what it says |
//! | `calls` | `call`: each exit code, and what stands where |
//! | `approvals` | calls that ask a person: the prompt, the request, and its id |
//! | `arguments` | arguments by name, as the schema reads them |
//! | `inputs` | arguments of every size and kind, and where they come from |
//! | `contracts` | `show`, `schema`, `check`, `manifest`, `diff`, `verify` |
//! | `errors` | what goes wrong before anything is done |
//! | `terminals` | colours, tables, and outputs that nobody reads |
//! | `interrupts` | Ctrl-C |
//! | `serving` | `serve`, as a client sees it |
//! | `shells` | completions |
//! | `texts` | what is recorded in `expected/` |

#[macro_use]
mod started;

mod approvals;
mod arguments;
mod calls;
mod contracts;
mod errors;
mod inputs;
mod interrupts;
mod program;
mod serving;
mod shells;
mod terminals;
mod texts;

use std::process::ExitCode;

use libtest_mimic::Arguments;

fn main() -> ExitCode {
    if std::env::var_os(started::PROGRAM).is_some() {
        return program::main();
    }
    let arguments = Arguments::from_args();
    let tests = [
        approvals::tests(),
        arguments::tests(),
        calls::tests(),
        contracts::tests(),
        errors::tests(),
        inputs::tests(),
        interrupts::tests(),
        serving::tests(),
        shells::tests(),
        terminals::tests(),
        texts::tests(),
    ];
    libtest_mimic::run(&arguments, tests.into_iter().flatten().collect()).exit_code()
}
