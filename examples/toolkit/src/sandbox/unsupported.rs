//! Where there is no sandbox: every command is refused.

use std::path::Path;

use tokio::process::{ChildStderr, ChildStdout};

use super::ended::{Ended, Layers, Restored};
use super::problem::SandboxProblem;
use crate::workspace::Workspace;

/// A command that has been started; here there is none.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) stdout: Option<ChildStdout>,
    pub(crate) stderr: Option<ChildStderr>,
    layers: Layers,
}

/// Nothing was left, because nothing was run.
pub(crate) fn sweep() {}

/// Refuses.
#[allow(clippy::unused_async, reason = "the same interface as on Linux")]
pub(crate) async fn launch(
    _workspace: &Workspace,
    _directory: &Path,
    _argv: Vec<String>,
) -> Result<Running, SandboxProblem> {
    Err(SandboxProblem::Missing {
        layer: "landlock".to_owned(),
        reason: "commands are run on Linux only".to_owned(),
    })
}

#[allow(clippy::unused_async, reason = "the same interface as on Linux")]
impl Running {
    pub(crate) async fn wait(&mut self) -> Result<Ended, SandboxProblem> {
        Err(SandboxProblem::Lost)
    }

    pub(crate) async fn stopped(&mut self) -> Result<Restored, SandboxProblem> {
        Err(SandboxProblem::Lost)
    }

    pub(crate) fn unsettled(&self) -> Restored {
        Restored::default()
    }

    pub(crate) fn layers(&self) -> &Layers {
        &self.layers
    }
}
