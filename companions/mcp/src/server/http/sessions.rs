//! HTTP sessions, with a limit, an idle timeout and eviction.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use contract_runtime::Run;
use futures_util::future::ready;
use futures_util::{Stream, StreamExt as _, stream};
use parking_lot::{Mutex, MutexGuard};
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionHandle, LocalSessionManager, LocalSessionManagerError,
    SessionError as RmcpSessionError, StreamableHttpMessageReceiver,
};
use rmcp::transport::streamable_http_server::session::{
    EventStoreError, EventStream, ServerSseMessage, SessionId, SessionManager,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::events::{Events, SessionEvents};
use super::open_streams::OpenStreams;
use super::session_error::SessionError;
use super::session_stream::{BusyGuard, PendingRequest, SessionStream};
use crate::server::call::CallSession;
use crate::server::hooks::Hooks;
use crate::server::notifications::WantedLevel;
use crate::server::revision::Revision;

/// How long a session may be idle before it ends.
const IDLE: Duration = Duration::from_secs(30 * 60);

/// How long a client should wait before it resumes a broken stream.
const RETRY: Duration = Duration::from_secs(3);

/// The id of the event that begins a stream of no request. Other events are numbered from 1.
const START: &str = "0";

/// How rmcp names the stream of a session that belongs to no request.
fn common(id: &SessionId) -> String {
    format!("{id}:common")
}

/// The number of an event.
fn number(event: &ServerSseMessage) -> Option<u64> {
    event.event_id.as_deref()?.parse().ok()
}

fn received(events: StreamableHttpMessageReceiver) -> EventStream {
    let mut events = events.inner;
    Box::pin(stream::poll_fn(move |task| events.poll_recv(task)))
}

/// The sessions of clients whose revision has them, up to a limit.
///
/// rmcp has no limit, and ends each session after five minutes without an event, even while a call runs. Here a session with a
/// pending request is never ended; of the others, the one that has been idle longest is evicted.
pub(super) struct Sessions {
    events: Arc<Events>,
    table: Mutex<HashMap<SessionId, Session>>,
    limit: usize,
    hooks: Hooks,
}

#[derive(Clone)]
struct Session {
    handle: LocalSessionHandle,
    events: Arc<SessionEvents>,
    /// Whether its client has opened a stream that belongs to no request.
    was_listened_to: bool,
    streams: OpenStreams,
    at: Instant,
    open: Arc<AtomicUsize>,
    /// The ids of pending requests.
    waiting: Arc<Mutex<HashSet<RequestId>>>,
    /// Cancelled when the session ends; rmcp would let its calls go on for seconds.
    end: CancellationToken,
    /// What its calls are part of.
    run: Run,
    /// Which log messages its client wants.
    level: WantedLevel,
    /// `None` before it is negotiated.
    revision: Option<Revision>,
    /// Who began it, where that is checked.
    principal: Option<Arc<str>>,
}

#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error(transparent)]
    Refused(#[from] SessionError),
    #[error(transparent)]
    Local(LocalSessionManagerError),
    #[error(transparent)]
    Events(EventStoreError),
}

impl From<LocalSessionManagerError> for SessionsError {
    fn from(error: LocalSessionManagerError) -> Self {
        match error {
            // It ended after rmcp had looked it up.
            LocalSessionManagerError::SessionNotFound(_)
            | LocalSessionManagerError::SessionError(RmcpSessionError::SessionServiceTerminated) => {
                SessionError::Ended.record().into()
            }
            other => Self::Local(other),
        }
    }
}

impl From<RmcpSessionError> for SessionsError {
    fn from(error: RmcpSessionError) -> Self {
        LocalSessionManagerError::from(error).into()
    }
}

impl Sessions {
    pub(super) fn new(limit: usize, kept_bytes: usize, hooks: Hooks) -> Self {
        Self {
            events: Events::new(kept_bytes),
            table: Mutex::default(),
            limit,
            hooks,
        }
    }

    fn table(&self) -> MutexGuard<'_, HashMap<SessionId, Session>> {
        self.table.lock()
    }

    /// Ends sessions that have been idle for too long.
    pub(super) async fn sweep(&self) {
        let now = Instant::now();
        let over: Vec<SessionId> = self
            .table()
            .iter()
            .filter(|(_, session)| session.is_idle() && now.duration_since(session.at) >= IDLE)
            .map(|(id, _)| Arc::clone(id))
            .collect();
        for id in over {
            self.forget(&id).await;
        }
    }

    /// Returns what a call needs of its session.
    pub(super) fn of_call(&self, id: &str) -> Option<CallSession> {
        let table = self.table();
        let (id, session) = table.get_key_value(id)?;
        Some(CallSession {
            id: Some(Arc::clone(id)),
            end: session.end.clone(),
            run: session.run.clone(),
            level: session.level.clone(),
        })
    }

    /// Whether the streams of a session may have events without data.
    fn has_empty_events(&self, id: &SessionId) -> bool {
        let table = self.table();
        let revision = table.get(id).and_then(|session| session.revision);
        revision.is_none_or(Revision::has_empty_events)
    }

    /// Returns the negotiated revision of a session.
    pub(super) fn revision(&self, id: &str) -> Option<Revision> {
        self.table().get(id)?.revision
    }

    /// Makes a session one of a principal, for good.
    pub(super) fn bind(&self, id: &str, principal: Arc<str>) {
        if let Some(session) = self.table().get_mut(id) {
            session.principal.get_or_insert(principal);
        }
    }

    /// Whether there is such a session, and this principal began it.
    pub(super) fn is_of(&self, id: &str, principal: &str) -> bool {
        let table = self.table();
        let session = table.get(id);
        session.is_some_and(|session| session.principal.as_deref() == Some(principal))
    }

    /// Removes a session from the table and ends its calls.
    fn remove(&self, id: &SessionId) {
        let removed = self.table().remove(id);
        if let Some(session) = removed {
            session.end.cancel();
        }
    }

    async fn forget(&self, id: &SessionId) {
        let handle = self.handle(id);
        self.remove(id);
        if let Ok(handle) = handle {
            // It is out of the table, whether or not its task could be notified.
            let _ = handle.close().await;
        }
    }

    fn handle(&self, id: &SessionId) -> Result<LocalSessionHandle, SessionsError> {
        let table = self.table();
        let session = table.get(id);
        let session = session.ok_or_else(|| SessionError::Ended.record())?;
        Ok(session.handle.clone())
    }

    fn events_of(&self, id: &SessionId) -> Result<Arc<SessionEvents>, SessionsError> {
        let table = self.table();
        let session = table.get(id);
        let session = session.ok_or_else(|| SessionError::Ended.record())?;
        Ok(Arc::clone(&session.events))
    }

    /// What was sent to a client before it listened for the first time, which must not be lost, and what it is to hear next.
    async fn listen(&self, id: &SessionId) -> Result<EventStream, SessionsError> {
        let handle = self.handle(id)?;
        // rmcp would let the earlier stream go on and tell the new one nothing.
        handle.close_standalone_sse_stream(None).await?;
        let heard = handle.establish_common_channel().await?;
        let (first, events) = {
            let mut table = self.table();
            let session = table.get_mut(id);
            let session = session.ok_or_else(|| SessionError::Ended.record())?;
            let first = !std::mem::replace(&mut session.was_listened_to, true);
            (first, Arc::clone(&session.events))
        };
        let missed = if first {
            events.kept(&common(id))
        } else {
            Vec::new()
        };
        let last = missed.iter().filter_map(number).next_back();
        // What came in between is on both.
        let heard = received(heard).filter(move |event| ready(number(event) > last));
        Ok(Box::pin(stream::iter(missed).chain(heard)))
    }

    /// Gives a stream that was opened by `GET` its place, which ends the streams that it displaces.
    fn opened(
        &self,
        id: &SessionId,
        name: String,
        events: EventStream,
    ) -> Result<SessionStream, SessionsError> {
        let mut table = self.table();
        let session = table.get_mut(id);
        let session = session.ok_or_else(|| SessionError::Ended.record())?;
        let end = session.streams.open(name);
        Ok(SessionStream {
            first: None,
            stream: Box::pin(events.take_until(end.clone().cancelled_owned())),
            empty_events: session.revision.is_none_or(Revision::has_empty_events),
            _busy: None,
            _waiting: None,
            _open: Some(end.drop_guard()),
        })
    }

    /// Returns the session to evict, if there is no room for another.
    fn to_evict(&self) -> Result<Option<SessionId>, SessionsError> {
        let table = self.table();
        if table.len() < self.limit {
            return Ok(None);
        }
        let idle = table.iter().filter(|(_, session)| session.is_idle());
        let oldest = idle.min_by_key(|(_, session)| session.at);
        let limit = self.limit;
        oldest
            .map(|(id, _)| Some(Arc::clone(id)))
            .ok_or_else(|| SessionError::Full { limit }.record().into())
    }

    /// Reserves the id of a request until the returned guard is dropped.
    fn wait(
        &self,
        session: &SessionId,
        message: &ClientJsonRpcMessage,
    ) -> Result<Option<PendingRequest>, SessionsError> {
        let ClientJsonRpcMessage::Request(request) = message else {
            return Ok(None);
        };
        let Some(ids) = self.table().get(session).map(|s| Arc::clone(&s.waiting)) else {
            return Ok(None);
        };
        let id = request.id.clone();
        let free = {
            let mut ids = ids.lock();
            ids.insert(id.clone())
        };
        if free {
            Ok(Some(PendingRequest { id, ids }))
        } else {
            Err(SessionError::InUse { id }.record().into())
        }
    }

    /// Marks a session as used, and as busy until the returned guard is dropped.
    fn busy(&self, id: &SessionId) -> BusyGuard {
        let mut table = self.table();
        let Some(session) = table.get_mut(id) else {
            return BusyGuard(Arc::default());
        };
        session.at = Instant::now();
        session.open.fetch_add(1, Ordering::Relaxed);
        BusyGuard(Arc::clone(&session.open))
    }
}

impl Session {
    fn is_idle(&self) -> bool {
        self.open.load(Ordering::Relaxed) == 0
    }
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        while let Some(oldest) = self.to_evict()? {
            self.forget(&oldest).await;
        }
        let end = CancellationToken::new();
        let events = Arc::new(self.events.session(end.clone()));
        // A manager of one session, because rmcp has one store of events for all sessions of a manager.
        let mut manager = LocalSessionManager::default().with_event_store(events.clone());
        manager.session_config.keep_alive = None;
        let (id, transport) = manager.create_session().await?;
        let handle = manager.sessions.into_inner().remove(&id);
        let session = Session {
            handle: handle.ok_or_else(|| SessionError::Ended.record())?,
            events,
            was_listened_to: false,
            streams: OpenStreams::default(),
            at: Instant::now(),
            open: Arc::default(),
            waiting: Arc::default(),
            end,
            run: self.hooks.session(),
            level: WantedLevel::default(),
            revision: None,
            principal: None,
        };
        self.table().insert(Arc::clone(&id), session);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let _busy = self.busy(id);
        let answer = self.handle(id)?.initialize(message).await?;
        if let ServerJsonRpcMessage::Response(response) = &answer
            && let ServerResult::InitializeResult(result) = &response.result
            && let Some(session) = self.table().get_mut(id)
        {
            session.revision = Some(Revision::of(&result.protocol_version));
        }
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.table().contains_key(id))
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.forget(id).await;
        Ok(())
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let busy = self.busy(id);
        let waiting = self.wait(id, &message)?;
        let handle = self.handle(id)?;
        let events = handle.establish_request_wise_channel().await?;
        handle.push_message(message, events.http_request_id).await?;
        Ok(SessionStream {
            first: None,
            stream: received(events),
            empty_events: self.has_empty_events(id),
            _busy: Some(busy),
            _waiting: waiting,
            _open: None,
        })
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        let _busy = self.busy(id);
        Ok(self.handle(id)?.push_message(message, None).await?)
    }

    /// It carries little, so a session with an open stream may be idle.
    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        drop(self.busy(id));
        let events = self.listen(id).await?;
        Ok(SessionStream {
            first: Some(ServerSseMessage::priming(START, RETRY)),
            ..self.opened(id, common(id), events)?
        })
    }

    async fn resume(
        &self,
        id: &SessionId,
        last: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let events = self.events_of(id)?;
        let common = common(id);
        let (name, stream) = if last == START {
            (common.clone(), events.whole(&common))
        } else {
            events.after(&last).map_err(SessionsError::Events)?
        };
        let busy = self.busy(id);
        Ok(SessionStream {
            _busy: (name != common).then_some(busy),
            ..self.opened(id, name, stream)?
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_session_that_is_idle_for_too_long_ends() -> Result<(), SessionsError> {
        let sessions = Sessions::new(64, 64 << 20, Hooks::default());
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
        assert!(sessions.table().is_empty());
        Ok(())
    }
}
