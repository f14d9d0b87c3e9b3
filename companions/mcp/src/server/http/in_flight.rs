//! Counts requests in flight, for a graceful shutdown.

use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::Notify;

use super::service::HttpService;

/// The requests whose responses have not been sent in full.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<Counter>);

#[derive(Debug, Default)]
struct Counter {
    count: AtomicUsize,
    empty: Notify,
}

impl InFlight {
    pub(super) fn begin(&self) -> InFlightGuard {
        self.0.count.fetch_add(1, Ordering::SeqCst);
        InFlightGuard(self.clone())
    }

    pub(super) async fn drained(&self) {
        loop {
            // Registered before the count is read, so that no wake-up in between is lost.
            let mut empty = pin!(self.0.empty.notified());
            empty.as_mut().enable();
            if self.0.count.load(Ordering::SeqCst) == 0 {
                return;
            }
            empty.await;
        }
    }
}

/// Counts one request until it is dropped.
#[derive(Debug)]
pub(super) struct InFlightGuard(InFlight);

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        let sky = &self.0.0;
        if sky.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            sky.empty.notify_waiters();
        }
    }
}

/// A response body that counts as in flight until it is sent or dropped.
pub(super) struct InFlightBody {
    pub(super) body: BoxBody<Bytes, Infallible>,
    pub(super) _guard: InFlightGuard,
    /// Keeps the service alive, which would end the stream when it is dropped.
    pub(super) _service: HttpService,
}

impl Body for InFlightBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(task)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
