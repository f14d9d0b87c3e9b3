//! A backend without a listener, for simulations.

use std::net::Ipv4Addr;
use std::sync::Arc;
#[cfg(feature = "redis")]
use std::sync::Mutex;
use std::time::Duration;

use contract_manifest::Manifest;
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
use super::{
    BackendHandle,
    cluster::{Cluster, Route, Unreachable},
    server::{KnownTask, Shared},
};
#[cfg(feature = "redis")]
use crate::RemoteError;
use crate::protocol::TaskId;
use crate::safeguards::Safeguards;
#[cfg(feature = "redis")]
use crate::store::leases::Leases;
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
            Arc::new(listener),
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

/// A task that is served somewhere.
#[cfg(feature = "redis")]
#[derive(Debug)]
pub(crate) struct ServedTask(Arc<OpenTask>);

#[cfg(feature = "redis")]
impl SimulatedPeer {
    /// Renews its lease from here on; other processes know it by `url`.
    pub(crate) async fn open(
        known: Manifest,
        (name, url): (&str, String),
        store: Arc<dyn Store>,
        leases: Arc<dyn Leases>,
        times: (Duration, Duration),
    ) -> Result<Self, StoreError> {
        let shared = Shared {
            settings: Arc::new(settings(known, times)),
            store,
            cluster: Some(Arc::new(Cluster::new(leases, name, url))),
            listener: Arc::new(ListenerConfig::default().open((Ipv4Addr::LOCALHOST, 0).into())),
            tasks: Mutex::default(),
        };
        let listening = BackendHandle::open(Arc::new(shared), CancellationToken::new()).await?;
        Ok(Self(Arc::new(listening)))
    }

    /// Takes ownership of the task.
    pub(crate) async fn reopen(&self, id: TaskId) -> Result<Option<Task>, RemoteError> {
        self.0.reopen(id).await
    }

    pub(crate) fn has_taken_over(&self, id: TaskId) -> bool {
        self.0.taken_over().contains(&id)
    }

    /// Finds out where a connection is served: here, or at the home that `dial` has reached; `None` if it is refused.
    pub(crate) async fn route<C, F: Future<Output = Option<C>>>(
        &self,
        id: TaskId,
        is_forwarded: bool,
        dial: impl FnOnce(String) -> F,
    ) -> Option<Result<ServedTask, C>> {
        let shared = &self.0.shared;
        if let KnownTask::Open(open) = shared.find(id).await.ok()?? {
            return Some(Ok(ServedTask(open)));
        }
        let dial = |url| async {
            let reached = dial(url).await;
            reached.ok_or(Unreachable { retry_after: None })
        };
        let cluster = shared.cluster.as_ref()?;
        match cluster.route(shared, id, is_forwarded, dial).await.ok()? {
            Route::Here(open) => Some(Ok(ServedTask(open))),
            Route::Home(connection) => Some(Err(connection)),
        }
    }
}

#[cfg(feature = "redis")]
impl ServedTask {
    /// Serves one executor until its connection ends.
    pub(crate) async fn serve<S>(self, socket: WebSocketStream<S>)
    where
        S: AsyncRead + AsyncWrite + Unpin,
    {
        connection::serve(socket, &self.0, CancellationToken::new()).await;
    }
}

impl Task {
    #[cfg(feature = "redis")]
    pub(crate) async fn is_owner(&self) -> bool {
        matches!(self.open.calls.is_owner().await, Ok(true))
    }

    pub(crate) fn events(&self) -> broadcast::Receiver<SessionEvent> {
        self.open.calls.events.subscribe()
    }
}
