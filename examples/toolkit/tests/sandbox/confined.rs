//! Commands in a sandbox, and processes that look at what it holds back.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::{Duration, Instant};
use std::{env, fs, thread};

use crate::reexec;
use contract_runtime::prelude::*;
use nix::libc;
use seccompiler::{BpfProgram, SeccompAction, SeccompFilter, apply_filter_all_threads};
use serde_json::{Value, json};
use toolkit::{Limits, Sandbox, Workspace, WorkspaceBuilder};

/// A folder that is lent, beside one that is not.
pub(crate) struct Ground {
    folder: tempfile::TempDir,
}

impl Ground {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("ws")).unwrap();
        fs::create_dir(folder.path().join("outside")).unwrap();
        Self { folder }
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("ws")
    }

    pub(crate) fn outside(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap().join("outside")
    }

    pub(crate) fn workspace(&self) -> WorkspaceBuilder {
        self.workspace_with(sandbox())
    }

    pub(crate) fn workspace_with(&self, sandbox: Sandbox) -> WorkspaceBuilder {
        Workspace::builder().root(self.root()).sandbox(sandbox)
    }

    pub(crate) fn shell(&self) -> Shell {
        Shell::new(self.workspace())
    }

    pub(crate) fn shell_with(&self, sandbox: Sandbox) -> Shell {
        Shell::new(self.workspace_with(sandbox))
    }

    pub(crate) fn limited(&self, limits: Limits) -> Shell {
        Shell::new(self.workspace_with(probing()).limits(limits))
    }
}

/// Starts commands with the program of this package, whose `main` can be the helper.
pub(crate) fn sandbox() -> Sandbox {
    Sandbox::confined().helper(env!("CARGO_BIN_EXE_toolkit"))
}

/// The same, and this very test binary can be executed, as a probe.
pub(crate) fn probing() -> Sandbox {
    sandbox().readable(env::current_exe().unwrap())
}

pub(crate) fn open() -> Sandbox {
    Sandbox::unsandboxed().helper(env!("CARGO_BIN_EXE_toolkit"))
}

/// The tool, as a model meets it.
pub(crate) struct Shell(Registry);

impl Shell {
    pub(crate) fn new(workspace: WorkspaceBuilder) -> Self {
        let registry = Registry::builder()
            .tool(toolkit::run_shell)
            .context(workspace.build().unwrap())
            .build()
            .unwrap();
        Self(registry)
    }

    pub(crate) fn call(&self, arguments: &Value) -> Outcome {
        self.0
            .call(ToolCall::new("1", "run_shell", arguments.to_string()))
            .blocking()
    }

    /// The result of a call that must succeed.
    #[track_caller]
    pub(crate) fn value(&self, arguments: &Value) -> Ran {
        let outcome = self.call(arguments);
        assert!(
            outcome.is_ok(),
            "{arguments} ended as {}: {}",
            outcome.status(),
            outcome.error().unwrap_or_default()
        );
        Ran(outcome.value().unwrap())
    }

    #[track_caller]
    pub(crate) fn script(&self, script: &str) -> Ran {
        self.value(&json!({ "script": script }))
    }

    #[track_caller]
    pub(crate) fn argv(&self, argv: &[&str]) -> Ran {
        self.value(&json!({ "argv": argv }))
    }

    /// Runs a test of this binary as a probe, and gives what it found.
    #[track_caller]
    pub(crate) fn probe<T: Fn()>(
        &self,
        test: T,
        name: &str,
        arguments: &[&str],
    ) -> BTreeMap<String, String> {
        let ran = self.probed(test, name, arguments);
        let found = found(&ran.stdout());
        assert!(!found.is_empty(), "the probe found nothing: {ran:?}");
        found
    }

    #[track_caller]
    pub(crate) fn probed<T: Fn()>(&self, test: T, name: &str, arguments: &[&str]) -> Ran {
        let mut argv = vec!["env".to_owned(), format!("{PROBE}={name}")];
        for (place, argument) in arguments.iter().enumerate() {
            argv.push(format!("{PROBE}_{place}={argument}"));
        }
        argv.extend(reexec::argv(test));
        let ran = self.value(&json!({ "argv": argv }));
        assert!(ran.stdout().contains("running 1 test\n"), "{ran:?}");
        ran
    }
}

const PROBE: &str = "TOOLKIT_TEST_PROBE";

/// The name of the probe that this process is to be.
pub(crate) fn probe() -> Option<String> {
    env::var(PROBE).ok()
}

pub(crate) fn argument(place: usize) -> String {
    env::var(format!("{PROBE}_{place}")).unwrap()
}

/// Says what a probe found.
pub(crate) fn tell<T>(what: &str, result: std::io::Result<T>) {
    match result {
        Ok(_) => println!("\nfound {what} = reached"),
        Err(error) => println!("\nfound {what} = {error}"),
    }
}

fn found(output: &str) -> BTreeMap<String, String> {
    let lines = output
        .lines()
        .filter_map(|line| line.strip_prefix("found "));
    lines
        .filter_map(|line| line.split_once(" = "))
        .map(|(what, how)| (what.to_owned(), how.to_owned()))
        .collect()
}

/// What the tool gave.
#[derive(Debug)]
pub(crate) struct Ran(pub(crate) Value);

impl Ran {
    pub(crate) fn stdout(&self) -> String {
        self.0["stdout"]["text"].as_str().unwrap().to_owned()
    }

    pub(crate) fn code(&self) -> Option<i64> {
        self.0["ended"]["code"].as_i64()
    }

    pub(crate) fn limit(&self) -> Option<&str> {
        self.0["ended"]["limit"].as_str()
    }

    pub(crate) fn is_timeout(&self) -> bool {
        self.0["ended"]["by"] == "timeout"
    }

    pub(crate) fn left_behind(&self) -> u64 {
        self.0["left_behind"].as_u64().unwrap()
    }

    pub(crate) fn removed(&self) -> &Value {
        &self.0["removed"]
    }

    pub(crate) fn not_removed(&self) -> &Value {
        &self.0["not_removed"]
    }

    pub(crate) fn level(&self) -> &str {
        self.0["sandbox"]["level"].as_str().unwrap()
    }

    pub(crate) fn layers(&self) -> String {
        self.0["sandbox"].to_string()
    }
}

/// Whether every layer is to be had here; says what is not run where it is not.
pub(crate) fn is_full(row: &str, test: &str) -> bool {
    let ran = Ground::new().shell().argv(&["true"]);
    if ran.level() == "full" {
        return true;
    }
    // Not by `eprintln`, which a test that passes keeps to itself.
    let _ = writeln!(std::io::stderr(), "NOT RUN {row} {test}: {}", ran.layers());
    false
}

/// A text that stands in the command line of the processes of one test, and nowhere else.
pub(crate) fn mark() -> String {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    format!("{}.{next:07}", 1_000_000 + std::process::id())
}

/// The processes of the machine that have a mark in their command line, but for the helpers and the tests themselves.
pub(crate) fn marked(mark: &str) -> Vec<u32> {
    let mut found = Vec::new();
    for entry in fs::read_dir("/proc").unwrap().flatten() {
        let Some(pid) = entry
            .file_name()
            .to_str()
            .and_then(|name| name.parse().ok())
        else {
            continue;
        };
        let Ok(line) = fs::read(entry.path().join("cmdline")) else {
            continue;
        };
        if pid != std::process::id() && String::from_utf8_lossy(&line).contains(mark) {
            found.push(pid);
        }
    }
    found
}

/// Waits until nothing with this mark is left, which should take less than a second, and says how long it took.
#[track_caller]
pub(crate) fn none_survives(mark: &str) -> Duration {
    let begun = Instant::now();
    while !marked(mark).is_empty() {
        assert!(
            begun.elapsed() < Duration::from_secs(10),
            "still there: {:?}",
            marked(mark)
        );
        thread::sleep(Duration::from_millis(5));
    }
    begun.elapsed()
}

/// Each leaves processes with a mark behind, in another way.
const ESCAPES: [&str; 7] = [
    "sleep MARK & true",
    "setsid sleep MARK & true",
    "nohup sleep MARK > /dev/null 2>&1 & true",
    "(setsid sh -c '(sleep MARK &) ; exec sleep MARK' &) ; true",
    "(trap '' TERM INT HUP; setsid sh -c 'trap \"\" TERM HUP; while :; do sleep MARK; done' &) ; true",
    "for i in 1 2 3 4 5 6 7 8; do setsid sleep MARK < /dev/null > /dev/null 2>&1 & done; exit 3",
    "setsid sh -c 'sleep MARK & sleep MARK & kill -STOP $$' & sleep 0.05; kill -9 $$",
];

/// Runs escapes, one after the other; none may survive. Says how long the slowest end took after its call.
#[track_caller]
pub(crate) fn escape(shell: &Shell, rounds: usize) -> Duration {
    let mut slowest = Duration::ZERO;
    for script in ESCAPES.iter().cycle().take(rounds) {
        let mark = mark();
        let script = script.replace("MARK", &mark);
        let ran = shell.script(&script);
        assert!(
            ran.left_behind() > 0 || script.contains("kill -9"),
            "{script}: {ran:?}"
        );
        slowest = slowest.max(none_survives(&mark));
    }
    slowest
}

/// What a process does that is started to be killed: it waits for a command that never ends.
pub(crate) fn wait_for_ever(text: &str) {
    let (kind, rest) = text.split_once(' ').unwrap();
    let (mark, root) = rest.split_once(' ').unwrap();
    let sandbox = if kind == "open" { open() } else { sandbox() };
    let script = format!("setsid sleep {mark} & (sleep {mark} &) ; nohup sleep {mark}");
    Shell::new(Workspace::builder().root(root).sandbox(sandbox)).script(&script);
}

/// Kills callers in the middle of their commands; no process of these may survive. Says how long the slowest end took.
#[track_caller]
pub(crate) fn kill_callers<T: Fn() + Copy>(test: T, rounds: usize) -> Duration {
    let mut slowest = Duration::ZERO;
    for round in 0..rounds {
        let mark = mark();
        let kind = if round % 4 == 3 { "open" } else { "confined" };
        let ground = Ground::new();
        let given = format!("{kind} {mark} {}", ground.root().display());
        let mut caller = reexec::command(test, &given);
        caller.env("TMPDIR", ground.outside());
        let mut caller = KillOnDrop(caller.spawn().unwrap());
        let sleeping = format!("sleep\0{mark}");
        until("the command", || marked(&sleeping).len() >= 3);
        caller.0.kill().unwrap();
        slowest = slowest.max(none_survives(&mark));
        // Whoever ended the command removes its files too, and their folder.
        until("the removal", || {
            fs::read_dir(ground.outside()).unwrap().count() == 0
        });
    }
    slowest
}

/// Waits for something that must come.
#[track_caller]
pub(crate) fn until(what: &str, mut done: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !done() {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "never came: {what}"
        );
        thread::sleep(Duration::from_millis(5));
    }
}

/// A child that does not outlive its test.
pub(crate) struct KillOnDrop(pub(crate) Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap()
}

/// Makes system calls fail for this process and all that come from it.
pub(crate) fn forbid(calls: &[libc::c_long], error: libc::c_int) {
    let rules: BTreeMap<i64, Vec<_>> = calls.iter().map(|call| (*call, Vec::new())).collect();
    let filter: BpfProgram = SeccompFilter::new(
        rules,
        SeccompAction::Allow,
        SeccompAction::Errno(error.unsigned_abs()),
        std::env::consts::ARCH.try_into().unwrap(),
    )
    .unwrap()
    .try_into()
    .unwrap();
    apply_filter_all_threads(&filter).unwrap();
}

/// Runs the rest of a test in a process of its own, which forbids itself something for ever.
#[track_caller]
pub(crate) fn alone<T: Fn() + Copy>(test: T, rest: impl FnOnce()) {
    if reexec::input_of(test).is_some() {
        return rest();
    }
    reexec::run(&mut reexec::command(test, ""));
}
