//! Opens, reopens and closes tasks.

use std::collections::hash_map;
use std::sync::Arc;

#[cfg(feature = "redis")]
use super::cluster;
use super::server::{BackendHandle, Shared};
use super::task::{OpenTask, Task};
use super::upgrade;
use crate::RemoteError;
use crate::protocol::TaskId;
use crate::store::StoreError;
use crate::store::task_store::TaskStore;
#[cfg(feature = "redis")]
use crate::store::task_store::{Claim, Owner};
use crate::token::Token;

impl BackendHandle {
    /// Opens a task, with an unguessable id and token.
    ///
    /// The token is a secret of the task's executor; the backend keeps only its hash.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Store`] when the task cannot be written down.
    pub async fn task(&self) -> Result<(Task, Token), RemoteError> {
        let (id, token) = (TaskId::random(), Token::random());
        let hash = upgrade::hash_token(token.reveal().as_bytes());
        let shared = &self.shared;
        #[cfg_attr(not(feature = "redis"), expect(unused_mut, reason = "no claim"))]
        let mut task_store = shared.task_store(id);
        task_store.open_task(hash).await?;
        #[cfg(feature = "redis")]
        if let Some(cluster) = &shared.cluster {
            let _ = cluster.claim(&mut task_store, None).await?;
        }
        let open = shared.build(id, hash, task_store);
        shared.tasks().insert(id, Arc::clone(&open));
        Ok((self.handle(open), token))
    }

    /// Reopens a task that an earlier process opened, with its executor's existing token; `None` if the store does not
    /// know it.
    ///
    /// Calls that were under way then end as the executor's journal says; [`Task::settled`] waits for that. Of several
    /// backends this one makes the calls of the task from here on, and one that did before makes none.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Store`] when it cannot be read.
    pub async fn reopen(&self, id: TaskId) -> Result<Option<Task>, RemoteError> {
        let existing = self.shared.tasks().get(&id).cloned();
        if let Some(open) = existing {
            if open.calls.is_owner().await? {
                #[cfg(feature = "redis")]
                self.note_use(id);
                return Ok(Some(self.handle(open)));
            }
            self.shared.drop_taken_over(id);
        }
        let reopened = self.shared.reopen(
            id,
            #[cfg(feature = "redis")]
            None,
        );
        let open = reopened.await?;
        #[cfg(feature = "redis")]
        self.note_use(id);
        Ok(open.map(|open| self.handle(open)))
    }

    /// Notes that the program knows of a task that was taken over.
    #[cfg(feature = "redis")]
    fn note_use(&self, id: TaskId) {
        if let Some(cluster) = &self.shared.cluster {
            cluster.taken_over().remove(&id);
        }
    }

    /// Returns the tasks that this backend has taken over because an executor connected to it and their earlier backend
    /// was gone, and that were not reopened here since.
    ///
    /// Calls that were under way end as the executor's journal says. To continue the work, [`reopen`](Self::reopen) such a
    /// task.
    #[cfg(feature = "redis")]
    #[cfg_attr(docsrs, doc(cfg(feature = "redis")))]
    #[must_use]
    pub fn taken_over(&self) -> Vec<TaskId> {
        let cluster = self.shared.cluster.as_ref();
        cluster.map_or(Vec::new(), |cluster| {
            cluster.taken_over().iter().copied().collect()
        })
    }

    /// Closes a task: its executor is not accepted again, and everything kept about it is deleted.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Store`] when what is kept cannot be dropped.
    pub async fn forget(&self, id: TaskId) -> Result<(), RemoteError> {
        let open = self.shared.tasks().remove(&id);
        if let Some(open) = open {
            open.dismiss();
        }
        #[cfg(feature = "redis")]
        self.note_use(id);
        Ok(self.shared.store.forget(id).await?)
    }

    fn handle(&self, open: Arc<OpenTask>) -> Task {
        let address = self.shared.listener.url_of(open.id).into();
        Task { open, address }
    }
}

impl Shared {
    fn task_store(&self, id: TaskId) -> TaskStore {
        TaskStore::new(Arc::clone(&self.store), id)
    }

    fn build(&self, id: TaskId, hash: [u8; 32], task_store: TaskStore) -> Arc<OpenTask> {
        let (settings, listener) = (Arc::clone(&self.settings), Arc::clone(&self.listener));
        OpenTask::new(id, hash, settings, task_store, listener)
    }

    /// Opens a task that the store knows, and claims it; `None` if there is no such task, or it changed hands since `after`.
    pub(super) async fn reopen(
        &self,
        id: TaskId,
        #[cfg(feature = "redis")] after: Option<&Owner>,
    ) -> Result<Option<Arc<OpenTask>>, StoreError> {
        #[cfg_attr(not(feature = "redis"), expect(unused_mut, reason = "no claim"))]
        let mut task_store = self.task_store(id);
        let Some(hash) = task_store.token_hash().await? else {
            return Ok(None);
        };
        #[cfg(feature = "redis")]
        let before = match &self.cluster {
            Some(cluster) => match cluster.claim(&mut task_store, after).await? {
                Claim::Owner { before } => before,
                Claim::Lost => return Ok(None),
            },
            None => None,
        };
        let open = self.build(id, hash, task_store);
        let kept = open.load_stored().await?;
        let open = match self.tasks().entry(id) {
            // It was opened concurrently, and may be in use.
            hash_map::Entry::Occupied(existing) => Arc::clone(existing.get()),
            hash_map::Entry::Vacant(place) => {
                open.restore(kept);
                Arc::clone(place.insert(open))
            }
        };
        // Only now: the executor may reconnect at once.
        #[cfg(feature = "redis")]
        if let Some(before) = before.filter(|_| after.is_none()) {
            cluster::tell_moved(before.url, id, &self.listener);
        }
        Ok(Some(open))
    }
}
