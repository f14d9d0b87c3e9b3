//! Minimal future combinators, to avoid a dependency.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use tokio::sync::Semaphore;

/// What a future gives at its first poll, if it gives anything.
pub(crate) fn now_or_never<F: Future + ?Sized>(future: Pin<&mut F>) -> Option<F::Output> {
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

/// Runs futures side by side, at most `limit` at a time, and gives what they give in their order.
pub(crate) async fn join_bounded<F: Future>(
    futures: impl IntoIterator<Item = F>,
    limit: usize,
) -> Vec<F::Output> {
    let places = &Semaphore::new(limit.min(Semaphore::MAX_PERMITS));
    let bounded = |future: F| async move {
        let _place = places.acquire().await;
        future.await
    };
    let futures = futures.into_iter();
    let mut all: Vec<_> = futures
        .map(|future| (Box::pin(bounded(future)), None))
        .collect();
    poll_fn(|task| {
        for (running, done) in &mut all {
            if done.is_none()
                && let Poll::Ready(output) = running.as_mut().poll(task)
            {
                *done = Some(output);
            }
        }
        if all.iter().all(|(_, done)| done.is_some()) {
            return Poll::Ready(());
        }
        Poll::Pending
    })
    .await;
    all.into_iter().filter_map(|(_, done)| done).collect()
}
