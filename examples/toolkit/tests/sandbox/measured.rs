//! The long form of some tests, and what a sandbox costs; `campaigns/trees.sh` runs them and shows their figures.

use std::env;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crate::confined::{Ground, Shell, escape, kill_callers, open, sandbox, wait_for_ever};
use crate::reexec;

fn number(name: &str, otherwise: usize) -> usize {
    env::var(name).map_or(otherwise, |text| text.parse().unwrap())
}

fn processes() -> usize {
    let names = fs::read_dir("/proc").unwrap().flatten();
    names
        .filter(|entry| entry.file_name().to_string_lossy().parse::<u32>().is_ok())
        .count()
}

/// S3
#[test]
#[ignore = "long; run by campaigns/trees.sh"]
fn a_thousand_escapes_leave_no_survivor() {
    let rounds = number("TOOLKIT_ESCAPES", 1_000);
    for (name, sandbox) in [("sandboxed", sandbox()), ("unsandboxed", open())] {
        let ground = Ground::new();
        let shell = ground.shell_with(sandbox);
        let before = processes();
        let slowest = escape(&shell, rounds);
        let after = processes();
        println!(
            "escapes, {name}: {rounds} runs, 0 survivors, the slowest end {slowest:?} after its call; processes of the machine {before} before, {after} after"
        );
        assert!(slowest < Duration::from_secs(1), "{slowest:?}");
    }
}

/// S5
#[test]
#[ignore = "long; run by campaigns/trees.sh"]
fn two_hundred_killed_callers_leave_no_survivor() {
    if let Some(text) = reexec::input_of(two_hundred_killed_callers_leave_no_survivor) {
        return wait_for_ever(&text);
    }
    let rounds = number("TOOLKIT_KILLS", 200);
    let slowest = kill_callers(two_hundred_killed_callers_leave_no_survivor, rounds);
    println!("callers killed: {rounds}, 0 survivors, the slowest end took {slowest:?}");
    assert!(slowest < Duration::from_secs(1), "{slowest:?}");
}

#[test]
#[ignore = "a measurement; run by campaigns/trees.sh"]
fn the_cost_of_a_sandbox() {
    let rounds = number("TOOLKIT_CALLS", 200);
    let ground = Ground::new();
    let (confined, unsandboxed) = (ground.shell(), ground.shell_with(open()));
    let call = |shell: &Shell| assert_eq!(shell.argv(&["/bin/true"]).code(), Some(0));
    let mut times = [const { Vec::new() }; 3];
    // In turn, so that what else the machine does falls on all of them.
    for _ in 0..rounds {
        times[0].push(timed(|| {
            let output = Command::new("/bin/true").output().unwrap();
            assert!(output.status.success());
        }));
        times[1].push(timed(|| call(&unsandboxed)));
        times[2].push(timed(|| call(&confined)));
    }
    let [plain, without, with] = times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    });
    println!(
        "one call of /bin/true, medians of {rounds}: plain spawn {plain:?}, run_shell unsandboxed {without:?}, run_shell sandboxed {with:?}; the sandbox costs {:?}",
        with.saturating_sub(without)
    );
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}
