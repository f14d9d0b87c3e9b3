use std::collections::hash_map;
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
        #[cfg_attr(
            not(feature = "redis"),
            expect(unused_mut, reason = "nobody else has it")
        )]
        let mut ledger = self.ledger(id);
        ledger.open_task(hash).await?;
        #[cfg(feature = "redis")]
        if let Some(post) = &self.shared.post {
            post.moves_in(&mut ledger).await?;
        }
        let open = self.made(id, hash, ledger);
        self.shared.tasks().insert(id, Arc::clone(&open));
        Ok((self.shown(open), token))
    }

    /// A task that an earlier process opened, with the token that its executor has; `None` if the store knows none.
    ///
    /// Calls that were under way then end as the executor's journal says; [`Task::settled`] waits for that. Of several
    /// backends this one makes the calls of the task from here on, and one that did before makes none.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Store`] when it cannot be read.
    pub async fn reopen(&self, id: TaskId) -> Result<Option<Task>, RemoteError> {
        let there = self.shared.tasks().get(&id).cloned();
        if let Some(open) = there {
            if open.calls.is_home().await? {
                return Ok(Some(self.shown(open)));
            }
            self.shared.drop_moved(id);
        }
        #[cfg_attr(
            not(feature = "redis"),
            expect(unused_mut, reason = "nobody else has it")
        )]
        let mut ledger = self.ledger(id);
        let Some(hash) = ledger.token_hash().await? else {
            return Ok(None);
        };
        #[cfg(feature = "redis")]
        let before = match &self.shared.post {
            Some(post) => post.moves_in(&mut ledger).await?,
            None => None,
        };
        let open = self.made(id, hash, ledger);
        #[cfg(feature = "redis")]
        if self.shared.post.is_some() {
            open.leaves_behind().await?;
        }
        let kept = open.kept().await?;
        match self.shared.tasks().entry(id) {
            // Somebody else has opened it meanwhile, and it may be at work.
            hash_map::Entry::Occupied(there) => {
                return Ok(Some(self.shown(Arc::clone(there.get()))));
            }
            hash_map::Entry::Vacant(place) => {
                open.recall(kept);
                place.insert(Arc::clone(&open));
            }
        }
        let task = self.shown(open);
        // Only now, as the executor may be back at once.
        #[cfg(feature = "redis")]
        if let Some(post) = &self.shared.post {
            post.moved_in(&task.open.calls.ledger, before).await?;
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

    fn made(&self, id: TaskId, hash: [u8; 32], ledger: Ledger) -> Arc<Open> {
        let shared = &self.shared;
        Open::new(
            id,
            hash,
            Arc::clone(&shared.settings),
            ledger,
            Arc::clone(&shared.owner),
            Arc::clone(&shared.entrance),
            #[cfg(feature = "redis")]
            None,
        )
    }

    fn shown(&self, open: Arc<Open>) -> Task {
        let address = self.shared.entrance.address_of(open.id).into();
        Task { open, address }
    }
}
