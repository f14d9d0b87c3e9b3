//! Selects the next input of a run: a message from dispatch, an event of the inner agent, or the end.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use contract_runtime::__family::guard;
use contract_runtime::Context;
use futures_core::Stream as _;

use super::event_queue::{EventQueue, QueuedEvent};
use crate::event::{Event, RunError};
use crate::generator::Events;
use crate::inner::Turn;

/// The next item of the inner agent, while earlier messages from dispatch are handled.
pub(super) enum Peeked {
    Nothing,
    Event(Event),
    End,
}

/// The next input of a run.
pub(super) enum Input {
    End(RunError),
    Queued(QueuedEvent),
    /// The model is about to be asked.
    Request,
    Event(Option<Event>),
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

/// Waits for the next input; messages from dispatch come before the event that the inner agent makes of them.
pub(super) async fn next_input(
    queue: &EventQueue,
    events: &mut Events<'_>,
    peeked: &mut Peeked,
    turn: &Turn,
    mut end: Pin<&mut impl Future<Output = RunError>>,
) -> Input {
    poll_fn(|task| {
        if let Poll::Ready(error) = end.as_mut().poll(task) {
            return Poll::Ready(Input::End(error));
        }
        if let Some(event) = queue.poll_next(task) {
            return Poll::Ready(Input::Queued(event));
        }
        if matches!(peeked, Peeked::Nothing) {
            // A model or an inner agent that panics ends the run, and not the program.
            match guard(|| Pin::new(&mut *events).poll_next(task)) {
                Ok(Poll::Ready(Some(event))) => *peeked = Peeked::Event(event),
                Ok(Poll::Ready(None)) => *peeked = Peeked::End,
                Ok(Poll::Pending) => {}
                Err(_) => return Poll::Ready(Input::End(RunError::Panicked)),
            }
            // What the inner agent did just now may have taken long.
            if let Poll::Ready(error) = end.as_mut().poll(task) {
                return Poll::Ready(Input::End(error));
            }
        }
        if let Some(event) = queue.poll_next(task) {
            return Poll::Ready(Input::Queued(event));
        }
        match std::mem::replace(peeked, Peeked::Nothing) {
            Peeked::Nothing if turn.take_request() => Poll::Ready(Input::Request),
            Peeked::Nothing => Poll::Pending,
            Peeked::Event(event) => Poll::Ready(Input::Event(Some(event))),
            Peeked::End => Poll::Ready(Input::Event(None)),
        }
    })
    .await
}
