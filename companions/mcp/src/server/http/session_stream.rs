//! A stream of a session's events, and what it holds while it is open.

use std::collections::HashSet;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use futures_util::Stream;
use parking_lot::Mutex;
use rmcp::model::RequestId;
use rmcp::transport::streamable_http_server::session::{EventStream, ServerSseMessage};
use tokio_util::sync::DropGuard;

/// Keeps a session from being idle.
pub(super) struct BusyGuard(pub(super) Arc<AtomicUsize>);

impl Drop for BusyGuard {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// A pending request; a second one with its id would receive its response.
pub(super) struct PendingRequest {
    pub(super) id: RequestId,
    pub(super) ids: Arc<Mutex<HashSet<RequestId>>>,
}

impl Drop for PendingRequest {
    fn drop(&mut self) {
        let mut ids = self.ids.lock();
        ids.remove(&self.id);
    }
}

/// A stream of events, which keeps its session busy.
pub(super) struct SessionStream {
    /// The first event.
    pub(super) first: Option<ServerSseMessage>,
    pub(super) stream: EventStream,
    pub(super) empty_events: bool,
    pub(super) _busy: Option<BusyGuard>,
    pub(super) _waiting: Option<PendingRequest>,
    pub(super) _open: Option<DropGuard>,
}

impl Stream for SessionStream {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let empty_events = self.empty_events;
        let may_be_sent = |event: &ServerSseMessage| empty_events || event.message.is_some();
        if let Some(first) = self.first.take_if(|first| may_be_sent(first)) {
            return Poll::Ready(Some(first));
        }
        loop {
            match std::task::ready!(self.stream.as_mut().poll_next(task)) {
                Some(event) if !may_be_sent(&event) => {}
                other => return Poll::Ready(other),
            }
        }
    }
}
