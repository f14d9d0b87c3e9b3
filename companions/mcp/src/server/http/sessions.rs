//! HTTP sessions, with a limit, an idle timeout and eviction.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};
use std::time::Duration;

use contract_runtime::Run;
use futures_util::future::ready;
use futures_util::{Stream, StreamExt as _, stream};
use parking_lot::Mutex;
use rmcp::model::{ClientJsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult};
use rmcp::transport::streamable_http_server::session::local::{
    LocalSessionHandle, LocalSessionManager, StreamableHttpMessageReceiver,
};
use rmcp::transport::streamable_http_server::session::{
    EventStream, ServerSseMessage, SessionId, SessionManager,
};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::events::{Events, SessionEvents};
use super::session_error::SessionError;
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

/// How many streams of one session are open at once, each of which holds a connection. One more ends the oldest, whose client can
/// come back for what follows.
const OPEN_STREAMS: usize = 16;

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

struct Session {
    handle: LocalSessionHandle,
    events: Arc<SessionEvents>,
    /// Whether its client has opened a stream that belongs to no request.
    was_listened_to: bool,
    /// The streams that its client has opened by `GET`, by their names, the oldest first.
    streams: VecDeque<(String, CancellationToken)>,
    at: Instant,
    /// Shared by everything that keeps the session from being idle.
    busy: Arc<()>,
    /// The pending requests, as long as their streams hold them: a second one with the id of another would receive its response.
    pending: HashMap<RequestId, Weak<()>>,
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

impl Sessions {
    pub(super) fn new(limit: usize, kept_bytes: usize, hooks: Hooks) -> Self {
        Self {
            events: Events::new(kept_bytes),
            table: Mutex::default(),
            limit,
            hooks,
        }
    }

    /// Does something with a session, if there is one of this id.
    fn with<T>(&self, id: &str, then: impl FnOnce(&mut Session) -> T) -> Result<T, SessionError> {
        let mut table = self.table.lock();
        let session = table
            .get_mut(id)
            .ok_or_else(|| SessionError::Ended.record())?;
        Ok(then(session))
    }

    /// Ends sessions that have been idle for too long.
    pub(super) async fn sweep(&self) {
        let now = Instant::now();
        let over: Vec<SessionId> = self
            .table
            .lock()
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
        let table = self.table.lock();
        let (id, session) = table.get_key_value(id)?;
        Some(CallSession {
            id: Some(Arc::clone(id)),
            end: session.end.clone(),
            run: session.run.clone(),
            level: session.level.clone(),
        })
    }

    /// Returns the negotiated revision of a session.
    pub(super) fn revision(&self, id: &str) -> Option<Revision> {
        self.table.lock().get(id)?.revision
    }

    /// Makes a session one of a principal, for good.
    pub(super) fn bind(&self, id: &str, principal: Arc<str>) {
        if let Some(session) = self.table.lock().get_mut(id) {
            session.principal.get_or_insert(principal);
        }
    }

    /// Whether there is such a session, and this principal began it.
    pub(super) fn is_of(&self, id: &str, principal: &str) -> bool {
        let table = self.table.lock();
        let session = table.get(id);
        session.is_some_and(|session| session.principal.as_deref() == Some(principal))
    }

    /// Removes a session from the table and ends its calls.
    fn remove(&self, id: &SessionId) {
        let removed = self.table.lock().remove(id);
        if let Some(session) = removed {
            session.end.cancel();
        }
    }

    async fn forget(&self, id: &SessionId) {
        let handle = self.with(id, |session| session.handle.clone());
        self.remove(id);
        if let Ok(handle) = handle {
            // It is out of the table, whether or not its task could be notified.
            let _ = handle.close().await;
        }
    }

    /// What was sent to a client before it listened for the first time, which must not be lost, and what it is to hear next.
    async fn listen(&self, id: &SessionId) -> Result<EventStream, SessionError> {
        let handle = self.with(id, |session| session.handle.clone())?;
        // rmcp would let the earlier stream go on and tell the new one nothing.
        handle.close_standalone_sse_stream(None).await?;
        let heard = handle.establish_common_channel().await?;
        let (first, events) = self.with(id, |session| {
            let first = !std::mem::replace(&mut session.was_listened_to, true);
            (first, Arc::clone(&session.events))
        })?;
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
    ) -> Result<EventStream, SessionError> {
        self.with(id, |session| {
            let streams = &mut session.streams;
            streams.retain(|(other, end)| {
                if *other == name {
                    end.cancel();
                }
                !end.is_cancelled()
            });
            while streams.len() >= OPEN_STREAMS
                && let Some((_, oldest)) = streams.pop_front()
            {
                oldest.cancel();
            }
            let end = CancellationToken::new();
            streams.push_back((name, end.clone()));
            let events = events.take_until(end.clone().cancelled_owned());
            session.sent(events, end.drop_guard())
        })
    }

    /// Returns the session to evict, if there is no room for another.
    fn to_evict(&self) -> Result<Option<SessionId>, SessionError> {
        let table = self.table.lock();
        if table.len() < self.limit {
            return Ok(None);
        }
        let idle = table.iter().filter(|(_, session)| session.is_idle());
        let oldest = idle.min_by_key(|(_, session)| session.at);
        let limit = self.limit;
        oldest
            .map(|(id, _)| Some(Arc::clone(id)))
            .ok_or_else(|| SessionError::Full { limit }.record())
    }

    /// Marks a session as used, and as busy for as long as the result is held.
    fn busy(&self, id: &SessionId) -> Option<Arc<()>> {
        let busy = self.with(id, |session| {
            session.at = Instant::now();
            Arc::clone(&session.busy)
        });
        busy.ok()
    }
}

impl Session {
    fn is_idle(&self) -> bool {
        Arc::strong_count(&self.busy) == 1
    }

    /// Reserves the id of a request for as long as the result is held.
    fn reserve(&mut self, id: &RequestId) -> Result<Arc<()>, SessionError> {
        self.pending.retain(|_, held| held.strong_count() > 0);
        if self.pending.contains_key(id) {
            let id = id.clone();
            return Err(SessionError::InUse { id }.record());
        }
        let held = Arc::new(());
        self.pending.insert(id.clone(), Arc::downgrade(&held));
        Ok(held)
    }

    /// Returns a stream as it is sent, which holds something until it is dropped.
    fn sent(
        &self,
        events: impl Stream<Item = ServerSseMessage> + Send + Sync + 'static,
        held: impl Send + Sync + 'static,
    ) -> EventStream {
        let empty_events = self.revision.is_none_or(Revision::has_empty_events);
        Box::pin(events.filter(move |event| {
            let _ = &held;
            ready(empty_events || event.message.is_some())
        }))
    }
}

impl SessionManager for Sessions {
    type Error = SessionError;
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
        let created = manager.create_session().await;
        let (id, transport) = created.map_err(|error| SessionError::Other(error.to_string()))?;
        let handle = manager.sessions.into_inner().remove(&id);
        let session = Session {
            handle: handle.ok_or_else(|| SessionError::Ended.record())?,
            events,
            was_listened_to: false,
            streams: VecDeque::new(),
            at: Instant::now(),
            busy: Arc::default(),
            pending: HashMap::new(),
            end,
            run: self.hooks.session(),
            level: WantedLevel::default(),
            revision: None,
            principal: None,
        };
        self.table.lock().insert(Arc::clone(&id), session);
        Ok((id, transport))
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        let _busy = self.busy(id);
        let handle = self.with(id, |session| session.handle.clone())?;
        let answer = handle.initialize(message).await?;
        if let ServerJsonRpcMessage::Response(response) = &answer
            && let ServerResult::InitializeResult(result) = &response.result
        {
            let revision = Revision::of(&result.protocol_version);
            self.with(id, |session| session.revision = Some(revision))?;
        }
        Ok(answer)
    }

    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        Ok(self.table.lock().contains_key(id))
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
        let pending = match &message {
            ClientJsonRpcMessage::Request(request) => {
                Some(self.with(id, |session| session.reserve(&request.id))??)
            }
            _ => None,
        };
        let handle = self.with(id, |session| session.handle.clone())?;
        let events = handle.establish_request_wise_channel().await?;
        handle.push_message(message, events.http_request_id).await?;
        self.with(id, |session| {
            session.sent(received(events), (busy, pending))
        })
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        let _busy = self.busy(id);
        let handle = self.with(id, |session| session.handle.clone())?;
        Ok(handle.push_message(message, None).await?)
    }

    /// It carries little, so a session with an open stream may be idle.
    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        drop(self.busy(id));
        let first = ServerSseMessage::priming(START, RETRY);
        let events = stream::once(ready(first)).chain(self.listen(id).await?);
        self.opened(id, common(id), Box::pin(events))
    }

    async fn resume(
        &self,
        id: &SessionId,
        last: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let events = self.with(id, |session| Arc::clone(&session.events))?;
        let common = common(id);
        let (name, stream) = if last == START {
            (common.clone(), events.whole(&common))
        } else {
            let after = events.after(&last);
            after.map_err(|error| SessionError::Other(error.to_string()))?
        };
        // The stream of no request carries little, so a session with it open may be idle.
        let busy = self.busy(id).filter(|_| name != common);
        let stream = stream.inspect(move |_| {
            let _ = &busy;
        });
        self.opened(id, name, Box::pin(stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_session_that_is_idle_for_too_long_ends() -> Result<(), SessionError> {
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
        assert!(sessions.table.lock().is_empty());
        Ok(())
    }
}
