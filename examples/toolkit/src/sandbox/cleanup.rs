//! What remains to be done when a command is over, whoever still waits for it.

use std::time::Duration;

use tokio::process::Child;
use tokio::task::JoinHandle;

use super::ended::Restored;
use super::problem::SandboxProblem;
use super::protected::Protection;
use super::temporary_folder::TemporaryFolder;

/// What remains to be done when a command is over.
///
/// It must wait until no process is left, so a value that is dropped before goes on in a thread of its own.
#[derive(Debug)]
pub(super) struct Cleanup {
    resources: Option<Resources>,
    /// Kept here, so that whoever gave up waiting can begin again.
    tidying: Option<JoinHandle<Restored>>,
    /// Every path that may have to be put back.
    watched: Vec<String>,
}

/// How long the removal of temporary files is waited for; it takes no longer for those of most commands.
const REMOVAL: Duration = Duration::from_millis(250);

#[derive(Debug)]
struct Resources {
    helper: Child,
    protection: Protection,
    temporary: TemporaryFolder,
}

impl Cleanup {
    pub(super) fn new(helper: Child, protection: Protection, temporary: TemporaryFolder) -> Self {
        Self {
            watched: protection.watched(),
            resources: Some(Resources {
                helper,
                protection,
                temporary,
            }),
            tidying: None,
        }
    }

    /// Waits until no process is left, puts everything back, and names the protected paths that had been written.
    pub(super) async fn settle(&mut self) -> Result<Restored, SandboxProblem> {
        if let Some(resources) = &mut self.resources {
            resources.helper.wait().await?;
        }
        if let Some(mut resources) = self.resources.take() {
            self.tidying = Some(tokio::task::spawn_blocking(move || {
                let restored = resources.protection.restore();
                resources.temporary.remove_within(REMOVAL);
                restored
            }));
        }
        let Some(tidying) = &mut self.tidying else {
            return Err(SandboxProblem::Lost);
        };
        let restored = tidying.await;
        self.tidying = None;
        restored.map_err(|_| SandboxProblem::Lost)
    }

    /// What is to be said when it could not be waited for: nothing is known of any path.
    pub(super) fn unsettled(&self) -> Restored {
        let unknown =
            |path: &String| format!("{path}: it is not known yet whether it is as it was");
        Restored {
            removed: Vec::new(),
            not_removed: self.watched.iter().map(unknown).collect(),
        }
    }
}

impl Drop for Cleanup {
    fn drop(&mut self) {
        if let Some(resources) = self.resources.take() {
            // The runtime of the call may be gone before the last process is.
            let waiting = std::thread::Builder::new().name("toolkit-cleanup".to_owned());
            let _ = waiting.spawn(move || resources.wait());
        }
    }
}

impl Resources {
    fn wait(mut self) {
        // With its end of the socket closed, the helper needs some milliseconds.
        while matches!(self.helper.try_wait(), Ok(None)) {
            std::thread::sleep(Duration::from_millis(5));
        }
        self.protection.restore();
        drop(self.temporary);
    }
}
