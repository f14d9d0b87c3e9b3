//! Runs what the host has written where a panic must be answered.

use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

use contract_runtime::__family::{Panicked, guard};

/// Makes a future of the host and waits for it; the error says that it panicked, while it was made or while it ran.
pub(super) async fn guarded<F: Future>(make: impl FnOnce() -> F) -> Result<F::Output, Panicked> {
    let mut running = pin!(guard(make)?);
    poll_fn(|task| match guard(|| running.as_mut().poll(task)) {
        Ok(polled) => polled.map(Ok),
        Err(panicked) => Poll::Ready(Err(panicked)),
    })
    .await
}
