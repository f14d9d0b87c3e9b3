//! What is said to a model about a command that was not run.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

/// Why a command counts as plainly destructive, so that it was not run.
///
/// This is a courtesy to a model that blunders, and **not the boundary**: whoever wants to get around it can, with a script
/// in a file or in another language. What a command can reach is decided by the [`Sandbox`](crate::Sandbox) alone. The
/// command is parsed, with whatever it holds, and no text is searched for: `rm -rf /srv/build` and `echo "rm -rf /"` are
/// run, and `sudo rm  -fr /` is not.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Refusal {
    /// Something precious would be gone.
    #[error(
        "nothing was run: `{program}` would {verb} {what}; name the files that you mean, further down in the workspace"
    )]
    Precious {
        /// Such as `rm`.
        program: String,
        /// Such as "remove".
        verb: Cow<'static, str>,
        /// Such as "`/`, the whole file system".
        what: String,
    },
    /// A device would be written over.
    #[error(
        "nothing was run: this would write over the device `{path}`; write to a file in the workspace"
    )]
    Device {
        /// Such as `/dev/sda`.
        path: String,
    },
    /// The machine, or everything that runs on it, would be stopped.
    #[error("nothing was run: `{program}` would stop {what}; leave that to the operator")]
    Stops {
        /// Such as `reboot`.
        program: String,
        /// Such as "the machine".
        what: Cow<'static, str>,
    },
    /// A function that starts itself again and again.
    #[error(
        "nothing was run: the function `{name}` would start itself again and again until the machine is full; let it end"
    )]
    ForkBomb {
        /// As it is called in the script.
        name: String,
    },
    /// A script that nobody has seen.
    #[error(
        "nothing was run: this would run what `{source_program}` gives, unseen; save it to a file, read it, and then run the file"
    )]
    Unseen {
        /// Such as `curl`.
        source_program: String,
    },
    /// The script could not be judged.
    #[error(
        "nothing was run: the script is {why} to be looked over first; write it to a file and run the file, or take it apart"
    )]
    Tangled {
        /// Such as "too long".
        why: Cow<'static, str>,
    },
}
