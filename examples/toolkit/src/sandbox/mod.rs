//! Keeping commands apart from the machine.
//!
//! A command is started by a helper, which is this program itself, executed again: three short stages, each with one
//! thread, so that nothing runs between a fork and an exec. The helper and the host share one socket. It carries the
//! request and the answers, and its closing, by the host or by the host's death, ends every process of the command.
//!
//! ```text
//! host ── socket ── stage 1: namespaces, mounts
//!                   stage 2: first process of its namespace: counts, limits, ends
//!                   stage 3: no capabilities, Landlock, seccomp, then becomes the command
//! ```

#[cfg(target_os = "linux")]
mod cleanup;
#[cfg(target_os = "linux")]
mod copy;
mod ended;
#[cfg(target_os = "linux")]
mod helper;
#[cfg(target_os = "linux")]
mod host;
mod problem;
#[cfg(target_os = "linux")]
mod protected;
mod settings;
#[cfg(target_os = "linux")]
mod temporary_folder;
#[cfg(target_os = "linux")]
mod unlink_tree;
#[cfg(not(target_os = "linux"))]
mod unsupported;
#[cfg(target_os = "linux")]
mod wire;

pub use ended::{Ended, Exit, Layers, Level, Limit};
#[cfg(target_os = "linux")]
pub(crate) use host::{Running, launch};
pub use problem::SandboxProblem;
pub use settings::{Sandbox, enter};
#[cfg(target_os = "linux")]
pub(crate) use temporary_folder::sweep;
#[cfg(not(target_os = "linux"))]
pub(crate) use unsupported::{Running, launch, sweep};
