//! Reopens a journal after a failed write.

use std::fmt;
use std::sync::atomic::Ordering;

use super::thread::Thread;
use super::{Journal, JournalError};

/// Opens the file of a journal again.
pub(super) struct Reopen(Box<Open>);

type Open = dyn Fn() -> Result<Thread, JournalError> + Send + Sync;

impl Reopen {
    pub(super) fn new(
        open: impl Fn() -> Result<Thread, JournalError> + Send + Sync + 'static,
    ) -> Self {
        Self(Box::new(open))
    }
}

impl fmt::Debug for Reopen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reopen")
    }
}

impl Journal {
    /// Reopens the file if the journal has stopped; blocks, as [`open`](Self::open) does.
    ///
    /// Calls that had begun are in doubt then, as after a restart of the process; one that is at work here can still be
    /// finished.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open); [`JournalError::Stopped`] where there is no file, and [`JournalError::Damaged`] when the file
    /// is another journal now.
    pub(crate) fn reopen(&self) -> Result<(), JournalError> {
        let shared = &*self.0;
        let _one_by_one = shared.reopening.lock();
        if !shared
            .thread
            .lock()
            .status
            .has_stopped
            .load(Ordering::SeqCst)
        {
            return Ok(());
        }
        let Some(Reopen(open)) = &shared.reopen else {
            return Err(self.stopped());
        };
        let gone = Thread::none(self.stopped_because());
        let before = std::mem::replace(&mut *shared.thread.lock(), gone);
        // It must release the file before it is opened again.
        drop(before);
        let next = open()?;
        if next.id != self.id() {
            return Err(JournalError::Damaged {
                path: shared.path.clone(),
                reason: "it is not the same journal as before".to_owned(),
            });
        }
        *shared.thread.lock() = next;
        Ok(())
    }
}
