//! The tool by which the executor reports what a run has changed.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::path::Path;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirEntry};
use contract_remote::protocol::TaskId;
use contract_runtime::prelude::*;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

/// Folders of builds and of version control, which people do not read as a change.
const LEFT_OUT: [&str; 3] = ["target", "node_modules", ".git"];

/// The number of files of a snapshot.
const FILES: usize = 5_000;

/// The bytes of a file that is shown line by line, and of all texts of a snapshot.
const FILE: u64 = 512 << 10;
const TOTAL: u64 = 16 << 20;

/// The number of snapshots that are kept.
const KEPT: usize = 16;

/// The bytes of a diff.
const DIFF: usize = 64 << 10;

/// The states of a project that this process has seen, the latest last.
#[derive(Debug)]
pub struct Snapshots {
    root: Dir,
    kept: Mutex<VecDeque<(String, Project)>>,
}

/// Every file by its path from the root: its text, or the size of a binary or large file.
type Project = BTreeMap<String, Result<String, u64>>;

/// The changes between two states of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    /// The name of the snapshot: the one that was taken, or that of `since`.
    pub snapshot: String,
    /// The changes, as a unified diff.
    pub diff: String,
    /// Whether the diff was cut at its end.
    pub shortened: bool,
}

impl Snapshots {
    /// Opens a folder, without any snapshot of it.
    ///
    /// # Errors
    ///
    /// The folder cannot be opened.
    pub fn new(root: &Path) -> io::Result<Self> {
        Ok(Self {
            root: Dir::open_ambient_dir(root, ambient_authority())?,
            kept: Mutex::default(),
        })
    }
}

/// Take a snapshot of the files of the project; or, with `since`, say what has changed in them since that snapshot.
#[tool(read_only, open_world = false, blocking, timeout = "1m")]
#[pre(since.is_none_or(|since| since.len() <= 64), "a snapshot has the name that an earlier call gave it")]
pub fn workspace_diff(
    /// The `snapshot` of an earlier call.
    since: Option<&str>,
    #[context] snapshots: &Snapshots,
) -> Result<Changes, String> {
    let now = read(&snapshots.root);
    let now = now.map_err(|error| format!("the project cannot be read: {error}"))?;
    let mut kept = snapshots.kept.lock();
    let Some(name) = since else {
        let snapshot = TaskId::random().to_string();
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((snapshot.clone(), now));
        return Ok(Changes {
            snapshot,
            diff: String::new(),
            shortened: false,
        });
    };
    let before = kept.iter().find(|(known, _)| known == name);
    let (snapshot, before) = before.ok_or_else(|| {
        format!("there is no snapshot `{name}`: the executor has restarted since, or has taken {KEPT} newer ones; call without `since` for a new one")
    })?;
    let mut diff = between(before, &now);
    let shortened = diff.len() > DIFF;
    if shortened {
        let end = (0..=DIFF).rev().find(|end| diff.is_char_boundary(*end));
        diff.truncate(end.unwrap_or(0));
    }
    Ok(Changes {
        snapshot: snapshot.clone(),
        diff,
        shortened,
    })
}

/// Reads a project and never follows a link: a command of the model could have made it.
fn read(root: &Dir) -> io::Result<Project> {
    let mut project = Project::new();
    let mut left = TOTAL;
    let mut folders = vec![(root.try_clone()?, String::new())];
    while let Some((folder, inside)) = folders.pop() {
        for entry in folder.entries()? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{inside}{name}");
            let kind = entry.file_type()?;
            // What is gone meanwhile has nothing to show.
            if kind.is_dir() && !LEFT_OUT.contains(&&*name) {
                if let Ok(open) = entry.open_dir() {
                    folders.push((open, format!("{path}/")));
                }
            } else if kind.is_file()
                && project.len() < FILES
                && let Ok(file) = read_file(&entry, &mut left)
            {
                project.insert(path, file);
            }
        }
    }
    Ok(project)
}

fn read_file(entry: &DirEntry, left: &mut u64) -> io::Result<Result<String, u64>> {
    let size = entry.metadata()?.len();
    if size > FILE.min(*left) {
        return Ok(Err(size));
    }
    let mut bytes = Vec::new();
    entry.open()?.take(FILE).read_to_end(&mut bytes)?;
    *left = left.saturating_sub(bytes.len() as u64);
    Ok(match String::from_utf8(bytes) {
        Ok(text) if !text.contains('\0') => Ok(text),
        _ => Err(size),
    })
}

fn between(before: &Project, now: &Project) -> String {
    let mut names: Vec<_> = before.keys().chain(now.keys()).collect();
    names.sort();
    names.dedup();
    let mut all = String::new();
    for name in names {
        let (old, new) = (before.get(name), now.get(name));
        if old == new {
            continue;
        }
        let side = |file: Option<&_>, side| match file {
            Some(_) => format!("{side}/{name}"),
            None => "/dev/null".to_owned(),
        };
        let (from, to) = (side(old, "a"), side(new, "b"));
        let text = |file: Option<&Result<String, u64>>| match file {
            None => Some(String::new()),
            Some(Ok(text)) => Some(text.clone()),
            Some(Err(_)) => None,
        };
        let (Some(old), Some(new)) = (text(old), text(new)) else {
            let _ = writeln!(all, "{from} and {to} differ, and are not shown");
            continue;
        };
        let diff = TextDiff::from_lines(&old, &new);
        let mut unified = diff.unified_diff();
        all.push_str(&unified.header(&from, &to).to_string());
        if all.len() > DIFF {
            break;
        }
    }
    all
}
