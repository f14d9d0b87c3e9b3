//! A workspace of its own with `run_shell`, and a way to find its processes again.

use std::io::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::{Value, json};
use toolkit::{Limits, Sandbox, Workspace};

pub(crate) struct TestShell {
    pub(crate) registry: Registry,
    folder: tempfile::TempDir,
}

impl TestShell {
    /// Absent where no command can be run, and then says so.
    pub(crate) async fn new(row: &str, test: &str) -> Option<Self> {
        Self::with(row, test, Limits::default()).await
    }

    pub(crate) async fn with(row: &str, test: &str, limits: Limits) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        let workspace = workspace(folder.path(), limits);
        let registry = Registry::builder()
            .tool(toolkit::run_shell)
            .context(workspace)
            .build()
            .unwrap();
        let shell = Self { registry, folder };
        let probe = shell.call(json!({"argv": ["true"]})).await;
        if probe
            .error()
            .is_some_and(|error| error.contains("no command can be run here"))
        {
            note(&format!("NOT RUN {row} {test}: {}", probe.error().unwrap()));
            return None;
        }
        assert_eq!(probe.status(), Status::Ok, "{probe:?}");
        Some(shell)
    }

    pub(crate) async fn call(&self, arguments: Value) -> Outcome {
        self.registry.call(("", "run_shell", arguments)).await
    }

    pub(crate) async fn report(&self, arguments: Value) -> Value {
        let outcome = self.call(arguments).await;
        assert_eq!(outcome.status(), Status::Ok, "{outcome:?}");
        outcome.value().unwrap()
    }

    pub(crate) async fn script(&self, script: &str) -> Value {
        self.report(json!({"script": script})).await
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }
}

pub(crate) fn workspace(root: &Path, limits: Limits) -> Workspace {
    Workspace::builder()
        .root(root)
        .limits(limits)
        .sandbox(Sandbox::confined().helper(env!("CARGO_BIN_EXE_toolkit")))
        .build()
        .unwrap()
}

/// A time to sleep that no other process on this machine sleeps, so that its processes can be found again.
pub(crate) fn mark() -> String {
    static COUNT: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
    let count = COUNT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
    format!("4321.{}{count:04}", std::process::id())
}

pub(crate) fn running(mark: &str) -> usize {
    let processes = std::fs::read_dir("/proc").unwrap().flatten();
    processes
        .filter_map(|process| std::fs::read(process.path().join("cmdline")).ok())
        .filter(|line| {
            line.split(|byte| *byte == 0)
                .any(|word| word == mark.as_bytes())
        })
        .count()
}

pub(crate) async fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

/// A line that is seen also where the test passes, whose output the test harness keeps to itself.
pub(crate) fn note(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}
