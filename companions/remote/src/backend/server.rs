//! The backend before and after it listens, and the state its connections share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use contract_manifest::Manifest;
use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::accept::accept;
#[cfg(feature = "redis")]
use super::cluster::Cluster;
use super::listener::{Listener, ListenerConfig};
use super::settings::Settings;
#[cfg(feature = "redis")]
use super::settings::Sharing;
use super::task::OpenTask;
use crate::RemoteError;
use crate::protocol::TaskId;
use crate::store::task_store::TaskStore;
use crate::store::{EmbeddedStore, Store, StoreError};

/// Configures a backend; call [`bind`](Self::bind) to start it.
#[derive(Clone, Debug)]
#[must_use = "a backend does nothing until `bind`"]
pub struct Backend {
    pub(super) settings: Settings,
    pub(super) listener: ListenerConfig,
}

/// A backend that is listening and serves executors until it is dropped.
#[derive(Debug)]
pub struct BackendHandle {
    pub(super) shared: Arc<Shared>,
    _stop: DropGuard,
}

/// A task that exists.
pub(super) enum KnownTask {
    Open(Arc<OpenTask>),
    /// The store knows it, with the hash of its token, but it is not open here, or not reopened yet.
    Closed([u8; 32]),
}

impl KnownTask {
    pub(super) fn token_hash(&self) -> [u8; 32] {
        match self {
            Self::Open(open) => open.token_hash,
            Self::Closed(hash) => *hash,
        }
    }
}

/// The state that connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: Arc<Settings>,
    pub(super) store: Arc<dyn Store>,
    pub(super) listener: Arc<Listener>,
    /// What it knows of other backends.
    #[cfg(feature = "redis")]
    pub(super) cluster: Option<Arc<Cluster>>,
    pub(super) tasks: Mutex<HashMap<TaskId, Arc<OpenTask>>>,
}

impl Shared {
    pub(super) fn tasks(&self) -> MutexGuard<'_, HashMap<TaskId, Arc<OpenTask>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Drops a task that another backend has taken over.
    pub(super) fn drop_taken_over(&self, task: TaskId) {
        let mut tasks = self.tasks();
        if tasks
            .get(&task)
            .is_some_and(|open| open.calls.is_taken_over())
        {
            tasks.remove(&task);
        }
    }

    /// Finds a task: one that is open here, or one that the store knows.
    pub(super) async fn find(&self, task: TaskId) -> Result<Option<KnownTask>, StoreError> {
        self.drop_taken_over(task);
        let open = self.tasks().get(&task).cloned();
        if let Some(open) = open {
            return Ok(Some(KnownTask::Open(open)));
        }
        let task_store = TaskStore::new(Arc::clone(&self.store), task);
        Ok(task_store.token_hash().await?.map(KnownTask::Closed))
    }

    /// Returns the number of tasks, and of those with an attached executor.
    pub(super) fn count_tasks(&self) -> (usize, usize) {
        let tasks = self.tasks();
        let attached = tasks.values().filter(|open| open.calls.is_attached());
        (tasks.len(), attached.count())
    }
}

impl Backend {
    /// Creates a backend that knows the tools of a manifest by name.
    pub fn new(known: Manifest) -> Self {
        Self {
            settings: Settings::new(known),
            listener: ListenerConfig::default(),
        }
    }

    /// Binds the address and accepts executors.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Bind`]; [`RemoteError::Url`] if nobody could connect to `public_url` or `peer_url`;
    /// [`RemoteError::Store`] where the store cannot be used; [`RemoteError::NoRuntime`] outside of tokio.
    ///
    /// # Panics
    ///
    /// In a runtime that was built without its I/O or without its time (`enable_all`).
    pub async fn bind(self, address: &str) -> Result<BackendHandle, RemoteError> {
        tokio::runtime::Handle::try_current().map_err(|_| RemoteError::NoRuntime)?;
        self.listener.check()?;
        let failed = |source| RemoteError::Bind {
            address: address.to_owned(),
            source,
        };
        let tcp = TcpListener::bind(address).await.map_err(failed)?;
        let bound = tcp.local_addr().map_err(failed)?;
        let store = match &self.settings.store {
            Some(store) => Arc::clone(store),
            None => Arc::new(EmbeddedStore::in_memory()?),
        };
        #[cfg(feature = "redis")]
        let cluster = match &self.settings.sharing {
            Some(Sharing { leases, name }) => {
                let url = self.listener.peer_url_for(bound)?;
                Some(Arc::new(Cluster::new(Arc::clone(leases), name, url)))
            }
            None => None,
        };
        let shared = Arc::new(Shared {
            #[cfg(feature = "redis")]
            cluster,
            settings: Arc::new(self.settings),
            store,
            listener: Arc::new(self.listener.open(bound)),
            tasks: Mutex::default(),
        });
        let stop = CancellationToken::new();
        let listening = BackendHandle::open(shared, stop.clone()).await?;
        tokio::spawn(accept(tcp, Arc::clone(&listening.shared), stop));
        Ok(listening)
    }
}

impl BackendHandle {
    /// Starts to work with other backends; no executor is accepted yet.
    #[cfg_attr(
        not(feature = "redis"),
        expect(clippy::unused_async, reason = "as with others")
    )]
    pub(super) async fn open(
        shared: Arc<Shared>,
        stop: CancellationToken,
    ) -> Result<Self, StoreError> {
        #[cfg(feature = "redis")]
        if let Some(cluster) = &shared.cluster {
            cluster.open(&shared, &stop).await?;
        }
        Ok(Self {
            shared,
            _stop: stop.drop_guard(),
        })
    }
}
