use std::collections::{HashMap, HashSet};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use futures_core::Stream;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionManager, LocalSessionManagerError, SessionError,
};
use rmcp::transport::streamable_http_server::session::{
    ServerSseMessage, SessionId, SessionManager,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::declined::Declined;

/// A session without a request for as long is over.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// The sessions of clients of the older revision, as many as there is room for.
///
/// rmcp keeps as many as clients open, and ends each after five minutes without an event, also while a call runs. Here a
/// session with a request that waits for its answer stays; of the others, the one that was idle for longest makes room.
pub(super) struct Sessions {
    inner: LocalSessionManager,
    seen: Mutex<HashMap<SessionId, Seen>>,
    limit: usize,
}

#[derive(Clone)]
struct Seen {
    at: Instant,
    open: Arc<AtomicUsize>,
    /// The ids of requests that wait for their answer.
    waiting: Arc<Mutex<HashSet<RequestId>>>,
    /// Cancelled when it ends: rmcp lets its calls go on for seconds.
    end: CancellationToken,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error(transparent)]
    Declined(#[from] Declined),
    #[error(transparent)]
    Local(LocalSessionManagerError),
}

impl From<LocalSessionManagerError> for SessionsError {
    fn from(error: LocalSessionManagerError) -> Self {
        match error {
            // It was there when rmcp looked.
            LocalSessionManagerError::SessionNotFound(_)
            | LocalSessionManagerError::SessionError(SessionError::SessionServiceTerminated) => {
                Declined::Ended.noted().into()
            }
            other => Self::Local(other),
        }
    }
}

impl Sessions {
    pub(super) fn new(limit: usize) -> Self {
        let mut inner = LocalSessionManager::default();
        inner.session_config.keep_alive = None;
        Self {
            inner,
            seen: Mutex::default(),
            limit,
        }
    }

    fn seen(&self) -> MutexGuard<'_, HashMap<SessionId, Seen>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Ends what has been idle for too long.
    pub(super) async fn sweep(&self) {
        let now = Instant::now();
        let over: Vec<SessionId> = self
            .seen()
            .iter()
            .filter(|(_, seen)| seen.is_idle() && now.duration_since(seen.at) >= IDLE)
            .map(|(id, _)| Arc::clone(id))
            .collect();
        for id in over {
            self.forget(&id).await;
        }
    }

    /// What is cancelled when the session of this id ends.
    pub(super) fn end(&self, id: &str) -> Option<CancellationToken> {
        Some(self.seen().get(id)?.end.clone())
    }

    /// Ends its calls.
    fn remove(&self, id: &SessionId) {
        let seen = self.seen().remove(id);
        if let Some(seen) = seen {
            seen.end.cancel();
        }
    }

    async fn forget(&self, id: &SessionId) {
        self.remove(id);
        // It is gone from the map, whether or not its task could be told.
        let _ = self.inner.close_session(id).await;
    }

    /// The session that makes room, if one has to.
    fn least(&self) -> Result<Option<SessionId>, SessionsError> {
        let seen = self.seen();
        if seen.len() < self.limit {
            return Ok(None);
        }
        let idle = seen.iter().filter(|(_, seen)| seen.is_idle());
        let least = idle.min_by_key(|(_, seen)| seen.at);
        let limit = self.limit;
        least
            .map(|(id, _)| Some(Arc::clone(id)))
            .ok_or_else(|| Declined::Full { limit }.noted().into())
    }

    /// Takes the id of a request, for as long as what is returned lives.
    fn wait(
        &self,
        session: &SessionId,
        message: &ClientJsonRpcMessage,
    ) -> Result<Option<Waiting>, SessionsError> {
        let ClientJsonRpcMessage::Request(request) = message else {
            return Ok(None);
        };
        let Some(ids) = self.seen().get(session).map(|s| Arc::clone(&s.waiting)) else {
            return Ok(None);
        };
        let id = request.id.clone();
        let free = {
            let mut ids = ids.lock().unwrap_or_else(PoisonError::into_inner);
            ids.insert(id.clone())
        };
        if free {
            Ok(Some(Waiting { id, ids }))
        } else {
            Err(Declined::InUse { id }.noted().into())
        }
    }

    /// Marks a session as used, and as busy for as long as what is returned lives.
    fn busy(&self, id: &SessionId) -> Busy {
        let mut seen = self.seen();
        let Some(seen) = seen.get_mut(id) else {
            return Busy(Arc::default());
        };
        seen.at = Instant::now();
        seen.open.fetch_add(1, Ordering::Relaxed);
        Busy(Arc::clone(&seen.open))
    }
}

impl Seen {
    fn is_idle(&self) -> bool {
        self.open.load(Ordering::Relaxed) == 0
    }
}

struct Busy(Arc<AtomicUsize>);

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A request that waits for its answer; a second one of its id would take the answer's place.
struct Waiting {
    id: RequestId,
    ids: Arc<Mutex<HashSet<RequestId>>>,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut ids = self.ids.lock().unwrap_or_else(PoisonError::into_inner);
        ids.remove(&self.id);
    }
}

/// A stream of a session that is busy with it.
struct Watched<S> {
    stream: Pin<Box<S>>,
    _busy: Option<Busy>,
    _waiting: Option<Waiting>,
}

impl<S: Stream> Stream for Watched<S> {
    type Item = S::Item;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<S::Item>> {
        self.stream.as_mut().poll_next(task)
    }
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        while let Some(least) = self.least()? {
            self.forget(&least).await;
        }
        let (id, transport) = self.inner.create_session().await?;
        let seen = Seen {
            at: Instant::now(),
            open: Arc::default(),
            waiting: Arc::default(),
            end: CancellationToken::new(),
        };
        self.seen().insert(Arc::clone(&id), seen);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let _busy = self.busy(id);
        Ok(self.inner.initialize_session(id, message).await?)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.inner.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.remove(id);
        Ok(self.inner.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let busy = self.busy(id);
        let waiting = self.wait(id, &message)?;
        Ok(Watched {
            stream: Box::pin(self.inner.create_stream(id, message).await?),
            _busy: Some(busy),
            _waiting: waiting,
        })
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        let _busy = self.busy(id);
        Ok(self.inner.accept_message(id, message).await?)
    }

    /// It carries nothing, because tools never change: whoever holds it open is not busy.
    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        drop(self.busy(id));
        Ok(Watched {
            stream: Box::pin(self.inner.create_standalone_stream(id).await?),
            _busy: None,
            _waiting: None,
        })
    }

    async fn resume(
        &self,
        id: &SessionId,
        last: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let busy = self.busy(id);
        Ok(Watched {
            stream: Box::pin(self.inner.resume(id, last).await?),
            _busy: Some(busy),
            _waiting: None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_session_that_is_idle_for_too_long_is_over() -> Result<(), SessionsError> {
        let sessions = Sessions::new(8);
        let (idle, _kept) = sessions.create_session().await?;
        let (busy, _kept_too) = sessions.create_session().await?;
        let open = sessions.busy(&busy);
        tokio::time::advance(IDLE.saturating_sub(Duration::from_secs(1))).await;
        sessions.sweep().await;
        assert!(sessions.has_session(&idle).await?);
        tokio::time::advance(Duration::from_secs(2)).await;
        sessions.sweep().await;
        assert!(!sessions.has_session(&idle).await?);
        assert!(sessions.has_session(&busy).await?);
        drop(open);
        sessions.sweep().await;
        assert!(!sessions.has_session(&busy).await?);
        assert!(sessions.seen().is_empty());
        Ok(())
    }
}
