use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::net::TcpListener;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use super::accept::{Find, Found, accept};
use super::entry::{Entrance, Entry};
#[cfg(feature = "redis")]
use super::post::Post;
use super::settings::Settings;
use super::task::Open;
use crate::registry::Manifest;
use crate::remote::RemoteError;
use crate::remote::protocol::TaskId;
use crate::remote::store::ledger::Ledger;
use crate::remote::store::{EmbeddedStore, Store, StoreError};

/// A side that decides, before it listens.
#[derive(Clone, Debug)]
#[must_use = "a backend does nothing until `bind`"]
pub struct Backend {
    pub(super) settings: Settings,
    pub(super) entry: Entry,
}

/// A side that decides, and answers executors until it is dropped.
#[derive(Debug)]
pub struct Listening {
    pub(super) shared: Arc<Shared>,
    _stop: DropGuard,
}

/// Everything that connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) settings: Arc<Settings>,
    pub(super) store: Arc<dyn Store>,
    /// Who this backend is, for the store.
    pub(super) owner: Arc<str>,
    pub(super) entrance: Arc<Entrance>,
    /// How it works with other backends.
    #[cfg(feature = "redis")]
    pub(super) post: Option<Arc<Post>>,
    pub(super) tasks: Mutex<HashMap<TaskId, Arc<Open>>>,
}

impl Shared {
    pub(super) fn tasks(&self) -> MutexGuard<'_, HashMap<TaskId, Arc<Open>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets a task that another backend has taken over.
    pub(super) fn drop_moved(&self, task: TaskId) {
        let mut tasks = self.tasks();
        if tasks.get(&task).is_some_and(|open| open.calls.has_moved()) {
            tasks.remove(&task);
        }
    }

    /// A task that is open here, or at home in another backend, or known to the store.
    pub(super) async fn find(&self, task: TaskId) -> Result<Option<Found>, StoreError> {
        self.drop_moved(task);
        let open = self.tasks().get(&task).cloned();
        #[cfg(feature = "redis")]
        let open = match (open, &self.post) {
            (None, Some(post)) => post.find(self, task).await?,
            (open, _) => open,
        };
        if let Some(open) = open {
            return Ok(Some(Found::Open(open)));
        }
        let kept = Ledger::new(Arc::clone(&self.store), task);
        Ok(kept.token_hash().await?.map(Found::Closed))
    }

    /// How many tasks there are, and how many of their executors.
    pub(super) fn tasks_and_attached(&self) -> (usize, usize) {
        let tasks = self.tasks();
        let attached = tasks.values().filter(|open| open.calls.is_attached());
        (tasks.len(), attached.count())
    }
}

impl Backend {
    /// A backend that knows the tools of a manifest by name.
    pub fn new(known: Manifest) -> Self {
        Self {
            settings: Settings::new(known),
            entry: Entry::default(),
        }
    }

    /// Listens, and lets executors in.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Bind`]; [`RemoteError::ReachedAt`] where no executor could dial what it was given;
    /// [`RemoteError::Store`] where the store cannot be used; [`RemoteError::NoRuntime`] outside of tokio.
    ///
    /// # Panics
    ///
    /// In a runtime that was built without its I/O or without its time (`enable_all`).
    pub async fn bind(self, address: &str) -> Result<Listening, RemoteError> {
        tokio::runtime::Handle::try_current().map_err(|_| RemoteError::NoRuntime)?;
        self.entry.check()?;
        let failed = |source| RemoteError::Bind {
            address: address.to_owned(),
            source,
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let store = match &self.settings.store {
            Some(store) => Arc::clone(store),
            None => Arc::new(EmbeddedStore::in_memory()?),
        };
        let owner = self.settings.name.clone();
        let owner = owner.unwrap_or_else(|| Uuid::new_v4().simple().to_string().into());
        let shared = Arc::new(Shared {
            #[cfg(feature = "redis")]
            post: self
                .settings
                .relay
                .clone()
                .map(|relay| Post::new(Arc::new(relay), Arc::clone(&owner))),
            settings: Arc::new(self.settings),
            store,
            owner,
            entrance: Arc::new(self.entry.open(bound)),
            tasks: Mutex::default(),
        });
        let stop = CancellationToken::new();
        let listening = Listening::open(shared, stop.clone()).await?;
        let tasks = Arc::clone(&listening.shared);
        let find: Find = Arc::new(move |task| {
            let shared = Arc::clone(&tasks);
            Box::pin(async move { shared.find(task).await })
        });
        let entrance = Arc::clone(&listening.shared.entrance);
        tokio::spawn(accept(listener, entrance, find, stop));
        Ok(listening)
    }
}

impl Listening {
    /// Works with other backends from here on; no executor comes in yet.
    #[cfg_attr(
        not(feature = "redis"),
        expect(clippy::unused_async, reason = "as with others")
    )]
    pub(super) async fn open(
        shared: Arc<Shared>,
        stop: CancellationToken,
    ) -> Result<Self, StoreError> {
        #[cfg(feature = "redis")]
        if let Some(post) = &shared.post {
            post.open(&shared, &stop).await?;
        }
        Ok(Self {
            shared,
            _stop: stop.drop_guard(),
        })
    }
}
