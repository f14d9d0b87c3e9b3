//! Minimal future combinators, to avoid a dependency.

use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

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
    let mut waiting = futures.into_iter().enumerate();
    let mut running: Vec<(usize, Pin<Box<F>>)> = Vec::with_capacity(limit);
    let mut done = Vec::new();
    poll_fn(|task| {
        loop {
            while running.len() < limit
                && let Some((place, future)) = waiting.next()
            {
                running.push((place, Box::pin(future)));
            }
            let before = done.len();
            running.retain_mut(|(place, future)| match future.as_mut().poll(task) {
                Poll::Ready(value) => {
                    done.push((*place, value));
                    false
                }
                Poll::Pending => true,
            });
            if running.is_empty() && waiting.size_hint().0 == 0 && done.len() == before {
                return Poll::Ready(());
            }
            if done.len() == before {
                return Poll::Pending;
            }
        }
    })
    .await;
    done.sort_by_key(|(place, _)| *place);
    done.into_iter().map(|(_, value)| value).collect()
}
