//! `write_file`

use contract_runtime::prelude::*;
use schemars::JsonSchema;
use serde::Serialize;

use super::replace::{self, Expected, is_hash};
use super::text::hash_of;
use crate::problem::Problem;
use crate::workspace::Workspace;

/// What was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Written {
    /// True if the file is new, false if it was replaced.
    pub created: bool,
    /// How many characters were written.
    pub characters: usize,
    /// How many bytes they take.
    pub bytes: u64,
    /// How many folders were made on the way.
    pub folders_made: usize,
    /// Tells this state of the file from others, as `read_file` reports it.
    pub hash: String,
}

/// Write a text file: make a new one, or replace all that is in it. Folders that are missing are made. To change a part of
/// a file, use `edit_file`.
///
/// The file is replaced at once: whoever reads it sees the old text or the new one, whole, also when the machine stops in
/// between, and nothing is left behind when the write fails. What a process leaves that is killed while it writes, the next
/// [`Workspace`] removes, but for folders that were made on the way. The owner, the mode and the access control list of the
/// file are kept where the system allows it, but for the set-user-ID and set-group-ID bits; other extended attributes, such as
/// capabilities, are not. A symbolic link stays, and the file that it points to is replaced.
///
/// Until it is whole, the new file lies in the folder of the root under a name that begins with `.toolkit-unfinished-`. Where
/// the root cannot be written, or the file cannot be moved from there (a root that reaches over mounts), it lies beside its
/// target, and would stay there if the process is killed.
///
/// In a folder, writers take turns, whichever program they belong to: these tools lock it, and wait for no longer than
/// [`Limits::write_wait`](crate::Limits::write_wait). Programs without these tools are not held up. Against them,
/// `expected_hash` is compared once more right before the file is replaced; what one of them writes in the moment between
/// (microseconds) is lost. So is what any writer does where the system locks no folders, or the folder cannot be listed.
///
/// # Errors
///
/// [`Problem::Changed`] when the file is not in the state of `expected_hash`, [`Problem::Busy`] when another program does not
/// let go of the folder, [`Problem::TooLarge`] above
/// [`Limits::file_bytes`](crate::Limits::file_bytes), [`Problem::Protected`], [`Problem::HardLinked`],
/// [`Problem::NotAFile`] for folders, pipes and devices, and whatever is wrong with the path.
///
/// ```
/// use contract_runtime::prelude::*;
/// use toolkit::{Workspace, write_file};
///
/// # let folder = tempfile::tempdir()?;
/// # let folder = folder.path();
/// let workspace = Workspace::new(folder)?;
/// let never = CancellationToken::new();
/// let written = write_file("notes/today.md", "rain", Some("absent"), &workspace, &never)?;
/// assert!(written.created);
/// assert_eq!((written.characters, written.folders_made), (4, 1));
///
/// let again = write_file("notes/today.md", "sun", Some(&written.hash), &workspace, &never)?;
/// assert!(!again.created);
/// assert!(write_file("notes/today.md", "snow", Some(&written.hash), &workspace, &never).is_err());
/// assert_eq!(std::fs::read_to_string(folder.join("notes/today.md"))?, "sun");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[tool(
    destructive,
    idempotent,
    open_world = false,
    blocking,
    timeout = "30s",
    description = "Write a text file: make a new one, or replace all that is in it. Folders that are missing are made. \
                   To change a part of a file, use `edit_file`."
)]
#[pre(!path.is_empty(), "give the path of a file")]
#[pre(path.len() < 4_096, "a path has less than 4,096 bytes")]
#[pre(!path.contains('\0'), "a path has no zero bytes")]
#[pre(
    expected_hash.is_none_or(is_hash),
    "give the hash that a tool reported, or `absent`"
)]
#[post(|written| written.characters == text.chars().count())]
#[post(|written| written.bytes == text.len() as u64)]
#[post(|written| is_hash(&written.hash))]
#[post(|written| expected_hash != Some("absent") || written.created)]
pub fn write_file(
    /// Relative to the working directory, or absolute and below a root; as a listing or a search shows it.
    path: &str,
    /// Everything that the file shall hold, its `content`.
    text: &str,
    /// Write only if the file still has this hash, as a tool reported it, or only if there is no file, with `absent`.
    expected_hash: Option<&str>,
    #[context] workspace: &Workspace,
    #[context] cancelled: &CancellationToken,
) -> Result<Written, Problem> {
    let rooted = workspace.resolve(path)?;
    replace::must_fit(&rooted, text.len() as u64)?;
    let target = rooted.target(true)?;
    let _lock = replace::lock_folder(&rooted, &target, cancelled)?;
    let expected = Expected::from(expected_hash);
    // Before anything is written for nothing; it is asked again when it counts.
    replace::must_be(&rooted, &target, expected)?;
    let replaced = replace::replace(&rooted, target, text.as_bytes(), expected, cancelled)?;
    Ok(Written {
        created: replaced.created,
        characters: text.chars().count(),
        bytes: text.len() as u64,
        folders_made: replaced.folders_made,
        hash: hash_of(text.as_bytes()),
    })
}
