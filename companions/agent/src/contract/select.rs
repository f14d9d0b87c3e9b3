//! Selects the next input of a run: a message from dispatch, what the inner agent does next, or the end.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context as Task, Poll};

use contract_runtime::__family::guard;
use contract_runtime::{Context, Outcome};
use futures_core::Stream as _;
use tokio::sync::oneshot;

use super::event_queue::{EventQueue, QueuedEvent};
use crate::event::{Event, RunError};
use crate::generator::Events;
use crate::inner::{Turn, Wanted};

/// The next input of a run.
pub(super) enum Input<T> {
    /// The context of the run ends it.
    End(RunError),
    Queued(QueuedEvent),
    /// What the run waits for.
    Ready(T),
}

/// What an inner agent does next.
pub(super) enum Next {
    Event(Event),
    Wants(Wanted, oneshot::Sender<Vec<Outcome>>),
    Over,
}

/// Completes when the context of a run ends it, with the reason.
pub(super) fn run_end(context: &Context) -> impl Future<Output = RunError> + Send + use<> {
    let token = context.token().cloned();
    let deadline = context.deadline();
    async move {
        let cancelled = async {
            match token {
                Some(token) => token.cancelled().await,
                None => std::future::pending().await,
            }
        };
        let late = async {
            match deadline {
                Some(deadline) if tokio::runtime::Handle::try_current().is_ok() => {
                    tokio::time::sleep_until(deadline.into()).await;
                    RunError::TimedOut
                }
                // There is no timer.
                Some(_) => RunError::NoTimer,
                None => std::future::pending().await,
            }
        };
        let (mut cancelled, mut late) = (pin!(cancelled), pin!(late));
        poll_fn(|task| {
            if cancelled.as_mut().poll(task).is_ready() {
                return Poll::Ready(RunError::Cancelled);
            }
            // A timer tells of its time some while after it.
            if deadline.is_some_and(|deadline| deadline <= tokio::time::Instant::now().into_std()) {
                return Poll::Ready(RunError::TimedOut);
            }
            late.as_mut().poll(task)
        })
        .await
    }
}

/// Waits for the next input. Messages from dispatch come before what the run waits for.
pub(super) async fn next_input<T>(
    queue: &EventQueue,
    mut end: Pin<&mut impl Future<Output = RunError>>,
    mut poll: impl FnMut(&mut Task<'_>) -> Poll<T>,
) -> Input<T> {
    poll_fn(|task| {
        if let Poll::Ready(error) = end.as_mut().poll(task) {
            return Poll::Ready(Input::End(error));
        }
        if let Some(event) = queue.poll_next(task) {
            return Poll::Ready(Input::Queued(event));
        }
        let ready = poll(task);
        // It may have taken long, and the context may end the run by now.
        if let Poll::Ready(error) = end.as_mut().poll(task) {
            return Poll::Ready(Input::End(error));
        }
        match ready {
            Poll::Ready(ready) => Poll::Ready(Input::Ready(ready)),
            Poll::Pending => queue
                .poll_next(task)
                .map_or(Poll::Pending, |event| Poll::Ready(Input::Queued(event))),
        }
    })
    .await
}

/// Polls an inner agent. One that panics, or whose model does, ends the run and not the program.
pub(super) fn poll_inner(
    events: &mut Events<'_>,
    turn: &Turn,
    task: &mut Task<'_>,
) -> Poll<Result<Next, RunError>> {
    match guard(|| Pin::new(events).poll_next(task)) {
        Ok(Poll::Ready(Some(event))) => Poll::Ready(Ok(Next::Event(event))),
        Ok(Poll::Ready(None)) => Poll::Ready(Ok(Next::Over)),
        Ok(Poll::Pending) => match turn.take_wanted() {
            Some((wanted, give)) => Poll::Ready(Ok(Next::Wants(wanted, give))),
            None => Poll::Pending,
        },
        Err(_) => Poll::Ready(Err(RunError::Panicked)),
    }
}
