use std::convert::Infallible;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};

use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::Notify;

/// Requests whose answers are not out yet.
#[derive(Clone, Debug, Default)]
pub(super) struct Flights(Arc<Sky>);

#[derive(Debug, Default)]
struct Sky {
    count: AtomicUsize,
    empty: Notify,
}

impl Flights {
    pub(super) fn begin(&self) -> Flight {
        self.0.count.fetch_add(1, Ordering::SeqCst);
        Flight(self.clone())
    }

    pub(super) async fn landed(&self) {
        loop {
            // Before the count is read, so that a last landing in between is heard.
            let mut empty = pin!(self.0.empty.notified());
            empty.as_mut().enable();
            if self.0.count.load(Ordering::SeqCst) == 0 {
                return;
            }
            empty.await;
        }
    }
}

/// One of them, until its answer has been taken or given up.
#[derive(Debug)]
pub(super) struct Flight(Flights);

impl Drop for Flight {
    fn drop(&mut self) {
        let sky = &self.0.0;
        if sky.count.fetch_sub(1, Ordering::SeqCst) == 1 {
            sky.empty.notify_waiters();
        }
    }
}

/// An answer that is in flight while it is written.
pub(super) struct Landing {
    pub(super) body: BoxBody<Bytes, Infallible>,
    pub(super) _flight: Flight,
}

impl Body for Landing {
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
