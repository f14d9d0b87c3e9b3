use std::net::SocketAddr;
use std::sync::Arc;

use tokio::sync::{mpsc, watch};

use crate::Registry;
use crate::remote::RemoteError;
use crate::remote::protocol::{BackendMessage, Finished, TaskId};
use crate::remote::toolbelt::Toolbelt;

/// What an executor dials in for; it may dial in once the task is there.
#[derive(Clone, Debug)]
#[must_use]
pub struct Task {
    pub(super) id: TaskId,
    pub(super) token: Arc<str>,
    pub(super) address: SocketAddr,
    pub(super) session: watch::Receiver<Option<Session>>,
}

impl Task {
    /// Its id, which is part of the address.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.id
    }

    /// Where its executor dials in.
    #[must_use]
    pub fn address(&self) -> String {
        format!("ws://{}/executor/{}", self.address, self.id)
    }

    /// What its executor shows to be let in; give it to nobody else.
    #[must_use]
    pub fn token(&self) -> &str {
        &self.token
    }

    /// Waits until an executor has been let in and its tools are taken.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Gone`] when the backend has stopped.
    pub async fn attached(&self) -> Result<Session, RemoteError> {
        let mut session = self.session.clone();
        let there = session.wait_for(Option::is_some).await;
        let there = there.map_err(|_| RemoteError::Gone)?;
        there.clone().ok_or(RemoteError::Gone)
    }
}

/// An executor that has dialled in, with the tools that were taken.
#[derive(Clone, Debug)]
pub struct Session {
    pub(super) registry: Registry,
    pub(super) toolbelt: Arc<Toolbelt>,
    pub(super) out: mpsc::Sender<BackendMessage>,
}

impl Session {
    /// The tools of the toolbelt, for an agent or a caller: a call here runs there.
    #[must_use]
    pub fn registry(&self) -> &Registry {
        &self.registry
    }

    /// What was taken, and what was refused.
    #[must_use]
    pub fn toolbelt(&self) -> &Toolbelt {
        &self.toolbelt
    }

    /// Tells the executor that the task is over.
    pub async fn finish(&self, success: bool, message: impl Into<String>) {
        let finished = Finished {
            success,
            message: message.into(),
        };
        // An executor that is gone needs not be told.
        let _ = self.out.send(BackendMessage::Finished(finished)).await;
    }
}
