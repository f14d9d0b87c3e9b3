//! The changes a run has made, as the executor reports them.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use cap_std::ambient_authority;
use cap_std::fs::{Dir, Metadata};
use contract_runtime::prelude::*;
use parking_lot::Mutex;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use similar::TextDiff;

/// What builds make, and what version control keeps: people do not read it as a change.
const LEFT_OUT: [&str; 3] = ["target", "node_modules", ".git"];

/// Files of a snapshot.
const FILES: usize = 5_000;

/// Bytes of a file that is shown line by line.
const FILE: u64 = 512 << 10;

/// Bytes of all texts of a snapshot.
const TOTAL: u64 = 16 << 20;

/// Snapshots that are kept; those of the longest conversations that wait for answers.
const KEPT: usize = 16;

/// Bytes of a diff.
const DIFF: usize = 64 << 10;

/// The states of a project that this process has seen, the latest last.
#[derive(Debug)]
pub struct Snapshots {
    root: Dir,
    kept: Mutex<VecDeque<(String, Arc<Project>)>>,
}

/// Every file, by its path from the root.
type Project = BTreeMap<String, File>;

#[derive(Clone, Debug, PartialEq, Eq)]
enum File {
    Text(String),
    /// No text, or a large one: its size and when it was written.
    Other(String),
}

/// What is different between two states of a project.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Changes {
    /// The state now, for the next question.
    pub snapshot: String,
    /// What has changed, as a unified diff.
    pub diff: String,
    /// The diff is longer than what is given of it.
    pub shortened: bool,
}

/// Why it cannot be said what has changed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ChangesProblem {
    /// The snapshot is not known.
    #[error(
        "there is no snapshot `{name}`: the executor has restarted since, or has taken {KEPT} newer ones; call without `since` for a new one"
    )]
    Unknown {
        /// As it was asked for.
        name: String,
    },
    /// The project cannot be read.
    #[error("the project cannot be read: {0}")]
    Read(#[from] io::Error),
}

impl Snapshots {
    /// Starts with no snapshot of this folder.
    ///
    /// # Errors
    ///
    /// When it cannot be opened.
    pub fn new(root: &Path) -> io::Result<Self> {
        Ok(Self {
            root: Dir::open_ambient_dir(root, ambient_authority())?,
            kept: Mutex::default(),
        })
    }

    fn find_project(&self, name: &str) -> Option<Arc<Project>> {
        let kept = self.kept.lock();
        let found = kept.iter().find(|(known, _)| known == name);
        found.map(|(_, project)| Arc::clone(project))
    }

    fn keep(&self, name: &str, project: &Arc<Project>) {
        let mut kept = self.kept.lock();
        kept.retain(|(known, _)| known != name);
        if kept.len() == KEPT {
            kept.pop_front();
        }
        kept.push_back((name.to_owned(), Arc::clone(project)));
    }
}

/// Say what has changed in the files of the project since a snapshot, and take one of how it is now. Without `since`, only
/// take one.
#[tool(read_only, open_world = false, blocking, timeout = "1m")]
#[pre(since.is_none_or(|since| since.len() <= 64), "a snapshot has the name that an earlier call gave it")]
pub fn workspace_diff(
    /// The `snapshot` of an earlier call.
    since: Option<&str>,
    #[context] snapshots: &Snapshots,
) -> Result<Changes, ChangesProblem> {
    let before = match since {
        Some(name) => Some(snapshots.find_project(name).ok_or_else(|| {
            let name = name.to_owned();
            ChangesProblem::Unknown { name }
        })?),
        None => None,
    };
    let now = Arc::new(read(&snapshots.root)?);
    let snapshot = name(&now);
    snapshots.keep(&snapshot, &now);
    let mut diff = before.map_or_else(String::new, |before| between(&before, &now));
    let shortened = diff.len() > DIFF;
    if shortened {
        let end = (0..=DIFF).rev().find(|end| diff.is_char_boundary(*end));
        diff.truncate(end.unwrap_or(0));
    }
    Ok(Changes {
        snapshot,
        diff,
        shortened,
    })
}

/// The same for two projects that are alike, and for no others.
fn name(project: &Project) -> String {
    let mut hasher = blake3::Hasher::new();
    for (path, file) in project {
        let (kind, text) = match file {
            File::Text(text) => (b"t", text),
            File::Other(text) => (b"o", text),
        };
        for part in [path.as_bytes(), kind, text.as_bytes()] {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
    }
    hasher.finalize().to_hex()[..32].to_owned()
}

/// Never follows a link: a command of the model could have made it.
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
            if kind.is_dir() && !LEFT_OUT.contains(&&*name) {
                // One that is gone meanwhile has nothing to show.
                if let Ok(open) = entry.open_dir() {
                    folders.push((open, format!("{path}/")));
                }
            } else if kind.is_file() && project.len() < FILES {
                let file = entry.metadata().and_then(|about| {
                    if about.len() > FILE.min(left) {
                        return Ok(other(&about));
                    }
                    let mut bytes = Vec::new();
                    entry.open()?.take(FILE).read_to_end(&mut bytes)?;
                    left = left.saturating_sub(bytes.len() as u64);
                    Ok(match String::from_utf8(bytes) {
                        Ok(text) if !text.contains('\0') => File::Text(text),
                        _ => other(&about),
                    })
                });
                if let Ok(file) = file {
                    project.insert(path, file);
                }
            }
        }
    }
    Ok(project)
}

fn other(about: &Metadata) -> File {
    let written = about.modified().map(cap_std::time::SystemTime::into_std);
    let written = written
        .ok()
        .and_then(|at| at.duration_since(UNIX_EPOCH).ok());
    let written = written.unwrap_or_default().as_nanos();
    File::Other(format!("{} bytes, {written}", about.len()))
}

/// A unified diff.
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
        let side = |file: Option<&File>, side| match file {
            Some(_) => format!("{side}/{name}"),
            None => "/dev/null".to_owned(),
        };
        let (from, to) = (side(old, "a"), side(new, "b"));
        let (Some(old), Some(new)) = (text(old), text(new)) else {
            let _ = writeln!(all, "{from} and {to} differ, and are not shown");
            continue;
        };
        let diff = TextDiff::from_lines(old, new);
        let mut unified = diff.unified_diff();
        all.push_str(&unified.header(&from, &to).to_string());
        if all.len() > DIFF {
            break;
        }
    }
    all
}

fn text(file: Option<&File>) -> Option<&str> {
    match file {
        None => Some(""),
        Some(File::Text(text)) => Some(text),
        Some(File::Other(_)) => None,
    }
}
