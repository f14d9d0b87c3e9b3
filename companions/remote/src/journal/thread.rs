//! The thread that owns the file of a journal.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock, mpsc as blocking};
use std::thread::JoinHandle;

use redb::StorageBackend;
use tokio::sync::mpsc;

use super::JournalError;
use super::disk::Disk;
use super::index::Limits;
use super::writer::{PendingReplies, QUEUE, Request, Writer};
use crate::protocol::JournalId;

/// A thread that owns the file of a journal; dropping it joins the thread, so that the file can be reopened at once.
#[derive(Debug)]
pub(super) struct Thread {
    pub(super) id: JournalId,
    /// `None` while it is dropped, which ends the thread.
    pub(super) queue: Option<mpsc::Sender<Request>>,
    pub(super) status: Arc<ThreadStatus>,
    handle: Option<JoinHandle<()>>,
}

/// Whether and why a thread has stopped.
#[derive(Debug, Default)]
pub(super) struct ThreadStatus {
    /// Why it stopped.
    pub(super) why: OnceLock<String>,
    /// A request was not answered: the thread has stopped, or is about to.
    pub(super) has_stopped: AtomicBool,
}

impl Thread {
    pub(super) fn start<B: StorageBackend>(
        backend: B,
        path: &Path,
        limits: Limits,
    ) -> Result<Self, JournalError> {
        let (opened, result) = blocking::sync_channel(1);
        let (queue, requests) = mpsc::channel(QUEUE);
        let status = Arc::<ThreadStatus>::default();
        let thread = std::thread::Builder::new().name("journal".to_owned());
        let thread = thread.spawn({
            let (path, status) = (path.to_owned(), Arc::clone(&status));
            move || match Disk::open(backend, &path, limits) {
                Ok((disk, index, id)) => {
                    let _ = opened.send(Ok(id));
                    let pending = PendingReplies::default();
                    Writer {
                        disk,
                        index,
                        queue: requests,
                        path,
                        status,
                        pending,
                    }
                    .run();
                }
                Err(error) => {
                    let _ = opened.send(Err(error));
                }
            }
        });
        let thread = thread.map_err(|error| JournalError::Open {
            path: path.to_owned(),
            reason: error.to_string(),
        })?;
        let mut started = Self {
            id: JournalId::random(),
            queue: Some(queue),
            status,
            handle: Some(thread),
        };
        // Debug builds of the store assert what a file of its own cannot violate; then its thread ends without an answer.
        started.id = result.recv().unwrap_or_else(|_| {
            Err(JournalError::Damaged {
                path: path.to_owned(),
                reason: "it cannot be read".to_owned(),
            })
        })?;
        Ok(started)
    }

    /// Returns the placeholder for a thread that could not be started.
    pub(super) fn none(why: String) -> Self {
        let status = ThreadStatus {
            why: OnceLock::from(why),
            has_stopped: AtomicBool::new(true),
        };
        Self {
            id: JournalId::random(),
            queue: None,
            status: Arc::new(status),
            handle: None,
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        self.queue = None;
        if let Some(handle) = self.handle.take() {
            let _ = handle.join();
        }
    }
}
