//! What ignore files exclude, as ripgrep and git read them.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::BorrowedFd;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;
use std::sync::Arc;

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::findings::Reason;
use super::folder::{kind_of, open, reason_of};
use crate::problem::Kind;

/// The ignore files that hold in a folder: its own and those of the folders above.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rules(Option<Arc<Level>>);

/// What one folder adds.
#[derive(Debug)]
struct Level {
    above: Rules,
    /// How many bytes of a path lead to this folder, with the slash.
    prefix: usize,
    /// The size of all ignore files from here upwards.
    bytes: usize,
    own: [Option<Arc<Gitignore>>; SOURCES.len()],
    is_repository: bool,
}

/// Where rules come from. An earlier source outdoes a later one, whatever folders they are in, and within one source the
/// nearest folder with an answer decides.
const SOURCES: [Source; 4] = [
    Source {
        name: b".rgignore",
        of_git: false,
    },
    Source {
        name: b".ignore",
        of_git: false,
    },
    Source {
        name: b".gitignore",
        of_git: true,
    },
    Source {
        name: b".git",
        of_git: true,
    },
];

struct Source {
    name: &'static [u8],
    /// Git's own files do not reach into a repository further down.
    of_git: bool,
}

/// What the rules say about a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Ignored,
    /// By a rule with `!`, which also outdoes that a name is hidden.
    Wanted,
    Unsaid,
}

impl Rules {
    /// The verdict about a path, given from the root on.
    pub(crate) fn verdict(&self, path: &[u8], is_folder: bool) -> Verdict {
        let mut said = [Verdict::Unsaid; SOURCES.len()];
        let mut in_repository = true;
        let mut level = self.0.as_deref();
        while let Some(this) = level {
            let path = OsStr::from_bytes(path.get(this.prefix..).unwrap_or_default());
            for ((said, matcher), source) in said.iter_mut().zip(&this.own).zip(&SOURCES) {
                if *said == Verdict::Unsaid
                    && (in_repository || !source.of_git)
                    && let Some(matcher) = matcher
                {
                    *said = match matcher.matched(Path::new(path), is_folder) {
                        Match::None => Verdict::Unsaid,
                        Match::Ignore(_) => Verdict::Ignored,
                        Match::Whitelist(_) => Verdict::Wanted,
                    };
                }
            }
            in_repository &= !this.is_repository;
            level = this.above.0.as_deref();
        }
        said.into_iter()
            .find(|said| *said != Verdict::Unsaid)
            .unwrap_or(Verdict::Unsaid)
    }

    fn bytes(&self) -> usize {
        self.0.as_ref().map_or(0, |level| level.bytes)
    }
}

/// Which of the names that matter here are in a folder, and what they are.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sources([Option<Kind>; SOURCES.len()]);

impl Sources {
    /// Notes a name of the folder.
    pub(super) fn note(&mut self, name: &[u8], kind: Kind) {
        if name.first() == Some(&b'.')
            && let Some(at) = SOURCES.iter().position(|source| source.name == name)
            && let Some(place) = self.0.get_mut(at)
        {
            *place = Some(kind);
        }
    }

    /// Asks for the names, in a folder that is not listed.
    fn of(folder: BorrowedFd<'_>) -> Self {
        let mut sources = Self::default();
        for source in &SOURCES {
            let name = OsStr::from_bytes(source.name);
            if let Ok(stat) =
                rustix::fs::statat(folder, name, rustix::fs::AtFlags::SYMLINK_NOFOLLOW)
            {
                sources.note(source.name, kind_of(FileType::from_raw_mode(stat.st_mode)));
            }
        }
        sources
    }
}

/// The largest ignore file that is obeyed, in bytes, and four times that for all that hold in one folder: what a file is
/// compiled to may be a hundred times as large.
const FILE_BYTES: usize = 64 << 10;
const ALL_BYTES: usize = 4 * FILE_BYTES;

/// Files up to this size are kept compiled, because the many projects of one tree have the same few.
const KEPT_BYTES: usize = 4 << 10;
const KEPT_FILES: usize = 256;

/// Reads ignore files.
#[derive(Debug)]
pub(crate) struct RuleReader {
    kept: HashMap<Vec<u8>, Option<Arc<Gitignore>>>,
    cross: bool,
}

impl RuleReader {
    pub(crate) fn new(cross: bool) -> Self {
        Self {
            kept: HashMap::new(),
            cross,
        }
    }

    /// Returns the rules in a folder that is not listed by [`Folder`](super::folder::Folder).
    pub(crate) fn read_in(
        &mut self,
        above: &Rules,
        folder: BorrowedFd<'_>,
        prefix: usize,
    ) -> Rules {
        self.read(above, folder, prefix, Sources::of(folder), |_| {})
    }

    /// The rules in a folder; what cannot be obeyed is reported.
    pub(super) fn read(
        &mut self,
        above: &Rules,
        folder: BorrowedFd<'_>,
        prefix: usize,
        sources: Sources,
        mut report: impl FnMut(Reason),
    ) -> Rules {
        let [rgignore, ignore, gitignore, git] = sources.0;
        if sources.0 == [None; SOURCES.len()] {
            return above.clone();
        }
        let mut bytes = above.bytes();
        let mut load = |kind: Option<Kind>, names: &[&[u8]]| {
            kind?;
            match self.load(folder, names, ALL_BYTES.saturating_sub(bytes)) {
                Ok((rules, size)) => {
                    bytes += size;
                    rules
                }
                Err(Errno::NOENT) => None,
                Err(error) => {
                    if reason_of(error).is_some() {
                        report(Reason::IgnoreFile);
                    }
                    None
                }
            }
        };
        let own = [
            load(rgignore, &[b".rgignore"]),
            load(ignore, &[b".ignore"]),
            load(gitignore, &[b".gitignore"]),
            // Where `.git` is a file or a link, what it names is not in this folder.
            load(
                git.filter(|kind| *kind == Kind::Folder),
                &[b".git", b"info", b"exclude"],
            ),
        ];
        Rules(Some(Arc::new(Level {
            above: above.clone(),
            prefix,
            bytes,
            own,
            is_repository: git.is_some(),
        })))
    }

    /// The rules in a file, and its size.
    fn load(
        &mut self,
        folder: BorrowedFd<'_>,
        names: &[&[u8]],
        room: usize,
    ) -> Result<(Option<Arc<Gitignore>>, usize), Errno> {
        let text = read_small(folder, names, self.cross, room.min(FILE_BYTES))?;
        let size = text.len();
        if let Some(kept) = self.kept.get(&text) {
            return Ok((kept.clone(), size));
        }
        let rules = compile(&text)?;
        if size <= KEPT_BYTES && self.kept.len() < KEPT_FILES {
            self.kept.insert(text, rules.clone());
        }
        Ok((rules, size))
    }
}

/// The bytes of a regular file that is not larger than this.
fn read_small(
    folder: BorrowedFd<'_>,
    names: &[&[u8]],
    cross: bool,
    limit: usize,
) -> Result<Vec<u8>, Errno> {
    let (name, folders) = names.split_last().ok_or(Errno::INVAL)?;
    let mut holder = None;
    for name in folders {
        let from = holder.as_ref().map_or(folder, std::os::fd::AsFd::as_fd);
        holder = Some(open(from, name, Kind::Folder, cross)?);
    }
    let from = holder.as_ref().map_or(folder, std::os::fd::AsFd::as_fd);
    let file = open(from, name, Kind::File, cross)?;
    let stat = rustix::fs::fstat(&file)?;
    if kind_of(FileType::from_raw_mode(stat.st_mode)) != Kind::File {
        return Err(Errno::INVAL);
    }
    let mut text = Vec::new();
    // One byte more, to see that there is more.
    File::from(file)
        .take(limit as u64 + 1)
        .read_to_end(&mut text)
        .map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    if text.len() > limit {
        return Err(Errno::FBIG);
    }
    Ok(text)
}

/// A line that is not a glob is left out, and what follows a line that is not text too, as in ripgrep.
fn compile(text: &[u8]) -> Result<Option<Arc<Gitignore>>, Errno> {
    let text = text.strip_prefix("\u{feff}".as_bytes()).unwrap_or(text);
    let mut builder = GitignoreBuilder::new("");
    for line in text.split(|byte| *byte == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else {
            break;
        };
        let line = line.strip_suffix('\r').unwrap_or(line);
        let _ = builder.add_line(None, line);
    }
    let rules = builder.build().map_err(|_| Errno::INVAL)?;
    Ok((!rules.is_empty()).then(|| Arc::new(rules)))
}
