use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use http_body_util::combinators::BoxBody;
use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio::sync::watch;

/// Requests whose answers are not out yet.
#[derive(Clone, Debug)]
pub(super) struct Flights(Arc<watch::Sender<usize>>);

impl Flights {
    pub(super) fn new() -> Self {
        Self(Arc::new(watch::Sender::new(0)))
    }

    pub(super) fn begin(&self) -> Flight {
        self.0.send_modify(|count| *count += 1);
        Flight(self.clone())
    }

    pub(super) async fn landed(&self) {
        // The sender is ours, so waiting cannot fail.
        let _ = self.0.subscribe().wait_for(|count| *count == 0).await;
    }
}

/// One of them, until its answer has been taken or given up.
#[derive(Debug)]
pub(super) struct Flight(Flights);

impl Drop for Flight {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
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
