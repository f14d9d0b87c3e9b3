//! Runs one test of this executable again, in a process of its own.

#![allow(dead_code, reason = "no binary uses all of it")]

use std::any::type_name;
use std::env;
use std::process::{Command, Stdio};
use std::sync::OnceLock;

const TEST: &str = "TOOLKIT_TEST_CHILD";
const INPUT: &str = "TOOLKIT_TEST_INPUT";

/// Returns the name of a test in the harness: the path of its function, without the crate.
fn name_of<T: Fn()>(_test: T) -> &'static str {
    let path = type_name::<T>();
    path.split_once("::").map_or(path, |(_, name)| name)
}

/// Returns the input of this process, if [`command`] started it for this test.
pub(crate) fn input_of<T: Fn()>(test: T) -> Option<String> {
    let is_child = env::var(TEST).is_ok_and(|name| name == name_of(test));
    is_child.then(|| env::var(INPUT).unwrap_or_default())
}

/// Returns the program and the arguments that run exactly this test, whether or not it is ignored.
///
/// # Panics
///
/// If the harness has no such test: it would run none, and report success.
#[track_caller]
pub(crate) fn argv<T: Fn()>(test: T) -> Vec<String> {
    static TESTS: OnceLock<Vec<String>> = OnceLock::new();
    let exe = env::current_exe().unwrap().to_str().unwrap().to_owned();
    let tests = TESTS.get_or_init(|| {
        let list = ["--list", "--format", "terse", "--include-ignored"];
        let output = Command::new(&exe).args(list).output().unwrap();
        let listed = String::from_utf8(output.stdout).unwrap();
        let names = listed
            .lines()
            .filter_map(|line| line.strip_suffix(": test"));
        names.map(str::to_owned).collect()
    });
    let name = name_of(test);
    let count = tests.iter().filter(|listed| *listed == name).count();
    assert_eq!(count, 1, "{count} tests are called `{name}`: {tests:?}");
    [
        &exe,
        "--exact",
        name,
        "--include-ignored",
        "--nocapture",
        "--test-threads=1",
    ]
    .map(str::to_owned)
    .to_vec()
}

/// Returns a command that runs this test in a process of its own, which finds the input by [`input_of`].
#[track_caller]
pub(crate) fn command<T: Fn() + Copy>(test: T, input: &str) -> Command {
    command_under(&[], test, input)
}

/// The same, started by another program, such as `unshare`.
#[track_caller]
pub(crate) fn command_under<T: Fn() + Copy>(starter: &[&str], test: T, input: &str) -> Command {
    let starter = starter.iter().map(|&word| word.to_owned());
    let argv: Vec<String> = starter.chain(argv(test)).collect();
    let mut command = Command::new(&argv[0]);
    command
        .args(&argv[1..])
        .env(TEST, name_of(test))
        .env(INPUT, input)
        .stdin(Stdio::null());
    command
}

/// Runs such a process to its end and returns what it printed.
///
/// # Panics
///
/// Unless exactly one test ran, and passed.
#[track_caller]
pub(crate) fn run(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let printed = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success()
            && printed.contains("test result: ok. 1 passed; 0 failed; 0 ignored;"),
        "{command:?} ended with {}:\n{printed}",
        output.status
    );
    printed.into_owned()
}
