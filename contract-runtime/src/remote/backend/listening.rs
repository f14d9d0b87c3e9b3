use std::sync::Arc;

use super::door;
use super::server::Listening;
use super::task::{Open, Task};
use crate::remote::RemoteError;
use crate::remote::protocol::TaskId;
use crate::remote::store::ledger::Ledger;
use crate::remote::token::Token;

impl Listening {
    /// Opens a task, with an id and a token that nobody can guess.
    ///
    /// The token is for the executor of the task and nobody else; here only a hash of it is kept.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Store`] when the task cannot be written down.
    pub async fn task(&self) -> Result<(Task, Token), RemoteError> {
        let (id, token) = (TaskId::random(), Token::random());
        let hash = door::hash(token.reveal().as_bytes());
        let ledger = self.ledger(id);
        ledger.open_task(hash).await?;
        #[cfg(feature = "redis")]
        if self.shared.post.is_some() {
            ledger.set_home(&self.shared.owner).await?;
        }
        Ok((self.open(id, hash, ledger), token))
    }

    /// A task that an earlier process opened, with the token that its executor has; `None` if the store knows none.
    ///
    /// Calls that were under way then end as the executor's journal says; [`Task::settled`] waits for that.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Store`] when it cannot be read.
    pub async fn reopen(&self, id: TaskId) -> Result<Option<Task>, RemoteError> {
        if let Some(open) = self.shared.tasks().get(&id) {
            return Ok(Some(self.shown(Arc::clone(open))));
        }
        let ledger = self.ledger(id);
        let Some(hash) = ledger.token_hash().await? else {
            return Ok(None);
        };
        let calls = ledger.calls().await?;
        let finished = ledger.finished().await?;
        let task = self.open(id, hash, ledger);
        if let Some(finished) = finished {
            task.open.is_over(finished);
        }
        task.open.calls.left_behind(calls);
        // Only now, as the executor may be back at once.
        #[cfg(feature = "redis")]
        if let Some(post) = &self.shared.post {
            post.moved_in(&task.open.calls.ledger).await?;
        }
        Ok(Some(task))
    }

    /// Closes a task: its executor is not let in again, and nothing of it is kept.
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

    fn ledger(&self, id: TaskId) -> Ledger {
        Ledger::new(Arc::clone(&self.shared.store), id)
    }

    fn open(&self, id: TaskId, hash: [u8; 32], ledger: Ledger) -> Task {
        let shared = &self.shared;
        let open = Open::new(
            id,
            hash,
            Arc::clone(&shared.settings),
            ledger,
            Arc::clone(&shared.owner),
            Arc::clone(&shared.entrance),
            #[cfg(feature = "redis")]
            None,
        );
        let mut tasks = shared.tasks();
        // Two that reopen one task at once share it.
        let open = Arc::clone(tasks.entry(id).or_insert(open));
        drop(tasks);
        self.shown(open)
    }

    fn shown(&self, open: Arc<Open>) -> Task {
        let address = self.shared.entrance.address_of(open.id).into();
        Task { open, address }
    }
}
