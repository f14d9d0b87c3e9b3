//! A backend without a server.

use std::net::Ipv4Addr;
use std::sync::Arc;
#[cfg(feature = "redis")]
use std::sync::Mutex;
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
#[cfg(feature = "redis")]
use super::{Listening, accept::Found, post::Post, server::Shared};
use crate::registry::Manifest;
#[cfg(feature = "redis")]
use crate::remote::RemoteError;
use crate::remote::protocol::TaskId;
use crate::remote::safeguards::Safeguards;
use crate::remote::store::ledger::Ledger;
#[cfg(feature = "redis")]
use crate::remote::store::relay::Office;
use crate::remote::store::{Store, StoreError};

fn settings(known: Manifest, (grace, keep_alive): (Duration, Duration)) -> Settings {
    let mut settings = Settings::new(known);
    settings.safeguards = Safeguards::off();
    settings.grace = grace;
    settings.keep_alive = keep_alive;
    settings
}

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
        times: (Duration, Duration),
    ) -> Result<Self, StoreError> {
        let settings = settings(known, times);
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
}

/// One process of several that share their work.
#[cfg(feature = "redis")]
#[derive(Clone, Debug)]
pub(in crate::remote) struct Neighbour(Arc<Listening>);

#[cfg(feature = "redis")]
impl Neighbour {
    /// Reads its letters from here on.
    pub(in crate::remote) async fn open(
        known: Manifest,
        name: &str,
        store: Arc<dyn Store>,
        office: Arc<dyn Office>,
        times: (Duration, Duration),
    ) -> Result<Self, StoreError> {
        let (owner, entrance): (Arc<str>, _) = (name.into(), Entry::default());
        let shared = Shared {
            settings: Arc::new(settings(known, times)),
            store,
            post: Some(Post::new(office, Arc::clone(&owner))),
            owner,
            entrance: Arc::new(entrance.open((Ipv4Addr::LOCALHOST, 0).into())),
            tasks: Mutex::default(),
        };
        let listening = Listening::open(Arc::new(shared), CancellationToken::new()).await?;
        Ok(Self(Arc::new(listening)))
    }

    /// Makes the calls of the task from here on.
    pub(in crate::remote) async fn reopen(&self, id: TaskId) -> Result<Option<Task>, RemoteError> {
        self.0.reopen(id).await
    }

    /// Serves one executor until it goes, wherever its task is at home.
    pub(in crate::remote) async fn serve<S>(&self, id: TaskId, socket: WebSocketStream<S>)
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        if let Ok(Some(Found::Open(open))) = self.0.shared.find(id).await {
            line::serve(socket, &open, CancellationToken::new()).await;
        }
    }
}

impl Task {
    pub(in crate::remote) fn is_attached(&self) -> bool {
        self.open.calls.is_attached()
    }

    pub(in crate::remote) fn events(&self) -> broadcast::Receiver<SessionEvent> {
        self.open.calls.events.subscribe()
    }
}
