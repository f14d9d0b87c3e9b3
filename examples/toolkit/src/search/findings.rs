//! What a search gives.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Hit;

/// The lines that a search found, and what it did not look at.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Findings {
    /// Lines that match, as `path:line: text`, in the order of paths (name by name, bytewise) and lines.
    pub hits: Vec<Hit>,
    /// How many files were looked through to their end.
    pub files_searched: u64,
    /// Why the search ended before everything was looked at; absent when it is complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stopped: Option<Stop>,
    /// How many files and folders were left out, and why; absent when there were none.
    #[serde(default, skip_serializing_if = "Skipped::is_empty")]
    pub skipped: Skipped,
}

/// Why a search ended before everything was looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Stop {
    /// There are more hits than `max_results`; narrow the pattern, the path or the glob.
    Results,
    /// The hits would not fit into one answer; narrow the pattern, the path or the glob.
    Characters,
    /// There are more files than one search looks into; narrow the path.
    Files,
    /// There was no time left; narrow the path or the glob.
    Time,
    /// Somebody cancelled the call.
    Cancelled,
}

/// How many files and folders a search left out, by reason. What ignore files, `hidden` and the glob exclude is not counted.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
#[non_exhaustive]
pub struct Skipped {
    /// Files that are larger than a search looks into.
    #[serde(skip_serializing_if = "is_zero")]
    pub too_large: u64,
    /// Files with a line too long to be searched with this pattern; hits before it are given.
    #[serde(skip_serializing_if = "is_zero")]
    pub long_lines: u64,
    /// Files with a zero byte; hits well before it are given.
    #[serde(skip_serializing_if = "is_zero")]
    pub binary: u64,
    /// Symbolic links, which a search does not follow.
    #[serde(skip_serializing_if = "is_zero")]
    pub links: u64,
    /// Pipes, sockets and devices.
    #[serde(skip_serializing_if = "is_zero")]
    pub special: u64,
    /// What is on another file system than the workspace.
    #[serde(skip_serializing_if = "is_zero")]
    pub other_mounts: u64,
    /// Folders too far down.
    #[serde(skip_serializing_if = "is_zero")]
    pub too_deep: u64,
    /// Files and folders that the system did not give.
    #[serde(skip_serializing_if = "is_zero")]
    pub unreadable: u64,
    /// Ignore files that were not obeyed: links, and those that are too large or not understood.
    #[serde(skip_serializing_if = "is_zero")]
    pub ignore_files: u64,
}

/// Why something was left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reason {
    TooLarge,
    LongLine,
    Binary,
    Link,
    Special,
    OtherMount,
    TooDeep,
    Unreadable,
    IgnoreFile,
}

impl Skipped {
    /// Whether nothing was left out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    pub(super) fn count(&mut self, reason: Reason) {
        *match reason {
            Reason::TooLarge => &mut self.too_large,
            Reason::LongLine => &mut self.long_lines,
            Reason::Binary => &mut self.binary,
            Reason::Link => &mut self.links,
            Reason::Special => &mut self.special,
            Reason::OtherMount => &mut self.other_mounts,
            Reason::TooDeep => &mut self.too_deep,
            Reason::Unreadable => &mut self.unreadable,
            Reason::IgnoreFile => &mut self.ignore_files,
        } += 1;
    }
}

// The signature is serde's.
#[expect(clippy::trivially_copy_pass_by_ref)]
pub(crate) fn is_zero(count: &u64) -> bool {
    *count == 0
}
