//! What a model reads when a file cannot be had.

use std::io;

/// Why a tool did not do what it was asked: one sentence, and what to do instead.
///
/// Paths are shown as they were given, with control characters escaped.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Problem {
    /// The path leads out of every root.
    #[error("`{path}` is outside the workspace; give a path below `{root}`, or relative to it")]
    Outside {
        /// As it was given.
        path: String,
        /// Where relative paths start.
        root: String,
    },
    /// A symbolic link stands in the path, and links are not followed here.
    #[error(
        "`{path}` leads through a symbolic link, which is not followed here; give the path that it points to"
    )]
    Link {
        /// As it was given.
        path: String,
    },
    /// A backslash in the path stands for nothing.
    #[error(
        "`{path}` has a backslash that stands for nothing; write `/` between folders, and `\\\\` for a backslash in a name"
    )]
    Backslash {
        /// As it was given.
        path: String,
    },
    /// The path is on another mount than its root.
    #[error(
        "`{path}` is on another file system than the workspace and does not belong to it; choose another path"
    )]
    OtherMount {
        /// As it was given.
        path: String,
    },
    /// There is nothing at the path.
    #[error("`{path}` does not exist; {hint}")]
    NotFound {
        /// As it was given.
        path: String,
        /// What to do instead, such as a name that is nearly the same.
        hint: String,
    },
    /// The path is not a regular file.
    #[error("`{path}` is {kind}, not a file; {hint}")]
    NotAFile {
        /// As it was given.
        path: String,
        /// What it is.
        kind: Kind,
        /// What to do instead.
        hint: String,
    },
    /// The path is not a folder.
    #[error("`{path}` is {kind}, not a folder; give the path of a folder")]
    NotAFolder {
        /// As it was given.
        path: String,
        /// What it is.
        kind: Kind,
    },
    /// The bytes are not text.
    #[error("`{path}` is {what}, not UTF-8 text; {hint}")]
    NotText {
        /// As it was given.
        path: String,
        /// Such as "binary (a zero byte at offset 3)".
        what: String,
        /// What to do instead.
        hint: &'static str,
    },
    /// The file has fewer lines, or the line fewer characters, than were asked for.
    #[error("`{path}` has only {count}; ask for an earlier part of it")]
    Beyond {
        /// As it was given.
        path: String,
        /// Such as "80 characters in line 3".
        count: String,
    },
    /// The file or the text is larger than the workspace allows.
    #[error("`{path}` has {bytes} bytes, and at most {limit} are allowed here; {hint}")]
    TooLarge {
        /// As it was given.
        path: String,
        /// How large it is.
        bytes: u64,
        /// How large it may be.
        limit: u64,
        /// What to do instead.
        hint: String,
    },
    /// The path may not be written.
    #[error("`{path}` is protected by the rule `{rule}` and cannot be written; leave it as it is")]
    Protected {
        /// As it was given.
        path: String,
        /// The protected path.
        rule: String,
    },
    /// The file has a second name, perhaps outside of the workspace.
    #[error(
        "`{path}` has {links} names (hard links), and writing would separate them; write to a new path instead"
    )]
    HardLinked {
        /// As it was given.
        path: String,
        /// How many names it has.
        links: u64,
    },
    /// The file is not in the state that the caller expects.
    #[error(
        "`{path}` has changed: its hash is {found}, and {expected} was expected; read it again"
    )]
    Changed {
        /// As it was given.
        path: String,
        /// The hash that was given.
        expected: String,
        /// The hash that the file has, or "nothing" where it does not exist.
        found: String,
    },
    /// Another program has been writing in the same folder for too long.
    #[error(
        "`{path}` cannot be written yet: another program has locked its folder for {milliseconds} ms; try again later"
    )]
    Busy {
        /// As it was given.
        path: String,
        /// How long it was waited for.
        milliseconds: u128,
    },
    /// The text to replace is not there as often as was said.
    #[error(
        "the text to replace occurs {found} times in `{path}`, and {expected} was expected; {hint}"
    )]
    Matches {
        /// As it was given.
        path: String,
        /// How often it is there.
        found: usize,
        /// How often it should be there.
        expected: usize,
        /// What to do instead.
        hint: String,
    },
    /// The system refused.
    #[error("cannot {operation} `{path}`: {source}")]
    System {
        /// What was tried, such as `open`.
        operation: &'static str,
        /// As it was given.
        path: String,
        /// What the system said.
        source: io::Error,
    },
}

/// What stands at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A regular file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link.
    Link,
    /// Anything else: a FIFO, a socket, a device.
    Special,
}

impl std::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::File => "a file",
            Self::Folder => "a folder",
            Self::Link => "a symbolic link",
            Self::Special => "a pipe, socket or device",
        })
    }
}

impl From<cap_std::fs::FileType> for Kind {
    fn from(kind: cap_std::fs::FileType) -> Self {
        if kind.is_file() {
            Self::File
        } else if kind.is_dir() {
            Self::Folder
        } else if kind.is_symlink() {
            Self::Link
        } else {
            Self::Special
        }
    }
}
