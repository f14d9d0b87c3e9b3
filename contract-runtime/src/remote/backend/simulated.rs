//! A backend without a server.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::broadcast;
use tokio_tungstenite::WebSocketStream;
use tokio_util::sync::CancellationToken;

use super::entry::Entry;
use super::event::SessionEvent;
use super::line;
use super::settings::Settings;
use super::task::{Open, Task};
use crate::registry::Manifest;
use crate::remote::protocol::TaskId;
use crate::remote::safeguards::Safeguards;
use crate::remote::store::ledger::Ledger;
use crate::remote::store::{Store, StoreError};

/// One task of one process.
#[derive(Clone, Debug)]
pub(in crate::remote) struct House {
    open: Arc<Open>,
    pub(in crate::remote) task: Task,
}

impl House {
    /// Opens the task, again if the store knows calls of it.
    pub(in crate::remote) async fn open(
        known: Manifest,
        store: Arc<dyn Store>,
        id: TaskId,
        (grace, keep_alive): (Duration, Duration),
    ) -> Result<Self, StoreError> {
        let mut settings = Settings::new(known);
        settings.safeguards = Safeguards::off();
        settings.grace = grace;
        settings.keep_alive = keep_alive;
        let ledger = Ledger::new(store, id);
        let entrance = Entry::default().open((Ipv4Addr::LOCALHOST, 0).into());
        let open = Open::new(
            id,
            [0; 32],
            Arc::new(settings),
            ledger,
            "simulated".into(),
            Arc::new(entrance),
            #[cfg(feature = "redis")]
            None,
        );
        let kept = open.kept().await?;
        open.recall(kept);
        let task = Task {
            open: Arc::clone(&open),
            address: "".into(),
        };
        Ok(Self { open, task })
    }

    /// Serves one executor until it goes.
    pub(in crate::remote) async fn serve<S>(&self, socket: WebSocketStream<S>)
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        line::serve(socket, &self.open, CancellationToken::new()).await;
    }

    pub(in crate::remote) fn is_attached(&self) -> bool {
        self.open.calls.is_attached()
    }

    pub(in crate::remote) fn events(&self) -> broadcast::Receiver<SessionEvent> {
        self.open.calls.events.subscribe()
    }
}
