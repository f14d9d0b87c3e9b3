//! How a command ended, and what held it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a command ended, and what held it until then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Ended {
    /// Code or signal of the command itself.
    pub exit: Exit,
    /// The limit that ended the command, if one did.
    pub limit: Option<Limit>,
    /// Processes that the command had left running; they were ended with it.
    pub left_behind: u32,
    /// What kept the command apart from the machine.
    pub layers: Layers,
    /// Protected paths that the command had made or changed, relative to their root; they were taken away again.
    pub removed: Vec<String>,
    /// Protected paths that could not be taken away or put back, or of which it is not known, and why.
    pub not_removed: Vec<String>,
}

/// What became of protected paths when a command was over.
#[derive(Debug, Default)]
pub(crate) struct Restored {
    /// Those that it had made or changed; they are as they were.
    pub(crate) removed: Vec<String>,
    /// Those that are not as they were, or of which it is not known, and why.
    pub(crate) not_removed: Vec<String>,
}

/// Code or signal of a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// It ended by itself, with this code.
    Code(i32),
    /// A signal ended it.
    Signal {
        /// Such as 9.
        number: i32,
        /// Such as `SIGKILL`.
        name: String,
    },
}

/// What a command may have so much of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// Memory of all its processes together.
    Memory,
    /// Processes at once.
    Processes,
    /// Processor time of one process.
    Cpu,
    /// The size of one file.
    FileSize,
    /// Its processes could not be counted any more, so no limit could be held and it was ended.
    Uncounted,
}

/// What kept a command apart from the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Layers {
    /// All of it in one word.
    pub level: Level,
    /// Each layer that was in force, such as `landlock 7`.
    pub in_force: Vec<String>,
    /// Each layer that was not, and why.
    pub missing: Vec<String>,
}

/// All layers in one word.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Every layer.
    Full,
    /// Files, system calls and limits; the machine allows no namespaces of its own.
    Reduced,
    /// Nothing but limits: the workspace says `unsandboxed`.
    #[default]
    None,
}
