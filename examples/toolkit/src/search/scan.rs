//! Searching one file.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::path::{Path, PathBuf};

use grep_matcher::Matcher as _;
use grep_regex::RegexMatcher;
use grep_searcher::{
    BinaryDetection, MmapChoice, Searcher, SearcherBuilder, Sink, SinkFinish, SinkMatch,
};
use rustix::fs::FileType;
use rustix::io::Errno;

use super::Hit;
use super::budget::Budget;
use super::findings::Reason;
use super::folder::{Entry, Folder, kind_of, open, reason_of};
use super::line::shown_line;
use super::pattern::Pattern;
use crate::problem::Kind;

/// What is read at once; a smaller file is searched where it was read to.
const BUFFER: usize = 64 << 10;

/// How much of everything one file may take.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// The largest file.
    pub(super) bytes: u64,
    /// The most hits.
    pub(super) hits: usize,
    /// The longest line that is shown whole.
    pub(super) characters: usize,
    pub(super) cross: bool,
}

/// What came of one file.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    pub(super) hits: Vec<Hit>,
    pub(super) end: End,
}

/// How far a file was searched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum End {
    /// To its end, or until there were hits enough.
    #[default]
    Whole,
    /// Not, or not to its end.
    Skipped(Reason),
    /// It vanished, or the time was over.
    Unseen,
}

/// Searches files, one after the other; each thread has its own.
pub(super) struct Scanner<'b> {
    matcher: RegexMatcher,
    searcher: Searcher,
    line_bytes: usize,
    buffer: Box<[u8]>,
    bounds: Bounds,
    budget: &'b Budget<'b>,
}

impl<'b> Scanner<'b> {
    pub(super) fn new(pattern: &Pattern, bounds: Bounds, budget: &'b Budget<'b>) -> Self {
        let searcher = SearcherBuilder::new()
            .line_number(true)
            .binary_detection(BinaryDetection::quit(0))
            .memory_map(MmapChoice::never())
            .heap_limit(Some(pattern.line_bytes))
            .build();
        Self {
            matcher: pattern.matcher.clone(),
            searcher,
            line_bytes: pattern.line_bytes,
            buffer: vec![0; BUFFER].into_boxed_slice(),
            bounds,
            budget,
        }
    }

    /// Opens a file that a folder names, and searches it.
    pub(super) fn entry(&mut self, folder: &Folder, entry: Entry) -> Outcome {
        let name = folder.name(entry);
        match open(&folder.handle, name, Kind::File, self.bounds.cross) {
            Ok(file) => self.file(file.as_fd(), || folder.path_of(entry)),
            Err(error) => Outcome::refused(error),
        }
    }

    /// Searches a file that is open; its path is asked for when something was found.
    pub(super) fn file(&mut self, file: BorrowedFd<'_>, path: impl Fn() -> PathBuf) -> Outcome {
        self.search(file, &path).unwrap_or_else(Outcome::refused)
    }

    fn search(
        &mut self,
        file: BorrowedFd<'_>,
        path: &dyn Fn() -> PathBuf,
    ) -> Result<Outcome, Errno> {
        // The handle is asked, because the name may mean something else since the folder was read.
        let stat = rustix::fs::fstat(file)?;
        if kind_of(FileType::from_raw_mode(stat.st_mode)) != Kind::File {
            return Ok(Outcome::skipped(Reason::Special));
        }
        let size = u64::try_from(stat.st_size).unwrap_or(0);
        if size > self.bounds.bytes {
            return Ok(Outcome::skipped(Reason::TooLarge));
        }
        let count = rustix::io::read(file, &mut *self.buffer)?;
        let head = self.buffer.get(..count).unwrap_or_default();
        let mut lines = Lines {
            matcher: &self.matcher,
            bounds: self.bounds,
            budget: self.budget,
            path,
            known: None,
            hits: Vec::new(),
            is_binary: false,
            is_full: false,
        };
        // A regular file gives all that it has, so that nothing follows what its size announced.
        let mut failure = None;
        let searched = if count < BUFFER.min(self.line_bytes) && count as u64 == size {
            self.searcher.search_slice(&self.matcher, head, &mut lines)
        } else {
            let mut rest = Rest {
                file,
                left: self.bounds.bytes.saturating_sub(count as u64),
                budget: self.budget,
                failure: None,
            };
            let searched =
                self.searcher
                    .search_reader(&self.matcher, head.chain(&mut rest), &mut lines);
            failure = rest.failure;
            searched
        };
        let end = match (failure, searched) {
            (Some(failure), _) => failure,
            _ if lines.is_binary => End::Skipped(Reason::Binary),
            _ if self.budget.is_over() && !lines.is_full => End::Unseen,
            (None, Ok(())) => End::Whole,
            // Of the searcher's own errors, only that its memory is not enough for a line can occur here.
            (None, Err(_)) => End::Skipped(Reason::LongLine),
        };
        Ok(Outcome {
            hits: lines.hits,
            end,
        })
    }
}

impl Outcome {
    pub(super) fn skipped(reason: Reason) -> Self {
        Self {
            hits: Vec::new(),
            end: End::Skipped(reason),
        }
    }

    fn refused(error: Errno) -> Self {
        Self {
            hits: Vec::new(),
            end: reason_of(error).map_or(End::Unseen, End::Skipped),
        }
    }
}

/// What follows the first part of a file.
struct Rest<'f> {
    file: BorrowedFd<'f>,
    left: u64,
    budget: &'f Budget<'f>,
    failure: Option<End>,
}

impl Rest<'_> {
    fn fail(&mut self, end: End) -> io::Error {
        self.failure = Some(end);
        io::Error::other("the search ends here")
    }
}

impl Read for Rest<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.budget.is_spent() {
            return Err(self.fail(End::Unseen));
        }
        let count = match rustix::io::read(self.file, buffer) {
            Ok(count) => count,
            Err(Errno::INTR) => return Err(io::ErrorKind::Interrupted.into()),
            Err(error) => return Err(self.fail(Outcome::refused(error).end)),
        };
        match self.left.checked_sub(count as u64) {
            Some(left) => self.left = left,
            // It has grown meanwhile.
            None => return Err(self.fail(End::Skipped(Reason::TooLarge))),
        }
        Ok(count)
    }
}

/// Takes the lines that match.
struct Lines<'s> {
    matcher: &'s RegexMatcher,
    bounds: Bounds,
    budget: &'s Budget<'s>,
    path: &'s dyn Fn() -> PathBuf,
    known: Option<PathBuf>,
    hits: Vec<Hit>,
    is_binary: bool,
    is_full: bool,
}

impl Sink for Lines<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = found.bytes();
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let at = self.matcher.find(line).ok().flatten();
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let path: &Path = self.known.get_or_insert_with(self.path);
        self.hits.push(Hit {
            path: path.to_owned(),
            line: found.line_number().unwrap_or_default(),
            text: shown_line(
                line,
                at.map_or(0..0, |at| at.start()..at.end()),
                self.bounds.characters,
            ),
        });
        self.is_full = self.hits.len() >= self.bounds.hits;
        Ok(!self.is_full && !self.budget.is_spent())
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.is_binary = true;
        Ok(false)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        self.is_binary |= finish.binary_byte_offset().is_some();
        Ok(())
    }
}
