//! What is told about a command that was run.

use std::time::Duration;

use schemars::JsonSchema;
use serde::Serialize;

use super::capture::Captured;
use crate::sandbox::{Ended, Exit, Layers, Limit};

/// What both streams together leave to the rest of the report, so that the whole of it, as JSON, stays below twice what is
/// kept of one: with the defaults, below the 100,000 characters at which a registry cuts.
const RESERVE: usize = 4_000;

/// How a command ended, and what it said.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct CommandReport {
    /// How it ended.
    pub ended: Ending,
    /// How long it ran, in milliseconds.
    pub duration_ms: u64,
    /// What it wrote to its standard output.
    pub stdout: Stream,
    /// What it wrote to its standard error.
    pub stderr: Stream,
    /// Processes that it had left running; they were ended with it.
    pub left_behind: u32,
    /// Protected paths that it had made or changed, relative to their root; they were taken away again.
    pub removed: Vec<String>,
    /// Protected paths that could not be taken away or put back, or of which it is not known, and why; somebody should look
    /// before git or the program runs there.
    pub not_removed: Vec<String>,
    /// What kept it apart from the machine.
    pub sandbox: Layers,
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(tag = "by", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Ending {
    /// By itself.
    Exit {
        /// Zero says that all went well.
        code: i32,
    },
    /// By a signal.
    Signal {
        /// Such as 11.
        number: i32,
        /// Such as `SIGSEGV`.
        name: String,
    },
    /// By a limit of the workspace; less work at once may stay below it.
    Limit {
        /// What it had too much of.
        limit: Limit,
        /// How the command itself ended.
        exit: Exit,
    },
    /// By its timeout. All of its processes were ended.
    Timeout {
        /// How long it was given.
        seconds: u64,
    },
    /// From outside, before it could finish. What it had done until then remains, so look before you try again.
    Lost,
}

/// What the host saw of the end.
#[derive(Clone, Copy, Debug)]
pub(super) enum Over {
    /// The helper told it.
    ByItself,
    /// The time was over; this was given.
    Late(Duration),
    /// The helper went away.
    Lost,
}

/// The text of one stream.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[non_exhaustive]
pub struct Stream {
    /// All of it, or its beginning and its end with a line between them that says how much is missing. What is not UTF-8 is
    /// U+FFFD.
    pub text: String,
    /// How long it was.
    pub bytes: u64,
    /// Characters that the text leaves out.
    pub left_out: u64,
    /// Places that were no UTF-8.
    pub replaced: u64,
    /// It was read to its end, which came before the command was ended by its timeout or from outside.
    pub complete: bool,
}

impl CommandReport {
    pub(super) fn new(
        ended: Ended,
        over: Over,
        duration: Duration,
        [mut stdout, mut stderr]: [Captured; 2],
        characters: usize,
    ) -> Self {
        let room = (2 * characters).saturating_sub(RESERVE).max(characters);
        let half = room / 2;
        // What one does not need is the other's.
        let spare = |kept: &Captured| room - kept.json_length().min(half);
        let (for_stdout, for_stderr) = (spare(&stderr), spare(&stdout));
        stdout.shrink(for_stdout);
        stderr.shrink(for_stderr);
        if matches!(over, Over::Lost) {
            // Its end may be read before the loss is noticed, and is that of a command that was cut off.
            (stdout.ended, stderr.ended) = (false, false);
        }
        Self {
            ended: match (over, ended.limit, ended.exit) {
                (_, Some(limit), exit) => Ending::Limit { limit, exit },
                (Over::Lost, None, _) => Ending::Lost,
                (Over::Late(given), None, _) => Ending::Timeout {
                    seconds: given.as_secs(),
                },
                (Over::ByItself, None, Exit::Code(code)) => Ending::Exit { code },
                (Over::ByItself, None, Exit::Signal { number, name }) => {
                    Ending::Signal { number, name }
                }
            },
            duration_ms: u64::try_from(duration.as_millis()).unwrap_or(u64::MAX),
            stdout: stdout.into(),
            stderr: stderr.into(),
            left_behind: ended.left_behind,
            removed: ended.removed,
            not_removed: ended.not_removed,
            sandbox: ended.layers,
        }
    }
}

impl From<Captured> for Stream {
    fn from(kept: Captured) -> Self {
        let text = if kept.left_out == 0 {
            kept.head
        } else {
            format!(
                "{}\n[.. {} characters left out ..]\n{}",
                kept.head, kept.left_out, kept.tail
            )
        };
        Self {
            text,
            bytes: kept.bytes,
            left_out: kept.left_out,
            replaced: kept.replaced,
            complete: kept.ended,
        }
    }
}

impl Stream {
    /// Whether no more was kept than a number of characters; the line about what is missing does not count.
    pub(super) fn is_within(&self, characters: usize) -> bool {
        const LINE: usize = 60;
        self.text.chars().take(characters + LINE + 1).count() <= characters + LINE
    }
}
