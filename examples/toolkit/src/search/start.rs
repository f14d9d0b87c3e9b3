//! From the path that a model gave to the folder or file where the search begins.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Component, Path, PathBuf};

use ignore::overrides::Override;

use super::SearchProblem;
use super::budget::Budget;
use super::findings::Findings;
use super::folder::open;
use super::pattern::Pattern;
use super::rules::{RuleReader, Rules};
use super::scan::{Bounds, Scanner};
use super::walk::{Terms, Walk};
use super::work::{self, Room};
use crate::path::RootedPath;
use crate::problem::{Kind, Problem};
use crate::workspace::Workspace;

/// What an answer needs besides the hits, in characters.
const FRAME: usize = 2_000;

/// Searches what is at a path.
pub(super) fn search(
    workspace: &Workspace,
    path: &str,
    pattern: &Pattern,
    globs: Override,
    hidden: bool,
    max_results: usize,
    budget: &Budget<'_>,
) -> Result<Findings, SearchProblem> {
    let limits = workspace.limits();
    let rooted = workspace.resolve(path)?;
    let bounds = Bounds {
        bytes: limits.search_file_bytes,
        // One more, to see that there are more.
        hits: max_results.saturating_add(1),
        characters: limits.search_line_characters,
        cross: workspace.rules.cross_mounts,
    };
    let room = Room {
        hits: max_results,
        characters: limits.read_characters.saturating_sub(FRAME),
    };
    let start = match Start::folder(&rooted) {
        Err(Problem::NotAFolder {
            kind: Kind::File, ..
        }) => {
            let (file, _) = rooted.open_file()?;
            let mut scanner = Scanner::new(pattern, bounds, budget);
            let outcome = scanner.file(file.as_fd(), || shown_base(&rooted, path));
            return Ok(work::alone(outcome, room, budget));
        }
        start => start?,
    };
    let terms = Terms {
        hidden,
        globs,
        cross: bounds.cross,
        files: limits.search_files,
    };
    let mut items = Vec::new();
    let base = (start.handle, start.path, shown_base(&rooted, path));
    let walk = Walk::new(terms, base, &start.above, &mut items, budget);
    Ok(work::search(walk, items, pattern, bounds, room, budget))
}

/// The folder where a search or a listing begins.
pub(crate) struct Start {
    handle: OwnedFd,
    /// From the root, with a slash at the end; empty for the root itself.
    pub(crate) path: Vec<u8>,
    /// What the folders above it ignore.
    pub(crate) above: Rules,
}

impl Start {
    /// Goes down from the root one name at a time, so that the ignore files on the way are those of the folders that lead
    /// to what is searched.
    pub(crate) fn folder(rooted: &RootedPath<'_>) -> Result<Self, Problem> {
        // Says what is wrong with the path, in the words that every tool uses.
        drop(rooted.open_folder()?);
        let problem = |error: io::Error| rooted.problem("open", error);
        let real = if rooted.workspace.rules.follow_links {
            rooted.real()?
        } else {
            rooted.path.clone()
        };
        let cross = rooted.workspace.rules.cross_mounts;
        let mut reader = RuleReader::new(cross);
        let mut start = Self {
            handle: open(&rooted.root.handle, b".", Kind::Folder, cross)
                .map_err(|error| problem(error.into()))?,
            path: Vec::new(),
            above: Rules::default(),
        };
        for component in real.components() {
            let Component::Normal(name) = component else {
                continue;
            };
            let folder = start.handle.as_fd();
            start.above = reader.read_in(&start.above, folder, start.path.len());
            start.handle = open(folder, name.as_bytes(), Kind::Folder, cross)
                .map_err(|error| problem(error.into()))?;
            start.path.extend_from_slice(name.as_bytes());
            start.path.push(b'/');
        }
        Ok(start)
    }
}

/// What stands in front of the names below: what the model gave, so that it can give a hit's path to another tool.
fn shown_base(rooted: &RootedPath<'_>, path: &str) -> PathBuf {
    let plain = rooted
        .path
        .components()
        .filter(|component| *component != Component::CurDir);
    if Path::new(path).is_absolute() {
        rooted
            .root
            .path
            .iter()
            .chain(plain.map(Component::as_os_str))
            .collect()
    } else {
        plain.collect()
    }
}
