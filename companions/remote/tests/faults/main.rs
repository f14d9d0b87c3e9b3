//! Backend and executor as two processes, with a link between them that is cut, and sides that are killed, at every message.
//!
//! `REMOTE_FAULTS=1000` goes on until so many faults have happened, and stops sides, once at every place, for
//! `REMOTE_FAULTS_STOP` seconds; without, every place is tried once.

mod campaign;
mod judge;
mod processes;
mod proxy;
mod sides;

use std::path::PathBuf;
use std::process::ExitCode;

/// What this program is: the tests, or one of the sides.
const ROLE: &str = "REMOTE_FAULTS_ROLE";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Ok(role) = std::env::var(ROLE) else {
        return libtest_mimic::run(
            &libtest_mimic::Arguments::from_args(),
            vec![
                libtest_mimic::Trial::test("every_fault_at_every_message", || {
                    wait(campaign::run()).map_err(Into::into)
                }),
                libtest_mimic::Trial::test("calls_at_once_over_a_rough_line", || {
                    wait(campaign::rough()).map_err(Into::into)
                }),
            ],
        )
        .exit_code();
    };
    let folder = PathBuf::from(&arguments[0]);
    let done = match &*role {
        "backend" => wait(async {
            let manner = sides::Manner::read(&arguments[1..])?;
            sides::backend(&folder, manner).await
        }),
        _ => wait(async {
            let slow = arguments[3].parse()?;
            sides::executor(&folder, &arguments[1], &arguments[2], slow).await
        }),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{role}: {error}");
            ExitCode::FAILURE
        }
    }
}

fn wait(done: impl Future<Output = sides::Done>) -> Result<(), String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    let runtime = runtime.map_err(|error| error.to_string())?;
    runtime.block_on(done).map_err(|error| error.to_string())
}
