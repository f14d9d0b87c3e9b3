//! `edit_file`

use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::matches;
use super::replace::{self, Expected, is_hash};
use super::text::{format_of, hash_of, invalid, not_text};
use crate::problem::Problem;
use crate::workspace::Workspace;

/// So many places are named in a result.
pub(super) const NAMED: usize = 100;

/// What was changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Edited {
    /// How many times the text was replaced.
    pub replaced: usize,
    /// Where the new text stands now; the first hundred places.
    pub lines: Vec<Lines>,
    /// How many bytes the file has now.
    pub bytes: u64,
    /// Tells this state of the file from others, as `read_file` reports it.
    pub hash: String,
}

/// Lines that belong together, counted from 1, both included.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Lines {
    /// The first.
    pub first: usize,
    /// The last.
    pub last: usize,
}

/// Replace a text in a file. It must occur exactly as often as `count` says, character by character, white space included;
/// otherwise nothing is changed.
///
/// Where all lines of the file end in `\r\n`, `\n` in both texts stands for that, unless they differ in nothing else; where
/// they do not, line ends are taken as they are given. Matches are counted from the beginning and do not overlap: `aa` occurs
/// once in `aaa`. Everything outside of them stays as it is, byte by byte. The file is replaced as
/// [`write_file`](crate::write_file) does it, in turn with other programs, and never if somebody else has changed it in the
/// meantime.
///
/// # Errors
///
/// [`Problem::Matches`] when the text occurs more or less often, with the lines or with what stands there instead;
/// [`Problem::NotText`] for a file that is not UTF-8; and what `write_file` refuses.
///
/// ```
/// use contract_runtime::prelude::*;
/// use toolkit::{Workspace, edit_file};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// std::fs::write(folder.join("notes.txt"), "rain\r\nrain\r\nsun")?;
/// let workspace = Workspace::new(folder)?;
/// let never = CancellationToken::new();
/// let edit = |old, new, count| edit_file("notes.txt", old, new, count, None, &workspace, &never);
///
/// let edited = edit("sun", "snow\nice", 1)?;
/// assert_eq!((edited.lines[0].first, edited.lines[0].last), (3, 4));
/// assert_eq!(std::fs::read_to_string(folder.join("notes.txt"))?, "rain\r\nrain\r\nsnow\r\nice");
///
/// let problem = edit("rain", "fog", 1).unwrap_err();
/// assert_eq!(
///     problem.to_string(),
///     "the text to replace occurs 2 times in `notes.txt`, and 1 was expected; it begins in the lines 1 and 2: give more \
///      of the text around the one that is meant, or set `count`",
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[tool(
    destructive,
    open_world = false,
    blocking,
    timeout = "30s",
    description = "Replace a text in a file. It must occur exactly as often as `count` says, character by character, white \
                   space included; otherwise nothing is changed. In a file whose lines end in `\\r\\n`, `\\n` stands for that."
)]
#[pre(!path.is_empty(), "give the path of a file")]
#[pre(path.len() < 4_096, "a path has less than 4,096 bytes")]
#[pre(!path.contains('\0'), "a path has no zero bytes")]
#[pre(!old.is_empty(), "give the text to replace; to write a whole file, use `write_file`")]
#[pre(old != new, "the new text is the same as the old one")]
#[pre(count >= 1)]
#[pre(
    expected_hash.is_none_or(|hash| hash != "absent" && is_hash(hash)),
    "give the hash that a tool reported"
)]
#[post(|edited| edited.replaced == count as usize)]
#[post(|edited| !edited.lines.is_empty() && edited.lines.iter().all(|lines| 1 <= lines.first && lines.first <= lines.last))]
#[post(|edited| is_hash(&edited.hash) && Some(edited.hash.as_str()) != expected_hash)]
pub fn edit_file(
    /// Relative to the working directory, or absolute and below a root; as a listing or a search shows it.
    path: &str,
    /// The text to replace, as it is in the file.
    old: &str,
    /// What stands there afterwards.
    new: &str,
    /// How often the text occurs; all of them are replaced.
    #[arg(default = 1)]
    count: u32,
    /// Change the file only if it still has this hash, as a tool reported it.
    expected_hash: Option<&str>,
    #[context] workspace: &Workspace,
    #[context] cancelled: &CancellationToken,
) -> Result<Edited, Problem> {
    let rooted = workspace.resolve(path)?;
    let target = rooted.target(false)?;
    let _lock = replace::lock_folder(&rooted, &target, cancelled)?;
    if replace::standing(&rooted, &target)?.is_none() {
        return Err(rooted.problem("open", std::io::ErrorKind::NotFound.into()));
    }
    let content = replace::content(&rooted, &target)?;
    let found = hash_of(&content);
    if let Some(expected) = expected_hash.filter(|expected| *expected != found) {
        return Err(Problem::Changed {
            path: rooted.shown.clone(),
            expected: expected.to_owned(),
            found,
        });
    }
    let text = std::str::from_utf8(&content).map_err(|error| {
        let found = invalid(&content, error.valid_up_to(), 0);
        not_text(rooted.shown.clone(), format_of(&content), found)
    })?;
    let [old, new] = &matches::with_line_ends(text, [old, new]);
    let (old, new) = (old.as_ref(), new.as_ref());
    let replaced = text.matches(old).count();
    let expected = usize::try_from(count).unwrap_or(usize::MAX);
    if replaced != expected {
        return Err(Problem::Matches {
            path: rooted.shown.clone(),
            found: replaced,
            expected,
            hint: matches::hint(text, old),
        });
    }
    // Not made before it is known to fit: a million short matches and one long text are many gigabytes.
    let bytes = (text.len() - replaced * old.len()) as u64;
    let bytes = bytes.saturating_add((replaced as u64).saturating_mul(new.len() as u64));
    replace::must_fit(&rooted, bytes)?;
    let changed = text.replace(old, new);
    let state = Expected::Hash(&found);
    replace::replace(&rooted, target, changed.as_bytes(), state, cancelled)?;
    Ok(Edited {
        replaced,
        lines: matches::lines(text, old, new),
        bytes,
        hash: hash_of(changed.as_bytes()),
    })
}
