//! Opens, reopens and closes tasks.

use std::collections::hash_map;
use std::sync::Arc;

use super::server::BackendHandle;
use super::task::{OpenTask, Task};
use super::upgrade;
use crate::RemoteError;
use crate::protocol::TaskId;
use crate::store::task_store::TaskStore;
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
        #[cfg_attr(
            not(feature = "redis"),
            expect(unused_mut, reason = "nobody else has it")
        )]
        let mut task_store = self.task_store(id);
        task_store.open_task(hash).await?;
        #[cfg(feature = "redis")]
        if let Some(cluster) = &self.shared.cluster {
            cluster.claim(&mut task_store).await?;
        }
        let open = self.build(id, hash, task_store);
        self.shared.tasks().insert(id, Arc::clone(&open));
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
                return Ok(Some(self.handle(open)));
            }
            self.shared.drop_taken_over(id);
        }
        #[cfg_attr(
            not(feature = "redis"),
            expect(unused_mut, reason = "nobody else has it")
        )]
        let mut task_store = self.task_store(id);
        let Some(hash) = task_store.token_hash().await? else {
            return Ok(None);
        };
        #[cfg(feature = "redis")]
        let earlier = match &self.shared.cluster {
            Some(cluster) => cluster.claim(&mut task_store).await?,
            None => None,
        };
        let open = self.build(id, hash, task_store);
        #[cfg(feature = "redis")]
        if self.shared.cluster.is_some() {
            open.ignore_earlier().await?;
        }
        let kept = open.load_stored().await?;
        match self.shared.tasks().entry(id) {
            // It was opened concurrently, and may be in use.
            hash_map::Entry::Occupied(existing) => {
                return Ok(Some(self.handle(Arc::clone(existing.get()))));
            }
            hash_map::Entry::Vacant(place) => {
                open.restore(kept);
                place.insert(Arc::clone(&open));
            }
        }
        let task = self.handle(open);
        // Only now: the executor may reconnect at once.
        #[cfg(feature = "redis")]
        if let Some(cluster) = &self.shared.cluster {
            cluster
                .announce_ownership(&task.open.calls.task_store, earlier)
                .await?;
        }
        Ok(Some(task))
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
        Ok(self.shared.store.forget(id).await?)
    }

    fn task_store(&self, id: TaskId) -> TaskStore {
        TaskStore::new(Arc::clone(&self.shared.store), id)
    }

    fn build(&self, id: TaskId, hash: [u8; 32], task_store: TaskStore) -> Arc<OpenTask> {
        let shared = &self.shared;
        OpenTask::new(
            id,
            hash,
            Arc::clone(&shared.settings),
            task_store,
            Arc::clone(&shared.backend_name),
            Arc::clone(&shared.listener),
            #[cfg(feature = "redis")]
            None,
        )
    }

    fn handle(&self, open: Arc<OpenTask>) -> Task {
        let address = self.shared.listener.url_of(open.id).into();
        Task { open, address }
    }
}
