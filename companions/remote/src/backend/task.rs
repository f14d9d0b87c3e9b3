//! An open task and its latest connection.

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::{mpsc, watch};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_util::sync::CancellationToken;

use super::calls::{Calls, TAKEN_OVER};
use super::connection::SUPERSEDED;
use super::event::SessionEvent;
use super::listener::Listener;
use super::pinned_tools::StoredTask;
use super::session::Session;
use super::settings::Settings;
use crate::RemoteError;
use crate::protocol::{BackendMessage, ExecutorMessage, Finished, Handshake, JournalId, TaskId};
use crate::safeguards::Watchdog;
use crate::store::StoreError;
use crate::store::task_store::{CallRecord, TaskStore};
use crate::toolbelt::Toolbelt;

/// The close reason for a task that was closed.
const TASK_CLOSED: &str = "the task was closed";

/// The close reason when another backend owns the task.
pub(super) const OWNED_ELSEWHERE: &str = "another backend owns the task now; reconnect";

/// The close reason when the same executor has another connection: only the executor knows which one it has abandoned.
pub(super) const REPLACED: &str =
    "another connection of this executor has replaced this one; reconnect";

/// A close code with its reason.
pub(super) type CloseReason = (CloseCode, &'static str);

/// Held while a handshake is processed; others of the task wait.
pub(super) type ClaimGuard<'o> = tokio::sync::MutexGuard<'o, ()>;

/// A task that an executor may connect for.
#[derive(Debug)]
pub(super) struct OpenTask {
    pub(super) id: TaskId,
    pub(super) token_hash: [u8; 32],
    pub(super) settings: Arc<Settings>,
    pub(super) calls: Arc<Calls>,
    pub(super) watchdog: Arc<Watchdog>,
    /// The tools of the task, as they are stored.
    pub(super) pinned: OnceLock<Arc<Toolbelt>>,
    pub(super) session: watch::Sender<Option<Session>>,
    latest: Mutex<LatestConnection>,
    /// Held while a handshake is processed.
    claim: tokio::sync::Mutex<()>,
}

/// The latest connection of a task.
#[derive(Debug, Default)]
struct LatestConnection {
    epoch: u64,
    /// Cancelled when the next connection supersedes this one.
    over: CancellationToken,
    gone: bool,
    /// The journal of the executor.
    journal: Option<JournalId>,
    finished: Option<Finished>,
}

impl LatestConnection {
    /// Makes another connection the latest one.
    fn supersede(&mut self, epoch: u64, journal: JournalId) -> CancellationToken {
        self.over.cancel();
        self.epoch = epoch;
        self.gone = false;
        self.journal = Some(journal);
        self.over = CancellationToken::new();
        self.over.clone()
    }
}

impl OpenTask {
    pub(super) fn new(
        id: TaskId,
        token_hash: [u8; 32],
        settings: Arc<Settings>,
        task_store: TaskStore,
        listener: Arc<Listener>,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            token_hash,
            calls: Calls::new(task_store, settings.grace, listener),
            watchdog: Arc::new(Watchdog::new(settings.safeguards)),
            settings,
            pinned: OnceLock::new(),
            session: watch::Sender::new(None),
            latest: Mutex::default(),
            claim: tokio::sync::Mutex::default(),
        })
    }

    fn latest(&self) -> MutexGuard<'_, LatestConnection> {
        self.latest.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Restores the state that an earlier process stored.
    pub(super) fn restore(&self, kept: StoredTask) {
        if let Some(pinned) = kept.pinned {
            let _ = self.pinned.set(Arc::new(pinned));
        }
        self.latest().finished = kept.finished;
        self.calls.orphaned(kept.calls);
    }

    /// Waits for earlier handshakes of the task.
    pub(super) async fn lock_claim(&self) -> ClaimGuard<'_> {
        self.claim.lock().await
    }

    /// Claims the next epoch; returns it with the token that ends it, or the close reason if another executor is newer.
    pub(super) async fn claim(
        &self,
        handshake: &Handshake,
        _turn: ClaimGuard<'_>,
    ) -> Result<Result<(u64, CancellationToken), CloseReason>, StoreError> {
        let task_store = &self.calls.task_store;
        let journal = handshake.journal;
        let claim = task_store.claim(journal, handshake.epoch);
        let Some(epoch) = claim.await? else {
            return Ok(Err((CloseCode::Policy, SUPERSEDED)));
        };
        {
            let mut latest = self.latest();
            if epoch > latest.epoch {
                return Ok(Ok((epoch, latest.supersede(epoch, journal))));
            }
        }
        // A later claim completed sooner.
        Ok(Err(self.close_reason(journal)))
    }

    /// Handles a message of the executor.
    pub(super) fn handle_message(&self, message: ExecutorMessage) {
        match message {
            ExecutorMessage::ToolResult(reply) => self.calls.handle_reply(*reply),
            ExecutorMessage::Cancelled(cancelled) => self.calls.handle_reply(cancelled.into()),
            ExecutorMessage::ToolProgress(report) => {
                if self.calls.handle_progress(report) {
                    self.watchdog.record_activity();
                }
            }
            ExecutorMessage::ToolLog(record) => {
                if self.calls.handle_log(record) {
                    self.watchdog.record_activity();
                }
            }
            ExecutorMessage::Fault(_) => {
                tracing::warn!(task = %self.id, "the executor could not read a message");
            }
            // The connection handles these.
            ExecutorMessage::Handshake(_) | ExecutorMessage::Ping | ExecutorMessage::Pong => {}
        }
    }

    /// Attaches a connection; `false` if a later one has superseded it.
    pub(super) fn attach(
        self: &Arc<Self>,
        epoch: u64,
        handshake: &Handshake,
        session: Session,
        out: mpsc::Sender<BackendMessage>,
    ) -> bool {
        let latest = self.latest();
        if latest.epoch != epoch {
            return false;
        }
        let entries = handshake.unacknowledged.clone();
        let last = latest.finished.clone().map(BackendMessage::Finished);
        if let Some(last) = last {
            // The queue is new, so there is room.
            let _ = out.try_send(last);
        }
        if !self.calls.attach(out, handshake.journal, entries) {
            return false;
        }
        self.calls.events.emit(SessionEvent::Attached {
            epoch,
            refused: session.toolbelt().refused().to_vec(),
        });
        drop(latest);
        self.session.send_if_modified(|there| {
            let new = there.is_none();
            if new {
                *there = Some(session);
            }
            new
        });
        true
    }

    pub(super) fn detach(&self, epoch: u64) {
        let mut latest = self.latest();
        if latest.epoch == epoch && !std::mem::replace(&mut latest.gone, true) {
            self.calls.detach();
        }
    }

    /// Closes the latest connection, and accepts no other.
    pub(super) fn dismiss(&self) {
        {
            let mut latest = self.latest();
            latest.epoch = u64::MAX;
            latest.over.cancel();
        }
        self.calls.close(TASK_CLOSED);
    }

    /// Returns why a connection of this executor is closed once it is superseded.
    pub(super) fn close_reason(&self, journal: JournalId) -> CloseReason {
        if self.calls.is_taken_over() {
            return (CloseCode::Away, OWNED_ELSEWHERE);
        }
        let latest = self.latest();
        if latest.epoch == u64::MAX {
            return (CloseCode::Policy, TASK_CLOSED);
        }
        if latest.journal == Some(journal) {
            return (CloseCode::Again, REPLACED);
        }
        (CloseCode::Policy, SUPERSEDED)
    }

    /// Ends the task; the executor learns it now, or when it reconnects.
    pub(super) async fn finish(&self, finished: Finished) {
        if let Ok(false) = self.calls.is_owner().await {
            tracing::warn!(task = %self.id, "{TAKEN_OVER}, and cannot be ended from here");
            return;
        }
        if let Err(error) = self.calls.task_store.finish(&finished).await {
            // Harmless: another process would wait for an executor that has nothing to do.
            tracing::warn!(task = %self.id, %error, "the end of a task could not be written");
        }
        self.latest().finished = Some(finished.clone());
        let success = finished.success;
        self.calls.events.emit(SessionEvent::Finished { success });
        self.calls.send(BackendMessage::Finished(finished)).await;
        self.calls.close("the task is over");
    }
}

/// A task to which an executor may connect, from the moment it is open.
#[derive(Clone, Debug)]
#[must_use]
pub struct Task {
    pub(super) open: Arc<OpenTask>,
    pub(super) address: Arc<str>,
}

impl Task {
    /// Returns its id, which is part of the address.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.open.id
    }

    /// Returns the address its executor connects to.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Returns the tools of the task: those of the first executor that was accepted; `None` before.
    ///
    /// A reopened task has them at once, whether its executor is connected or not.
    #[must_use]
    pub fn toolbelt(&self) -> Option<Arc<Toolbelt>> {
        self.open.pinned.get().cloned()
    }

    /// Returns whether an executor is connected at this moment.
    ///
    /// It is `false` before the first executor is accepted, and while a connection that broke has not been replaced.
    #[must_use]
    pub fn is_attached(&self) -> bool {
        self.open.calls.is_attached()
    }

    /// Waits until an executor has connected and its tools are accepted.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Gone`] when the backend has stopped; [`RemoteError::TakenOver`] when another backend has taken the
    /// task over.
    pub async fn attached(&self) -> Result<Session, RemoteError> {
        let mut session = self.open.session.subscribe();
        let there = tokio::select! {
            biased;
            () = self.open.calls.moved() => return Err(RemoteError::TakenOver { task: self.id() }),
            there = session.wait_for(Option::is_some) => there,
            () = self.open.calls.stopped() => return Err(RemoteError::Gone),
        };
        let there = there.map_err(|_| RemoteError::Gone)?;
        there.clone().ok_or(RemoteError::Gone)
    }

    /// Tells the executor that the task is over: now, or when it reconnects, even to another process.
    ///
    /// If another backend has taken the task over, nothing is sent: the task is not over.
    pub async fn finish(&self, success: bool, message: impl Into<String>) {
        let message = message.into();
        self.open.finish(Finished { success, message }).await;
    }

    /// Waits until all calls that an earlier process left open have ended.
    ///
    /// Their ends are those of the executor's journal; when it does not come back in time, they end as unknown.
    pub async fn settled(&self) {
        self.open.calls.settled().await;
    }

    /// Asks the executor, if it is attached, to cancel the calls that an earlier process left open.
    ///
    /// They end when the executor says so; [`settled`](Self::settled) waits for that.
    pub async fn cancel_orphaned(&self) {
        self.open.calls.cancel_orphaned().await;
    }

    /// Returns the latest calls of the task with their ends, including those of earlier processes, oldest first; of the
    /// ended ones the latest 1,000 are kept, or fewer if they exceed 64 MiB.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Store`] when they cannot be read.
    pub async fn calls(&self) -> Result<Vec<CallRecord>, RemoteError> {
        Ok(self.open.calls.task_store.call_records().await?)
    }
}
