//! A writer that is killed at any moment, and what it leaves.

use std::io::{BufRead as _, BufReader};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use contract_runtime::prelude::*;
use toolkit::{Workspace, edit_file, write_file};

/// Where the writer works.
pub(crate) const FOLDER: &str = "TOOLKIT_CRASH_FOLDER";

/// How the names of unfinished files begin.
const UNFINISHED: &str = ".toolkit-unfinished-";

/// What the writer writes.
const FILES: [&str; 3] = ["a", "folder/b", "folder/deeper/c"];

/// One version of a file: from its first line one knows the rest.
fn version(number: u64) -> String {
    let size = 1 + (number * 7919) % 300_000;
    format!(
        "{number}\n{}\n",
        "x".repeat(usize::try_from(size).unwrap_or(0))
    )
}

fn is_whole(text: &str) -> bool {
    let number = text
        .split_once('\n')
        .and_then(|(number, _)| number.parse().ok());
    number.is_some_and(|number| text == version(number))
}

/// Writes and edits until it is killed.
pub(crate) fn write_on(folder: &Path) {
    write(folder, &FILES, u64::MAX);
}

/// Makes one file with its folder, and edits it.
pub(crate) fn write_once(folder: &Path) {
    write(folder, &FILES[1..2], 1);
}

fn write(folder: &Path, files: &[&str], times: u64) {
    let workspace = Workspace::new(folder).expect("a workspace");
    let never = CancellationToken::new();
    println!("ready");
    for number in 0..times {
        for path in files {
            write_file(path, &version(number), None, &workspace, &never).expect("it is written");
            let (old, new) = (version(number), version(number + 1));
            edit_file(path, &old, &new, 1, None, &workspace, &never).expect("it is edited");
        }
    }
}

/// What came of many writers.
#[derive(Debug, Default)]
pub(crate) struct Figures {
    pub(crate) runs: u64,
    /// Unfinished files that were there before the next workspace was built.
    pub(crate) found: u64,
    /// Unfinished files that were there afterwards.
    pub(crate) left: u64,
    /// Files that were neither the old nor the new version.
    pub(crate) torn: u64,
}

impl Figures {
    /// Starts a writer, kills it after so long, and looks at what it has left.
    pub(crate) fn run(&mut self, folder: &Path, mut writer: Command, after: Duration) {
        let mut writer = writer
            .env(FOLDER, folder)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("a writer");
        let out = BufReader::new(writer.stdout.take().expect("its output"));
        let ready = out
            .lines()
            .map_while(Result::ok)
            .any(|line| line.ends_with("ready"));
        assert!(ready, "the writer did not start");
        std::thread::sleep(after);
        writer.kill().expect("it is killed");
        let ended = writer.wait().expect("it is gone");
        assert_eq!(ended.signal(), Some(9), "the writer ended by itself");
        self.look(folder);
    }

    /// Counts what a writer that is gone has left.
    pub(crate) fn look(&mut self, folder: &Path) {
        self.runs += 1;
        self.found += unfinished(folder);
        self.torn += FILES
            .iter()
            .filter_map(|path| std::fs::read_to_string(folder.join(path)).ok())
            .filter(|text| !is_whole(text))
            .count() as u64;
        drop(Workspace::new(folder).expect("the next workspace"));
        self.left += unfinished(folder);
    }
}

fn unfinished(folder: &Path) -> u64 {
    let mut count = 0;
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            count += unfinished(&entry.path());
        }
        count += u64::from(
            entry
                .file_name()
                .as_encoded_bytes()
                .starts_with(UNFINISHED.as_bytes()),
        );
    }
    count
}

/// A moment that nobody has chosen, of at most this many microseconds.
pub(crate) fn at_random(most: u64) -> Duration {
    let mut random = [0; 8];
    getrandom::fill(&mut random).expect("chance");
    Duration::from_micros(u64::from_le_bytes(random) % most)
}

/// What the tools ask of the system while they write.
const CALLS: [&str; 14] = [
    "openat",
    "openat2",
    "mkdirat",
    "write",
    "fsync",
    "flock",
    "fchmod",
    "fchown",
    "statx",
    "readlink",
    "faccessat2",
    "renameat",
    "renameat2",
    "unlinkat",
];

/// Kills a writer at its first call of each kind, at its second, and so on until one ends by itself; nothing without a
/// `strace` that works.
pub(crate) fn at_every_step(writer: impl Fn() -> Command) -> Option<Figures> {
    let mut figures = Figures::default();
    for call in CALLS {
        for step in 1.. {
            let folder = tempfile::tempdir().expect("a folder");
            std::fs::write(folder.path().join("a"), version(1)).expect("a file");
            let writer = writer();
            let ended = Command::new("strace")
                .args(["-f", "-qq", "-o", "/dev/null", "-e"])
                .arg(format!("inject=?{call}:signal=KILL:when={step}"))
                .arg(writer.get_program())
                .args(writer.get_args())
                .env(FOLDER, folder.path())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .status()
                .ok()?;
            figures.look(folder.path());
            if ended.success() {
                break;
            }
            // Killed, and not refused: `strace` ends as its program did.
            if ended.signal() != Some(9) {
                return None;
            }
        }
    }
    Some(figures)
}
