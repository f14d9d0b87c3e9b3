use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

use super::calls::Calls;
use super::entry::Entrance;
use super::event::SessionEvent;
use super::line::OVER;
#[cfg(feature = "redis")]
use super::post::Post;
use super::session::Session;
use super::settings::Settings;
use crate::remote::RemoteError;
use crate::remote::protocol::{BackendMessage, ExecutorMessage, Finished, Handshake, TaskId};
use crate::remote::safeguards::Watch;
use crate::remote::store::StoreError;
use crate::remote::store::ledger::Ledger;
use crate::remote::toolbelt::Toolbelt;

/// Why an executor is sent away whose task is gone.
const FORGOTTEN: &str = "the task was closed";

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
    session: watch::Sender<Option<Session>>,
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
    /// Where the executor is attached, if it is not here.
    #[cfg(feature = "redis")]
    host: Option<Host>,
    finished: Option<Finished>,
}

/// Another backend, which an executor is attached to.
#[cfg(feature = "redis")]
#[derive(Clone, Debug)]
pub(super) struct Host {
    pub(super) name: String,
    pub(super) epoch: u64,
}

impl Line {
    /// The next connection counts.
    fn taken_over(&mut self, epoch: u64) -> CancellationToken {
        self.over.cancel();
        self.epoch = epoch;
        self.gone = false;
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
            session: watch::Sender::new(None),
            line: Mutex::default(),
            claim: tokio::sync::Mutex::default(),
        })
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session of a handshake; its tools are settled by the first of a task.
    pub(super) fn take(self: &Arc<Self>, handshake: &Handshake) -> Result<Session, String> {
        let taken = Toolbelt::of(handshake, &self.settings.known, &self.settings.limits);
        match &*self.session.borrow() {
            Some(session) if session.toolbelt().same_tools(&taken) => Ok(session.clone()),
            Some(_) => Err("the tools of a task do not change, and these are others".to_owned()),
            None => Session::new(self, Arc::new(taken), &handshake.platform)
                .map_err(|error| error.to_string()),
        }
    }

    /// The next epoch and what ends it; `None` for an executor that another has taken over from.
    pub(super) async fn claim(
        &self,
        handshake: &Handshake,
    ) -> Result<Option<(u64, CancellationToken)>, StoreError> {
        // In the order in which they came: one that an executor has left behind must not take over from its next.
        let _first = self.claim.lock().await;
        let ledger = &self.calls.ledger;
        let claim = ledger.claim(&self.owner, handshake.journal, handshake.epoch);
        let Some(epoch) = claim.await? else {
            return Ok(None);
        };
        let mut line = self.line();
        if epoch <= line.epoch {
            // A later claim was answered sooner.
            return Ok(None);
        }
        Ok(Some((epoch, line.taken_over(epoch))))
    }

    /// The connection of an executor at another backend, and the one before; `None` if a later one counts.
    #[cfg(feature = "redis")]
    pub(super) fn take_over_from_afar(
        &self,
        epoch: u64,
        host: &str,
    ) -> Option<(CancellationToken, Option<Host>)> {
        let mut line = self.line();
        if epoch <= line.epoch {
            return None;
        }
        let earlier = line.host.take();
        let over = line.taken_over(epoch);
        line.host = Some(Host {
            name: host.to_owned(),
            epoch,
        });
        Some((over, earlier))
    }

    #[cfg(feature = "redis")]
    pub(super) fn host(&self) -> Option<Host> {
        self.line().host.clone()
    }

    #[cfg(feature = "redis")]
    pub(super) fn epoch(&self) -> u64 {
        self.line().epoch
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
        let entries = handshake.unacknowledged.clone();
        let last = line.finished.clone().map(BackendMessage::Finished);
        if let Some(last) = last {
            // The queue is new, so there is room.
            let _ = out.try_send(last);
        }
        self.calls.attached(out, handshake.journal, entries);
        let _ = self.calls.events.send(SessionEvent::Attached {
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

    /// The task is over, as an earlier process has written.
    pub(super) fn is_over(&self, finished: Finished) {
        self.line().finished = Some(finished);
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

    /// Why a connection ends that counts no more.
    pub(super) fn farewell(&self) -> &'static str {
        if self.line().epoch == u64::MAX {
            FORGOTTEN
        } else {
            OVER
        }
    }

    /// Ends the task: the executor is told now, or when it comes back.
    pub(super) async fn finish(&self, finished: Finished) {
        if let Err(error) = self.calls.ledger.finish(&finished).await {
            // Another process would only wait for an executor that has nothing to do.
            tracing::warn!(task = %self.id, %error, "the end of a task could not be written");
        }
        self.line().finished = Some(finished.clone());
        let success = finished.success;
        let _ = self.calls.events.send(SessionEvent::Finished { success });
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

    /// Waits until an executor has been let in and its tools are taken.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Gone`] when the backend has stopped.
    pub async fn attached(&self) -> Result<Session, RemoteError> {
        let mut session = self.open.session.subscribe();
        let there = session.wait_for(Option::is_some).await;
        let there = there.map_err(|_| RemoteError::Gone)?;
        there.clone().ok_or(RemoteError::Gone)
    }

    /// Tells the executor that the task is over: now, or when it comes back, even to another process.
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
}
