//! Keeps the events of sessions, so that a client that was away can fetch what it has missed.
//!
//! rmcp 3.11 forgets the events of a request as soon as it has sent the answer, whether or not the client was there; its
//! `completed_cache_ttl` is for cancelled requests alone.

use std::collections::VecDeque;
use std::sync::Arc;

use futures_util::stream;
use parking_lot::Mutex;
use rmcp::model::ServerJsonRpcMessage;
use rmcp::transport::streamable_http_server::session::{
    EventId, EventStore, EventStoreError, EventStream, ServerSseMessage,
};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

/// The approximate memory of an event beyond its message.
const EACH: usize = 512;

/// The events of all sessions, up to a number of bytes; the oldest make room.
pub(super) struct Events {
    limit: usize,
    kept: Mutex<Kept>,
    /// Changes whenever an event is kept.
    changes: watch::Sender<()>,
}

#[derive(Default)]
struct Kept {
    events: VecDeque<Event>,
    bytes: usize,
    /// The number of the last event.
    last: u64,
    last_session: u64,
}

struct Event {
    number: u64,
    session: u64,
    stream: String,
    message: ServerSseMessage,
    bytes: usize,
}

/// Whether nothing follows on the stream of this event.
fn is_last(event: &ServerSseMessage) -> bool {
    matches!(
        event.message.as_deref(),
        Some(ServerJsonRpcMessage::Response(_) | ServerJsonRpcMessage::Error(_))
    )
}

/// The events of one session; they are forgotten when it is dropped.
pub(super) struct SessionEvents {
    all: Arc<Events>,
    session: u64,
    /// Cancelled when the session ends.
    end: CancellationToken,
}

#[derive(Debug, thiserror::Error)]
#[error("the event `{0}` is not kept; the request must be made again")]
struct NotKept(String);

impl Events {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        Arc::new(Self {
            limit,
            kept: Mutex::default(),
            changes: watch::Sender::new(()),
        })
    }

    /// The events of a session, until it ends.
    pub(super) fn session(self: &Arc<Self>, end: CancellationToken) -> SessionEvents {
        let mut kept = self.kept.lock();
        kept.last_session += 1;
        SessionEvents {
            session: kept.last_session,
            all: Arc::clone(self),
            end,
        }
    }

    /// Keeps an event, and returns its number.
    fn keep(&self, session: u64, stream: &str, message: &ServerSseMessage) -> u64 {
        // What cannot be written is not sent either.
        let written = serde_json::to_vec(&message.message).map_or(0, |text| text.len());
        let bytes = EACH + stream.len() + written;
        let number = {
            let mut kept = self.kept.lock();
            kept.last += 1;
            let number = kept.last;
            let mut message = message.clone();
            message.event_id = Some(number.to_string());
            kept.bytes += bytes;
            kept.events.push_back(Event {
                number,
                session,
                stream: stream.to_owned(),
                message,
                bytes,
            });
            while kept.bytes > self.limit
                && let Some(oldest) = kept.events.pop_front()
            {
                kept.bytes -= oldest.bytes;
            }
            number
        };
        self.changes.send_replace(());
        number
    }
}

impl Kept {
    fn forget(&mut self, session: u64) {
        self.events.retain(|event| event.session != session);
        self.bytes = self.events.iter().map(|event| event.bytes).sum();
    }
}

/// What comes next on a stream.
enum Next {
    Event(u64, ServerSseMessage),
    Wait,
    End,
}

/// A reader of one stream of one session.
struct Reader {
    all: Arc<Events>,
    session: u64,
    stream: String,
    after: u64,
    ended: bool,
    changes: watch::Receiver<()>,
    end: CancellationToken,
}

impl Reader {
    fn next(&self) -> Next {
        let kept = self.all.kept.lock();
        let from = kept
            .events
            .partition_point(|event| event.number <= self.after);
        let mut rest = kept.events.range(from..);
        match rest.find(|event| event.session == self.session && event.stream == self.stream) {
            Some(event) => Next::Event(event.number, event.message.clone()),
            None if self.ended => Next::End,
            None => Next::Wait,
        }
    }

    async fn read(mut self) -> Option<(ServerSseMessage, Self)> {
        loop {
            self.changes.mark_unchanged();
            match self.next() {
                Next::Event(number, message) => {
                    self.after = number;
                    self.ended = is_last(&message);
                    return Some((message, self));
                }
                Next::End => return None,
                Next::Wait => tokio::select! {
                    // The sender is one of `all`, which this reader holds.
                    changed = self.changes.changed() => changed.ok()?,
                    () = self.end.cancelled() => return None,
                },
            }
        }
    }
}

impl SessionEvents {
    fn reader(&self, stream: &str, after: u64, ended: bool) -> EventStream {
        let reader = Reader {
            all: Arc::clone(&self.all),
            session: self.session,
            stream: stream.to_owned(),
            after,
            ended,
            changes: self.all.changes.subscribe(),
            end: self.end.clone(),
        };
        Box::pin(stream::unfold(reader, Reader::read))
    }

    /// Returns what is kept of a stream.
    pub(super) fn kept(&self, stream: &str) -> Vec<ServerSseMessage> {
        let kept = self.all.kept.lock();
        let events = kept.events.iter();
        let of_stream = events.filter(|one| one.session == self.session && one.stream == stream);
        of_stream.map(|event| event.message.clone()).collect()
    }

    /// Returns everything of a stream that is kept, and what comes.
    pub(super) fn whole(&self, stream: &str) -> EventStream {
        self.reader(stream, 0, false)
    }

    /// Returns the stream of an event by its name, and what came after the event and what comes, until the stream has ended.
    pub(super) fn after(&self, last: &str) -> Result<(String, EventStream), EventStoreError> {
        let not_kept = || NotKept(last.chars().take(40).collect());
        let number: u64 = last.parse().map_err(|_| not_kept())?;
        let (stream, ended) = {
            let kept = self.all.kept.lock();
            let at = kept
                .events
                .binary_search_by_key(&number, |event| event.number);
            let event = at.ok().and_then(|at| kept.events.get(at));
            let event = event.filter(|event| event.session == self.session);
            let event = event.ok_or_else(not_kept)?;
            (event.stream.clone(), is_last(&event.message))
        };
        let events = self.reader(&stream, number, ended);
        Ok((stream, events))
    }
}

impl Drop for SessionEvents {
    fn drop(&mut self) {
        self.all.kept.lock().forget(self.session);
    }
}

#[async_trait::async_trait]
impl EventStore for SessionEvents {
    async fn store_event(
        &self,
        stream: &str,
        event: &ServerSseMessage,
    ) -> Result<EventId, EventStoreError> {
        Ok(self.all.keep(self.session, stream, event).to_string())
    }

    async fn replay_events_after(&self, last: &str) -> Result<EventStream, EventStoreError> {
        self.after(last).map(|(_, events)| events)
    }
}
