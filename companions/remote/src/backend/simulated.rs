//! A backend without a listener, for simulations.

use std::net::Ipv4Addr;
use std::sync::Arc;
#[cfg(feature = "redis")]
use std::sync::Mutex;
use std::time::Duration;

use contract_runtime::Manifest;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::broadcast;
use tokio_tungstenite::WebSocketStream;
use tokio_util::sync::CancellationToken;

use super::connection;
use super::event::SessionEvent;
use super::listener::ListenerConfig;
use super::settings::Settings;
use super::task::{OpenTask, Task};
#[cfg(feature = "redis")]
use super::{BackendHandle, accept::KnownTask, cluster::Cluster, server::Shared};
#[cfg(feature = "redis")]
use crate::RemoteError;
use crate::protocol::TaskId;
use crate::safeguards::Safeguards;
#[cfg(feature = "redis")]
use crate::store::relay::MessageBus;
use crate::store::task_store::TaskStore;
use crate::store::{Store, StoreError};

fn settings(known: Manifest, (grace, keep_alive): (Duration, Duration)) -> Settings {
    let mut settings = Settings::new(known);
    settings.safeguards = Safeguards::off();
    settings.grace = grace;
    settings.keep_alive = keep_alive;
    settings
}

/// One task of one process.
#[derive(Clone, Debug)]
pub(crate) struct SimulatedBackend {
    open: Arc<OpenTask>,
    pub(crate) task: Task,
}

impl SimulatedBackend {
    /// Opens the task, again if the store knows calls of it.
    pub(crate) async fn open(
        known: Manifest,
        store: Arc<dyn Store>,
        id: TaskId,
        times: (Duration, Duration),
    ) -> Result<Self, StoreError> {
        let settings = settings(known, times);
        let task_store = TaskStore::new(store, id);
        let listener = ListenerConfig::default().open((Ipv4Addr::LOCALHOST, 0).into());
        let open = OpenTask::new(
            id,
            [0; 32],
            Arc::new(settings),
            task_store,
            "simulated".into(),
            Arc::new(listener),
            #[cfg(feature = "redis")]
            None,
        );
        let kept = open.load_stored().await?;
        open.restore(kept);
        let task = Task {
            open: Arc::clone(&open),
            address: "".into(),
        };
        Ok(Self { open, task })
    }

    /// Serves one executor until it goes.
    pub(crate) async fn serve<S>(&self, socket: WebSocketStream<S>)
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        connection::serve(socket, &self.open, CancellationToken::new()).await;
    }
}

/// One process of several that share their work.
#[cfg(feature = "redis")]
#[derive(Clone, Debug)]
pub(crate) struct SimulatedPeer(Arc<BackendHandle>);

#[cfg(feature = "redis")]
impl SimulatedPeer {
    /// Reads its letters from here on.
    pub(crate) async fn open(
        known: Manifest,
        name: &str,
        store: Arc<dyn Store>,
        bus: Arc<dyn MessageBus>,
        times: (Duration, Duration),
    ) -> Result<Self, StoreError> {
        let (backend_name, listener): (Arc<str>, _) = (name.into(), ListenerConfig::default());
        let shared = Shared {
            settings: Arc::new(settings(known, times)),
            store,
            cluster: Some(Cluster::new(bus, Arc::clone(&backend_name))),
            backend_name,
            listener: Arc::new(listener.open((Ipv4Addr::LOCALHOST, 0).into())),
            tasks: Mutex::default(),
        };
        let listening = BackendHandle::open(Arc::new(shared), CancellationToken::new()).await?;
        Ok(Self(Arc::new(listening)))
    }

    /// Takes ownership of the task.
    pub(crate) async fn reopen(&self, id: TaskId) -> Result<Option<Task>, RemoteError> {
        self.0.reopen(id).await
    }

    /// Serves one executor until its connection ends, whichever backend owns its task.
    pub(crate) async fn serve<S>(&self, id: TaskId, socket: WebSocketStream<S>)
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        if let Ok(Some(KnownTask::Open(open))) = self.0.shared.find(id).await {
            connection::serve(socket, &open, CancellationToken::new()).await;
        }
    }
}

impl Task {
    pub(crate) fn is_attached(&self) -> bool {
        self.open.calls.is_attached()
    }

    pub(crate) fn events(&self) -> broadcast::Receiver<SessionEvent> {
        self.open.calls.events.subscribe()
    }
}
