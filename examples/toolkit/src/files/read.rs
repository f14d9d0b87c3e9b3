//! `read_file`

use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::text::{self, Excerpt, ExcerptError, Part};
use crate::path::RootedPath;
use crate::problem::Problem;
use crate::workspace::Workspace;

/// The text of a file or of some of its lines, exactly as it is there.
///
/// A line ends with `\n`, which belongs to it, as does a `\r` before it; the last line may lack it. So the texts of
/// consecutive parts, put together, are the file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct FileText {
    /// The text, with its line ends, and with a byte order mark if the file begins with one.
    pub text: String,
    /// The line in which the text begins, from 1.
    pub first_line: u64,
    /// The line in which it ends; 0 for an empty file.
    pub last_line: u64,
    /// The lines of the whole file.
    pub total_lines: u64,
    /// The characters of the whole file.
    pub total_characters: u64,
    /// The first 32 hexadecimal digits of the BLAKE3 hash of the whole file, in the state in which it was read; what
    /// `expected_hash` of the tools that write stands for.
    pub hash: String,
    /// The text begins with a byte order mark (U+FEFF), which cannot be seen.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub byte_order_mark: bool,
    /// The file has this many names (hard links), so it will not be written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hard_links: Option<u64>,
    /// The answer is full: ask again from here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<Next>,
}

/// Where the text goes on that did not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Next {
    /// The first line to ask for.
    pub first_line: u64,
    /// Where in it to begin; only for a line that is too long for one answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_column: Option<u64>,
}

/// Read a UTF-8 text file, or some of its lines.
///
/// What does not fit into the answer ([`Limits::read_characters`](crate::Limits::read_characters)) is left out at its end, at
/// the end of a line if there is one, and [`FileText::next`] says where to go on. Consecutive parts, put together, are the
/// file: line ends, a byte order mark and a missing last line end are given as they are.
///
/// A part costs a look at the whole file, in one pass and constant memory, for the totals and the hash; text and hash are of
/// the same bytes, also when somebody writes meanwhile. Pipes, sockets and devices are refused without waiting. A file with
/// several names is read, and said to have them ([`FileText::hard_links`]).
///
/// # Errors
///
/// [`Problem::NotText`] for anything that is not UTF-8 or has a zero byte, unless `escape` is set, [`Problem::NotAFile`],
/// [`Problem::NotFound`] with the name that was perhaps meant, [`Problem::TooLarge`] above
/// [`Limits::read_file_bytes`](crate::Limits::read_file_bytes), [`Problem::Beyond`] for a line or column that is not there,
/// [`Problem::Outside`] and whatever else is wrong with the path.
///
/// ```
/// use contract_runtime::prelude::*;
/// use toolkit::{Workspace, read_file};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::write(folder.join("notes.txt"), "one\r\ntwo\r\nthree")?;
/// let workspace = Workspace::new(folder)?;
/// let never = CancellationToken::new();
///
/// let file = read_file("notes.txt", Some(2), None, None, false, &workspace, &never)?;
/// assert_eq!(file.text, "two\r\nthree");
/// assert_eq!((file.first_line, file.last_line, file.total_lines), (2, 3, 3));
///
/// let problem = read_file("note.txt", None, None, None, false, &workspace, &never).unwrap_err();
/// assert_eq!(problem.to_string(), "`note.txt` does not exist; did you mean `notes.txt`?");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[tool(
    read_only,
    open_world = false,
    blocking,
    timeout = "30s",
    description = "Read a UTF-8 text file, whole or some of its lines. Line ends are given as they are. What does not fit \
                   into the answer is left out at its end, and `next` says where to go on. `hash` is what `expected_hash` \
                   of the tools that write stands for."
)]
#[pre(!path.is_empty(), "give the path of a file")]
#[pre(path.len() < 4_096, "a path has less than 4,096 bytes")]
#[pre(!path.contains('\0'), "a path has no zero bytes")]
#[pre(first_line.is_none_or(|first_line| first_line >= 1), "lines are counted from 1")]
#[pre(last_line.is_none_or(|last_line| last_line >= first_line.unwrap_or(1)), "the last line must not come before the first")]
#[pre(first_column.is_none_or(|first_column| first_column >= 1), "columns are counted from 1")]
#[post(|file| file.text.chars().count() <= workspace.limits().read_characters, "at most as much as the workspace allows")]
#[post(|file| file.first_line == first_line.unwrap_or(1), "the text begins where it was asked to")]
#[post(|file| file.last_line <= file.total_lines.min(last_line.unwrap_or(u64::MAX)), "the text ends where it was asked to")]
#[post(|file| file.text.is_empty() || lines_of(&file.text) == file.last_line - file.first_line + 1, "the lines are named as they are")]
pub fn read_file(
    /// Relative to the working directory, or absolute and below a root; as a listing or a search shows it.
    path: &str,
    /// The first line to read, from 1.
    first_line: Option<u64>,
    /// The last line to read; to the end of the file if absent.
    last_line: Option<u64>,
    /// Where in the first line to begin, in characters from 1; for lines that are too long for one answer.
    first_column: Option<u64>,
    /// Read also what is not UTF-8 text: other bytes are given as `\xff`, a backslash as `\\`, and control characters as
    /// `\u{7}`.
    #[arg(default = false)]
    escape: bool,
    #[context] workspace: &Workspace,
    #[context] cancelled: &CancellationToken,
) -> Result<FileText, Problem> {
    let rooted = workspace.resolve(path)?;
    let (file, metadata) = rooted.open_file()?;
    let limits = workspace.limits();
    if metadata.len() > limits.read_file_bytes {
        return Err(too_large(&rooted, metadata.len()));
    }
    let part = Part {
        // At least 1 also where the contract is switched off.
        first_line: first_line.unwrap_or(1).max(1),
        first_column: first_column.unwrap_or(1).max(1),
        last_line: last_line.unwrap_or(u64::MAX),
        escape,
        characters: limits.read_characters,
        written: text::room(limits),
        bytes: limits.read_file_bytes,
    };
    let taken = text::take(file, metadata.len(), &part, || cancelled.is_cancelled())
        .map_err(|why| untaken(&rooted, &part, why))?;
    Ok(file_text(
        &part,
        taken,
        cap_fs_ext::MetadataExt::nlink(&metadata),
    ))
}

fn file_text(part: &Part, taken: Excerpt, links: u64) -> FileText {
    FileText {
        text: taken.text,
        first_line: part.first_line,
        last_line: taken.last_line,
        total_lines: taken.lines,
        total_characters: taken.characters,
        hash: taken.hash,
        byte_order_mark: taken.byte_order_mark,
        hard_links: (links > 1).then_some(links),
        next: taken.next.map(|(first_line, column)| Next {
            first_line,
            first_column: (column > 1).then_some(column),
        }),
    }
}

#[cold]
fn untaken(rooted: &RootedPath<'_>, part: &Part, why: ExcerptError) -> Problem {
    let path = rooted.shown.clone();
    match why {
        ExcerptError::System(source) => rooted.problem("read", source),
        ExcerptError::NotText(format, found) => text::not_text(path, format, found),
        ExcerptError::TooLarge(bytes) => too_large(rooted, bytes),
        ExcerptError::FewerLines(lines) => Problem::Beyond {
            path,
            count: counted(lines, "line"),
        },
        ExcerptError::FewerCharacters(characters) => Problem::Beyond {
            path,
            count: format!(
                "{} in line {}",
                counted(characters, "character"),
                part.first_line
            ),
        },
    }
}

fn too_large(rooted: &RootedPath<'_>, bytes: u64) -> Problem {
    Problem::TooLarge {
        path: rooted.shown.clone(),
        bytes,
        limit: rooted.workspace.limits.read_file_bytes,
        hint: "take a part of it with a command, such as `tail`".to_owned(),
    }
}

fn counted(count: u64, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

fn lines_of(text: &str) -> u64 {
    text.split_inclusive('\n').count() as u64
}
