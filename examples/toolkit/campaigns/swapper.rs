//! Somebody who swaps folders and files for links that lead out, while the tools are at work.

use std::collections::BTreeMap;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use contract_runtime::prelude::*;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;
use toolkit::{
    Case, Findings, SearchProblem, Workspace, edit_file, read_file, read_folder, search_in_files,
    write_file,
};

/// What only the files outside hold, in their names and in their text.
const CANARY: &str = "canary";

/// After this many calls, checks whether anything has changed outside.
const LOOKED_AFTER: u64 = 1_000;

/// The folders of one race.
struct Field {
    /// Removed at the end.
    _folder: tempfile::TempDir,
    inside: PathBuf,
    outside: PathBuf,
}

impl Field {
    fn new() -> Self {
        // In memory where that is possible: what is measured is not the disk.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() {
            tempfile::tempdir_in(memory)
        } else {
            tempfile::tempdir()
        };
        let folder = folder.expect("a folder");
        let (inside, outside) = (folder.path().join("inside"), folder.path().join("outside"));
        for (top, text) in [(inside.join("door"), "inside 0"), (outside.clone(), CANARY)] {
            std::fs::create_dir_all(top.join("deep")).expect("a folder");
            std::fs::write(top.join("deep/file"), text).expect("a file");
            std::fs::write(top.join("leaf"), text).expect("a file");
        }
        std::fs::write(outside.join("deep/canary-name"), CANARY).expect("a file");
        std::fs::write(inside.join("leaf"), "inside 0").expect("a file");
        // What is put in the place of `door` and `leaf`, and taken away again.
        symlink(&outside, inside.join("door-out")).expect("a link");
        symlink(outside.join("leaf"), inside.join("leaf-out")).expect("a link");
        Self {
            _folder: folder,
            inside,
            outside,
        }
    }

    fn swap(&self, name: &str) -> rustix::io::Result<()> {
        let (one, other) = (
            self.inside.join(name),
            self.inside.join(format!("{name}-out")),
        );
        renameat_with(CWD, &one, CWD, &other, RenameFlags::EXCHANGE)
    }

    /// Removes the folders that were made, so that they can be made again.
    fn take_away(&self) {
        for number in 0..LOOKED_AFTER {
            for door in ["door", "door-out"] {
                let _ =
                    std::fs::remove_dir_all(self.inside.join(door).join(format!("new{number}")));
            }
        }
    }

    /// Every name outside, with what it holds and when it was changed.
    fn state_outside(&self) -> BTreeMap<PathBuf, (Vec<u8>, std::time::SystemTime)> {
        let mut state = BTreeMap::new();
        let mut folders = vec![self.outside.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
                let changed = entry
                    .metadata()
                    .and_then(|metadata| metadata.modified())
                    .expect("a time");
                let path = entry.path();
                if path.is_dir() {
                    folders.push(path.clone());
                }
                let text = std::fs::read(&path).unwrap_or_default();
                state.insert(path, (text, changed));
            }
        }
        state
    }
}

/// What is raced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Read,
    Write,
    Edit,
    List,
    MakeFolder,
    Search,
    /// Compares the beginning of the canonical path and then opens it, as many programs do: what the others are measured by.
    CheckThenOpen,
}

/// What came of a race.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) calls: u64,
    pub(crate) succeeded: u64,
    pub(crate) escapes: u64,
    pub(crate) swaps: u64,
    pub(crate) took: Duration,
}

impl Operation {
    pub(crate) const TOOLS: [Self; 6] = [
        Self::Read,
        Self::Write,
        Self::Edit,
        Self::List,
        Self::MakeFolder,
        Self::Search,
    ];

    /// One call. Those that are marked `blocking` are called directly, because the way to another thread takes longer than
    /// what they do there.
    fn call(self, race: &Race<'_>, step: u64) -> Result<String, String> {
        let (workspace, never) = (&race.workspace, &race.never);
        let even = step.is_multiple_of(2);
        let file = if even { "door/deep/file" } else { "leaf" };
        match self {
            Self::Read => told(read_file(file, None, None, None, false, workspace, never)),
            Self::Write => told(write_file(
                file,
                &format!("inside {}", step % 10),
                None,
                workspace,
                never,
            )),
            Self::Edit => {
                let now = step / 2 % 2;
                let (old, new) = (format!("inside {now}"), format!("inside {}", 1 - now));
                told(edit_file(file, &old, &new, 1, None, workspace, never))
            }
            Self::List => told(read_folder(
                if even { "door/deep" } else { "door" },
                1,
                workspace,
                never,
            )),
            // Few enough names that they can be taken away now and then.
            Self::MakeFolder => {
                let path = format!("door/new{}/a/file", step % LOOKED_AFTER);
                told(write_file(&path, "inside", None, workspace, never))
            }
            Self::Search => {
                let arguments = json!({"path": if even { "door" } else { "." }}).to_string();
                let call = race
                    .registry
                    .call(ToolCall::new("1", "search_in", arguments));
                let outcome = race.runtime.block_on(call);
                match outcome.output() {
                    Some(output) => Ok(output.to_owned()),
                    None => Err(outcome.error().unwrap_or_default().to_owned()),
                }
            }
            Self::CheckThenOpen => {
                check_then_open(&race.field.inside, file).ok_or_else(String::new)
            }
        }
    }

    /// Races this many calls, or as many as there is time for; each opens at least one path that is swapped. Nothing if the
    /// system cannot exchange two names.
    pub(crate) fn race(self, calls: u64, longest: Duration) -> Option<Figures> {
        let field = &Field::new();
        field.swap("door").ok()?;
        let over = AtomicBool::new(false);
        let swaps = AtomicU64::new(0);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    for name in ["door", "leaf"] {
                        // A writer may have replaced one of them a moment ago.
                        let swapped = field.swap(name).is_ok();
                        swaps.fetch_add(swapped.into(), Ordering::Relaxed);
                    }
                }
            });
            let mut figures = self.run(&Race::new(field), calls, longest);
            over.store(true, Ordering::Relaxed);
            figures.swaps = swaps.load(Ordering::Relaxed);
            Some(figures)
        })
    }

    fn run(self, race: &Race<'_>, calls: u64, longest: Duration) -> Figures {
        let before = race.field.state_outside();
        let start = Instant::now();
        let mut figures = Figures::default();
        while figures.calls < calls && start.elapsed() < longest {
            let called = self.call(race, figures.calls);
            figures.calls += 1;
            figures.succeeded += u64::from(called.is_ok());
            // A message is an escape too, if it knows what is outside.
            let (Ok(text) | Err(text)) = called;
            figures.escapes += u64::from(text.contains(CANARY));
            if figures.calls.is_multiple_of(LOOKED_AFTER) {
                figures.escapes += u64::from(race.field.state_outside() != before);
                if self == Self::MakeFolder {
                    race.field.take_away();
                }
            }
        }
        figures.escapes += u64::from(race.field.state_outside() != before);
        figures.took = start.elapsed();
        figures
    }
}

/// What a call needs.
struct Race<'f> {
    field: &'f Field,
    workspace: Workspace,
    never: CancellationToken,
    registry: Registry,
    runtime: tokio::runtime::Runtime,
}

impl<'f> Race<'f> {
    fn new(field: &'f Field) -> Self {
        let workspace = || Workspace::new(&field.inside).expect("a workspace");
        Self {
            field,
            workspace: workspace(),
            never: CancellationToken::new(),
            registry: Registry::builder()
                .tool(search_in)
                .context(workspace())
                .build()
                .expect("a tool"),
            runtime: tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .expect("a runtime"),
        }
    }
}

/// Search for what is inside and outside.
#[tool(read_only)]
fn search_in(
    path: &str,
    #[context] workspace: &Workspace,
    #[context] cancelled: &CancellationToken,
    #[context] deadline: &Deadline,
) -> Result<Findings, SearchProblem> {
    search_in_files(
        "inside|canary",
        path,
        Case::Sensitive,
        false,
        None,
        true,
        50,
        workspace,
        cancelled,
        deadline,
    )
}

fn told<T: serde::Serialize, E: std::fmt::Display>(result: Result<T, E>) -> Result<String, String> {
    match result {
        Ok(value) => serde_json::to_string(&value).map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

fn check_then_open(root: &Path, path: &str) -> Option<String> {
    let path = root.join(path).canonicalize().ok()?;
    path.starts_with(root)
        .then(|| std::fs::read_to_string(path).ok())?
}
