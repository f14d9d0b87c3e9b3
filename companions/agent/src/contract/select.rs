//! What comes next in a run: something from dispatch, an event of the inner agent, or the end.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use futures_core::Stream as _;

use super::told::{Inbox, Told};
use crate::agent::event::{Event, RunError};
use crate::agent::live::Events;
use crate::contract::panics::guard;
use crate::tool::Context;

/// What the inner agent gave, while something that was told before is looked at.
pub(super) enum Held {
    Nothing,
    Event(Event),
    End,
}

/// What comes next: something from dispatch, or an event of the inner agent.
pub(super) enum Next {
    Over(RunError),
    Told(Told),
    Event(Option<Event>),
}

/// When the context of a run says that it is over, and why.
pub(super) fn end_of(context: &Context) -> impl Future<Output = RunError> + Send + use<> {
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
            late.as_mut().poll(task)
        })
        .await
    }
}

/// What dispatch has told comes before the event that the inner agent made of it.
pub(super) async fn next(
    inbox: &Inbox,
    events: &mut Events<'_>,
    held: &mut Held,
    mut end: Pin<&mut impl Future<Output = RunError>>,
) -> Next {
    poll_fn(|task| {
        if let Poll::Ready(error) = end.as_mut().poll(task) {
            return Poll::Ready(Next::Over(error));
        }
        if let Some(told) = inbox.next(task) {
            return Poll::Ready(Next::Told(told));
        }
        if matches!(held, Held::Nothing) {
            // A model or an inner agent that panics ends the run, and not the program.
            match guard(|| Pin::new(&mut *events).poll_next(task)) {
                Ok(Poll::Ready(Some(event))) => *held = Held::Event(event),
                Ok(Poll::Ready(None)) => *held = Held::End,
                Ok(Poll::Pending) => {}
                Err(_) => return Poll::Ready(Next::Over(RunError::Panicked)),
            }
        }
        if let Some(told) = inbox.next(task) {
            return Poll::Ready(Next::Told(told));
        }
        match std::mem::replace(held, Held::Nothing) {
            Held::Nothing => Poll::Pending,
            Held::Event(event) => Poll::Ready(Next::Event(Some(event))),
            Held::End => Poll::Ready(Next::Event(None)),
        }
    })
    .await
}
