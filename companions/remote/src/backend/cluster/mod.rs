//! Several backends on one store: each task has one home, to which the others forward connections.
//!
//! The home of a task is the process that owns it: it makes the calls and serves the executor. Another backend that an
//! executor dials forwards the connection to the home, byte for byte; if the home cannot be reached and its lease has
//! expired, it takes the task over.
//!
//! | file | holds |
//! |---|---|
//! | `forward` | a connection that is forwarded to the home of its task |
//! | `moved` | a hint to an earlier home that another backend has reopened its task |

mod forward;
mod moved;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

pub(super) use forward::{Forwarding, dial, is_forwarded};
pub(super) use moved::{moved_task, tell_moved};

use super::server::Shared;
use super::task::OpenTask;
use super::upgrade::UpgradeError;
use crate::protocol::TaskId;
use crate::store::StoreError;
use crate::store::leases::Leases;
use crate::store::task_store::{Claim, Owner, Process, TaskStore};

/// How long a backend is considered alive after it renewed its lease.
const LEASE: Duration = Duration::from_secs(30);

/// How often a backend renews its lease, and checks that it still owns its tasks.
const CHECK_INTERVAL: Duration = Duration::from_secs(5);

/// The part of a backend that knows of other backends.
#[derive(Debug)]
pub(super) struct Cluster {
    leases: Arc<dyn Leases>,
    process: Process,
    /// Tasks that were taken over and that the program has not reopened.
    taken_over: Mutex<BTreeSet<TaskId>>,
}

/// Where a connection is served: here, or over a connection to the home of its task.
#[derive(Debug)]
pub(super) enum Route<C> {
    Here(Arc<OpenTask>),
    Home(C),
}

/// The home of a task could not be reached, or does not serve the task; after how many seconds to retry, if it said so.
#[derive(Debug)]
pub(super) struct Unreachable {
    pub(super) retry_after: Option<u64>,
}

impl Cluster {
    pub(super) fn new(leases: Arc<dyn Leases>, name: &str, url: String) -> Self {
        Self {
            leases,
            process: Process {
                backend: name.to_owned(),
                run: Uuid::new_v4().simple().to_string(),
                url,
            },
            taken_over: Mutex::default(),
        }
    }

    pub(super) fn taken_over(&self) -> MutexGuard<'_, BTreeSet<TaskId>> {
        self.taken_over
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Announces this backend, and renews its lease until it stops.
    ///
    /// # Errors
    ///
    /// When the server cannot be asked, or another backend runs under the same name.
    pub(super) async fn open(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        let Process { backend, run, .. } = &self.process;
        if !self.leases.announce(backend, run, LEASE).await? {
            return Err(StoreError::Conflict {
                name: format!("the name `{backend}` of this backend"),
            });
        }
        let (cluster, shared, stop) = (Arc::clone(self), Arc::clone(shared), stop.clone());
        tokio::spawn(async move {
            // Apart from each other: a store that is slow to answer about many tasks must not cost the lease.
            let renews = async {
                let mut ticks = interval(CHECK_INTERVAL);
                loop {
                    ticks.tick().await;
                    cluster.renew().await;
                }
            };
            let checks = async {
                let mut ticks = interval(CHECK_INTERVAL);
                ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
                loop {
                    ticks.tick().await;
                    cluster.check_tasks(&shared).await;
                }
            };
            tokio::select! {
                () = renews => {}
                () = checks => {}
                // Its calls have ended, and its executors are about to reconnect elsewhere.
                () = shared.listener.drain.shutdown.cancelled() => {}
                () = stop.cancelled() => {}
            }
            let Process { backend, run, .. } = &cluster.process;
            // It expires by itself.
            let _ = cluster.leases.withdraw(backend, run).await;
        });
        Ok(())
    }

    async fn renew(&self) {
        let Process { backend, run, .. } = &self.process;
        match self.leases.announce(backend, run, LEASE).await {
            Ok(true) => {}
            // The lease had expired.
            Ok(false) => {
                tracing::warn!(name = backend, "another process runs under this name");
            }
            Err(error) => {
                tracing::warn!(%error, "other backends cannot be told that this one is running");
            }
        }
    }

    /// Drops the tasks that another backend has taken over, and of those taken over here the ones that nobody uses.
    async fn check_tasks(&self, shared: &Shared) {
        let tasks: Vec<TaskId> = shared.tasks().keys().copied().collect();
        for task in tasks {
            self.check_task(shared, task).await;
        }
        let mut taken_over = self.taken_over();
        shared.tasks().retain(|id, open| {
            // An executor that is being let in holds it too.
            let is_used = Arc::strong_count(open) > 1 || !open.calls.is_settled();
            is_used || !taken_over.remove(id)
        });
    }

    /// Checks who owns a task, after a hint that this backend does not any more.
    pub(super) async fn check_task(&self, shared: &Shared, task: TaskId) {
        let open = shared.tasks().get(&task).cloned();
        if let Some(open) = open
            && let Ok(false) = open.calls.is_owner().await
        {
            shared.drop_taken_over(task);
            self.taken_over().remove(&task);
        }
    }

    /// Makes this backend the owner of a task; with `after`, only if the task has not changed hands since.
    pub(super) async fn claim(
        &self,
        task_store: &mut TaskStore,
        after: Option<&Owner>,
    ) -> Result<Claim, StoreError> {
        task_store.claim_ownership(&self.process, after).await
    }

    /// Decides where a connection is served whose task is not open here: where its home is reached, there; else here, if
    /// the lease of the home has expired.
    ///
    /// One that another backend has forwarded is neither forwarded again nor a reason to take a task over.
    pub(super) async fn route<C, F>(
        &self,
        shared: &Shared,
        task: TaskId,
        is_forwarded: bool,
        dial: impl FnOnce(String) -> F,
    ) -> Result<Route<C>, UpgradeError>
    where
        F: Future<Output = Result<C, Unreachable>>,
    {
        let failed = |error: StoreError| {
            tracing::warn!(%task, %error, "the store does not say where the home of a task is");
            UpgradeError::store_unavailable()
        };
        let task_store = TaskStore::new(Arc::clone(&shared.store), task);
        let Some(owner) = task_store.owner().await.map_err(failed)? else {
            return Err(UpgradeError::task_not_open());
        };
        if owner.process != self.process {
            if is_forwarded {
                return Err(UpgradeError::task_not_open());
            }
            let unreachable = match dial(owner.process.url.clone()).await {
                Ok(connection) => return Ok(Route::Home(connection)),
                Err(unreachable) => unreachable,
            };
            // A home that is reached has its tasks, even if it could not renew its lease.
            let Process { backend, run, .. } = &owner.process;
            let announced = self.leases.announced(backend).await.map_err(failed)?;
            if announced.as_ref() == Some(run) {
                return Err(UpgradeError::home_unreachable(unreachable.retry_after));
            }
        }
        match shared.reopen(task, Some(&owner)).await.map_err(failed)? {
            Some(open) => {
                if owner.process != self.process {
                    tracing::info!(%task, from = owner.process.backend, "a task was taken over");
                }
                self.taken_over().insert(task);
                Ok(Route::Here(open))
            }
            // Another backend has taken it over, or it was closed.
            None => Err(UpgradeError::task_not_open()),
        }
    }
}
