#[cfg(feature = "redis")]
mod afar;

use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::{mpsc, watch};
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_util::sync::CancellationToken;

#[cfg(feature = "redis")]
pub(super) use afar::{Host, may_be_outdated};

use super::calls::{Calls, TAKEN_OVER};
use super::entry::Entrance;
use super::event::SessionEvent;
use super::line::OVER;
#[cfg(feature = "redis")]
use super::post::Post;
use super::session::Session;
use super::settings::Settings;
use super::settled::Kept;
use crate::remote::RemoteError;
use crate::remote::protocol::{
    BackendMessage, ExecutorMessage, Finished, Handshake, JournalId, TaskId,
};
use crate::remote::safeguards::Watch;
use crate::remote::store::StoreError;
use crate::remote::store::ledger::{KeptCall, Ledger};
use crate::remote::toolbelt::Toolbelt;

/// Why an executor is sent away whose task is gone.
const FORGOTTEN: &str = "the task was closed";

/// Why an executor is asked to dial again.
pub(super) const MOVED: &str = "the task is at home elsewhere now; dial again";

/// Why an executor is asked to dial again that another backend has heard too: which of its connections it has left behind,
/// only the executor knows.
pub(super) const ELSEWHERE: &str = "another connection of this executor counts now; dial again";

/// What an executor is told at the end of its connection.
pub(super) type Farewell = (CloseCode, &'static str);

/// Whose handshake is taken now; others of the task wait.
pub(super) type Turn<'o> = tokio::sync::MutexGuard<'o, ()>;

/// A task that an executor may dial in for.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) id: TaskId,
    pub(super) token_hash: [u8; 32],
    pub(super) settings: Arc<Settings>,
    pub(super) calls: Arc<Calls>,
    pub(super) watch: Arc<Watch>,
    /// The task is at home elsewhere, and its messages are handed on.
    #[cfg(feature = "redis")]
    pub(super) post: Option<Arc<Post>>,
    /// Who this backend is, for the store.
    owner: Arc<str>,
    /// The tools that are in the store as those of the task.
    pub(super) settled: OnceLock<Arc<Toolbelt>>,
    pub(super) session: watch::Sender<Option<Session>>,
    line: Mutex<Line>,
    /// Who is claiming the task now.
    claim: tokio::sync::Mutex<()>,
}

/// The latest connection of a task.
#[derive(Debug, Default)]
struct Line {
    epoch: u64,
    /// Ends it when the next takes over.
    over: CancellationToken,
    gone: bool,
    /// Of the executor.
    journal: Option<JournalId>,
    /// It came in at another backend, perhaps before the one that it ended.
    is_afar: bool,
    /// Where the executor is attached, if it is not here.
    #[cfg(feature = "redis")]
    host: Option<Host>,
    /// The latest connection at another backend that cannot count any more: it was heard of before it was said to be there, or
    /// was there before this process was the home; 0 when there is none.
    #[cfg(feature = "redis")]
    early: u64,
    finished: Option<Finished>,
}

impl Line {
    /// The next connection counts.
    fn taken_over(&mut self, epoch: u64, journal: JournalId) -> CancellationToken {
        self.over.cancel();
        self.epoch = epoch;
        self.gone = false;
        self.journal = Some(journal);
        self.is_afar = false;
        #[cfg(feature = "redis")]
        {
            self.host = None;
        }
        self.over = CancellationToken::new();
        self.over.clone()
    }
}

impl Open {
    pub(super) fn new(
        id: TaskId,
        token_hash: [u8; 32],
        settings: Arc<Settings>,
        ledger: Ledger,
        owner: Arc<str>,
        entrance: Arc<Entrance>,
        #[cfg(feature = "redis")] post: Option<Arc<Post>>,
    ) -> Arc<Self> {
        Arc::new(Self {
            id,
            token_hash,
            calls: Calls::new(ledger, settings.grace, entrance),
            watch: Arc::new(Watch::new(settings.safeguards)),
            settings,
            #[cfg(feature = "redis")]
            post,
            owner,
            settled: OnceLock::new(),
            session: watch::Sender::new(None),
            line: Mutex::default(),
            claim: tokio::sync::Mutex::default(),
        })
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on where an earlier process was.
    pub(super) fn recall(&self, kept: Kept) {
        if let Some(settled) = kept.settled {
            let _ = self.settled.set(Arc::new(settled));
        }
        self.line().finished = kept.finished;
        self.calls.left_behind(kept.calls);
    }

    /// Waits for those who came before.
    pub(super) async fn turn(&self) -> Turn<'_> {
        self.claim.lock().await
    }

    /// The next epoch and what ends it; else what the executor is told, one that another has taken over from.
    pub(super) async fn claim(
        &self,
        handshake: &Handshake,
        _turn: Turn<'_>,
    ) -> Result<Result<(u64, CancellationToken), Farewell>, StoreError> {
        let ledger = &self.calls.ledger;
        let journal = handshake.journal;
        let claim = ledger.claim(&self.owner, journal, handshake.epoch);
        let Some(epoch) = claim.await? else {
            return Ok(Err((CloseCode::Policy, OVER)));
        };
        {
            let mut line = self.line();
            if epoch > line.epoch {
                return Ok(Ok((epoch, line.taken_over(epoch, journal))));
            }
        }
        // A later claim was answered sooner.
        Ok(Err(self.farewell(journal)))
    }

    /// What the executor says of its calls.
    pub(super) fn hear(&self, message: ExecutorMessage) {
        match message {
            ExecutorMessage::ToolResult(reply) => self.calls.replied(*reply),
            ExecutorMessage::Cancelled(cancelled) => self.calls.replied(cancelled.into()),
            ExecutorMessage::ToolProgress(told) => self.calls.reported(told),
            ExecutorMessage::Fault(_) => {
                tracing::warn!(task = %self.id, "the executor took a message for none");
            }
            // The line itself has dealt with these.
            ExecutorMessage::Handshake(_) | ExecutorMessage::Ping | ExecutorMessage::Pong => {}
        }
    }

    /// The connection counts from here on; `false` if a later one has taken over.
    pub(super) fn attached(
        self: &Arc<Self>,
        epoch: u64,
        handshake: &Handshake,
        session: Session,
        out: mpsc::Sender<BackendMessage>,
    ) -> bool {
        let line = self.line();
        if line.epoch != epoch {
            return false;
        }
        // At another backend they were written down before.
        self.settled.get_or_init(|| Arc::clone(&session.toolbelt));
        let entries = handshake.unacknowledged.clone();
        let last = line.finished.clone().map(BackendMessage::Finished);
        if let Some(last) = last {
            // The queue is new, so there is room.
            let _ = out.try_send(last);
        }
        if !self.calls.attached(out, handshake.journal, entries) {
            return false;
        }
        self.calls.events.tell(SessionEvent::Attached {
            epoch,
            refused: session.toolbelt().refused().to_vec(),
        });
        drop(line);
        self.session.send_if_modified(|there| {
            let new = there.is_none();
            if new {
                *there = Some(session);
            }
            new
        });
        true
    }

    pub(super) fn detached(&self, epoch: u64) {
        let mut line = self.line();
        if line.epoch == epoch && !std::mem::replace(&mut line.gone, true) {
            #[cfg(feature = "redis")]
            {
                line.host = None;
            }
            self.calls.lost();
        }
    }

    /// Ends the connection that counts, and lets no other one count.
    pub(super) fn dismiss(&self) {
        {
            let mut line = self.line();
            line.epoch = u64::MAX;
            line.over.cancel();
        }
        self.calls.close(FORGOTTEN);
    }

    /// Why a connection of this executor ends that counts no more.
    pub(super) fn farewell(&self, journal: JournalId) -> Farewell {
        if self.calls.has_moved() {
            return (CloseCode::Away, MOVED);
        }
        let line = self.line();
        if line.epoch == u64::MAX {
            return (CloseCode::Policy, FORGOTTEN);
        }
        if line.is_afar && line.journal == Some(journal) {
            return (CloseCode::Again, ELSEWHERE);
        }
        (CloseCode::Policy, OVER)
    }

    /// Ends the task: the executor is told now, or when it comes back.
    pub(super) async fn finish(&self, finished: Finished) {
        if let Ok(false) = self.calls.is_home().await {
            tracing::warn!(task = %self.id, "{TAKEN_OVER}, and is not ended from here");
            return;
        }
        if let Err(error) = self.calls.ledger.finish(&finished).await {
            // Another process would only wait for an executor that has nothing to do.
            tracing::warn!(task = %self.id, %error, "the end of a task could not be written");
        }
        self.line().finished = Some(finished.clone());
        let success = finished.success;
        self.calls.events.tell(SessionEvent::Finished { success });
        self.calls.say(BackendMessage::Finished(finished)).await;
        self.calls.close("the task is over");
    }
}

/// What an executor dials in for; it may dial in once the task is there.
#[derive(Clone, Debug)]
#[must_use]
pub struct Task {
    pub(super) open: Arc<Open>,
    pub(super) address: Arc<str>,
}

impl Task {
    /// Its id, which is part of the address.
    #[must_use]
    pub fn id(&self) -> TaskId {
        self.open.id
    }

    /// Where its executor dials in.
    #[must_use]
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The tools of the task: those of the first executor that was let in; none before.
    ///
    /// They are known at once when a task is opened again, whether its executor is back or not.
    #[must_use]
    pub fn toolbelt(&self) -> Option<Arc<Toolbelt>> {
        self.open.settled.get().cloned()
    }

    /// Waits until an executor has been let in and its tools are taken.
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
            () = self.open.calls.gone() => return Err(RemoteError::Gone),
        };
        let there = there.map_err(|_| RemoteError::Gone)?;
        there.clone().ok_or(RemoteError::Gone)
    }

    /// Tells the executor that the task is over: now, or when it comes back, even to another process.
    ///
    /// Where another backend has taken the task over, nothing is told: it is not over there.
    pub async fn finish(&self, success: bool, message: impl Into<String>) {
        let message = message.into();
        self.open.finish(Finished { success, message }).await;
    }

    /// Waits until nothing is open any more of the calls that an earlier process left behind.
    ///
    /// Their ends are those of the executor's journal; when it does not come back in time, they end as unknown.
    pub async fn settled(&self) {
        self.open.calls.settled().await;
    }

    /// Asks the executor, if it is attached, to end the calls that an earlier process left behind.
    ///
    /// They end when the executor says so, as [`settled`](Self::settled) shows.
    pub async fn cancel_left_behind(&self) {
        self.open.calls.cancel_left_behind().await;
    }

    /// The latest calls of the task with their ends, those of earlier processes too, the oldest first; of those that have
    /// ended the latest 1,000 are kept, or fewer where they come to more than 64 MiB.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Store`] when they cannot be read.
    pub async fn calls(&self) -> Result<Vec<KeptCall>, RemoteError> {
        Ok(self.open.calls.ledger.kept_calls().await?)
    }
}
