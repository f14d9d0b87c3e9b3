//! `search_in_files`

mod budget;
mod findings;
mod folder;
mod globs;
mod hit;
mod line;
mod pattern;
mod problem;
mod rules;
mod scan;
mod start;
mod walk;
mod work;

use std::time::{Duration, Instant};

use contract_runtime::prelude::*;

pub(crate) use findings::is_zero;
pub use findings::{Findings, Skipped, Stop};
pub use hit::{Hit, HitError};
pub use pattern::Case;
pub use problem::SearchProblem;
pub(crate) use rules::{RuleReader, Rules, Verdict};
pub(crate) use start::Start;

use crate::workspace::Workspace;
use budget::Budget;
use pattern::Pattern;

/// What is kept of a call's time to write its answer.
const RESERVE: Duration = Duration::from_millis(250);

/// Find the lines that match a regular expression, in a file or in all files of a folder and the folders below it.
///
/// Lines come as `path:line: text`, in the order of paths and lines. Files that `.gitignore`, `.ignore` or `.rgignore`
/// exclude, hidden files, binary files and symbolic links are left out. A result with `stopped` is not complete: search
/// again with a narrower path, glob or pattern.
#[tool(read_only, idempotent, blocking, timeout = "2m")]
#[pre(!pattern.is_empty(), "give a pattern; to list files, use read_folder")]
#[pre(pattern.chars().count() <= 1_000, "the pattern is too long")]
#[pre(!pattern.contains('\n'), "lines are searched one by one; search for one of the lines")]
#[pre(!path.is_empty(), "give a file or folder, or `.` for the working directory")]
#[pre(glob.is_none_or(|glob| glob.chars().count() <= 1_000), "the glob is too long")]
#[pre(glob.is_none_or(|glob| !glob.contains('\0')), "a glob has no zero bytes")]
#[pre(max_results >= 1, "ask for at least one line")]
#[pre(max_results <= 1_000, "one answer has at most 1000 lines")]
#[post(|found| found.hits.len() <= max_results, "more hits than were asked for")]
#[post(|found| found.hits.is_sorted_by(|one, next| (&one.path, one.line) < (&next.path, next.line)), "the hits are out of order")]
#[expect(clippy::too_many_arguments, reason = "each is an argument of the tool")]
pub fn search_in_files(
    /// A regular expression in Rust's syntax (no look-around, no backreferences), matched within one line.
    #[arg(example = r"fn \w+_file\(")]
    pattern: &str,
    /// A file or folder, relative to the working directory, or absolute and below it.
    #[arg(default = ".")]
    path: &str,
    /// Whether capital and small letters differ; `smart`: only if the pattern has a capital letter.
    #[arg(default = Case::Sensitive)]
    case: Case,
    /// Take the pattern as plain text instead of a regular expression.
    #[arg(default = false)]
    literal: bool,
    /// Search only files that match one of these globs, separated by spaces; `!` in front excludes. A glob with a slash
    /// is relative to `path`.
    #[arg(example = "*.{rs,toml} !tests/**")]
    glob: Option<&str>,
    /// Search files and folders whose names begin with a dot too.
    #[arg(default = false)]
    hidden: bool,
    /// The most lines to give.
    #[arg(default = 50)]
    max_results: usize,
    #[context] workspace: &Workspace,
    #[context] cancelled: &CancellationToken,
    #[context] deadline: &Deadline,
) -> Result<Findings, SearchProblem> {
    let limits = workspace.limits();
    let time = deadline.remaining().map_or(limits.search_time, |left| {
        left.saturating_sub(RESERVE).min(limits.search_time)
    });
    let budget = Budget::new(Instant::now().checked_add(time), cancelled);
    let pattern = Pattern::new(pattern, case, literal)?;
    let globs = globs::parse(glob.unwrap_or_default())?;
    start::search(
        workspace,
        path,
        &pattern,
        globs,
        hidden,
        max_results,
        &budget,
    )
}
