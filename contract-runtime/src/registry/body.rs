//! Runs a body and returns how it ended, whatever it does.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio_util::sync::CancellationToken;

use super::job::{At, Job};
use crate::contract::panics::{Panicked, discard, guard};
use crate::contract::scope::{ContractScope, Phase};
use crate::tool::call::Running;
use crate::tool::context::now;
use crate::tool::failure::Stopped;
use crate::tool::reply::Reply;

/// How a body ended.
pub(super) enum BodyEnd {
    Replied(Reply),
    Panicked,
    TimedOut(Stopped),
    Cancelled(Stopped),
    Overloaded {
        limit: usize,
    },
    /// The surroundings lack something that the call needs.
    Impossible(&'static str),
}

impl BodyEnd {
    /// Of a call that was given up before its body, while something was looked up for it, says so.
    pub(super) fn in_scope(self, scope: &ContractScope) -> Self {
        let before_body = scope.phase() == Phase::BeforeBody;
        match self {
            Self::TimedOut(Stopped::CutOff) if before_body => Self::TimedOut(Stopped::BeforeBody),
            Self::Cancelled(Stopped::CutOff) if before_body => Self::Cancelled(Stopped::BeforeBody),
            other => other,
        }
    }
}

const NOT_SYNC: &str = "an async body was met where a sync one was promised";
pub(super) const NO_TIMER: &str = "the tool has a timeout, and there is no tokio runtime with timers to enforce it; call it inside one";

/// Whether the call has ended before it began.
pub(super) fn too_late(job: &Job) -> Option<BodyEnd> {
    let cancelled = job
        .context
        .token()
        .is_some_and(CancellationToken::is_cancelled);
    if cancelled {
        return Some(BodyEnd::Cancelled(Stopped::NotStarted));
    }
    let passed = job.deadline.is_some_and(|deadline| deadline.at <= now());
    passed.then_some(BodyEnd::TimedOut(Stopped::NotStarted))
}

/// Runs a sync body on this thread, which `call` starts.
#[inline]
pub(super) fn inline<'c>(scope: &mut ContractScope, call: impl FnOnce() -> Running<'c>) -> BodyEnd {
    match scope.lend(|| guard(call)) {
        Ok(Running::Done(reply)) => BodyEnd::Replied(reply),
        Ok(Running::Later(future)) => {
            discard(future);
            BodyEnd::Impossible(NOT_SYNC)
        }
        Err(panicked) => panicked_in(scope, panicked),
    }
}

#[cold]
fn panicked_in(scope: &ContractScope, panicked: Panicked) -> BodyEnd {
    if let Some(scope) = scope.get() {
        scope.adopt(panicked);
    }
    BodyEnd::Panicked
}

/// Starts an async body with `call`; the error is how it ended before it could.
pub(super) fn later<'s, 'c>(
    scope: &'s mut ContractScope,
    call: impl FnOnce() -> Running<'c>,
) -> Result<Body<'s, 'c>, BodyEnd> {
    // Nothing of the author's runs before the first poll.
    match guard(call) {
        Ok(Running::Done(reply)) => Err(BodyEnd::Replied(reply)),
        Ok(Running::Later(future)) => Ok(Body {
            future: Some(future),
            scope,
        }),
        Err(_) => Err(BodyEnd::Panicked),
    }
}

/// A body that is polled and dropped in its scope, and may panic in either.
pub(super) struct Body<'s, 'c> {
    future: Option<Pin<Box<dyn Future<Output = Reply> + Send + 'c>>>,
    scope: &'s mut ContractScope,
}

impl Future for Body<'_, '_> {
    type Output = BodyEnd;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<BodyEnd> {
        let Self { future, scope } = &mut *self;
        let polled = scope.lend(|| {
            let running = future.as_mut();
            let polled = guard(|| running.map(|running| running.as_mut().poll(task)));
            if let Ok(Some(Poll::Ready(_))) = polled {
                discard(future.take());
            }
            polled
        });
        match polled {
            Ok(Some(Poll::Pending)) => Poll::Pending,
            Ok(Some(Poll::Ready(reply))) => Poll::Ready(BodyEnd::Replied(reply)),
            Ok(None) => Poll::Ready(BodyEnd::Panicked),
            Err(panicked) => {
                let ran = panicked_in(scope, panicked);
                scope.lend(|| discard(future.take()));
                Poll::Ready(ran)
            }
        }
    }
}

impl Drop for Body<'_, '_> {
    fn drop(&mut self) {
        if let Some(future) = self.future.take() {
            self.scope.lend(|| discard(future));
        }
    }
}

/// Why something did not come to its end.
pub(super) enum Interrupted {
    Cancelled,
    TimedOut,
    /// The runtime has no timers.
    NoTimer,
}

/// Runs a future until it ends, is cancelled or is out of time; the future is looked at first.
pub(super) async fn until<T>(
    future: impl Future<Output = T>,
    cancellation: Option<&CancellationToken>,
    deadline: Option<At>,
) -> Result<T, Interrupted> {
    let mut future = pin!(future);
    let mut cancelled = pin!(async {
        match cancellation {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    });
    let mut timer = timer(deadline).map_err(|()| Interrupted::NoTimer)?;
    poll_fn(|task| {
        if let Poll::Ready(ended) = future.as_mut().poll(task) {
            return Poll::Ready(Ok(ended));
        }
        if cancelled.as_mut().poll(task).is_ready() {
            return Poll::Ready(Err(Interrupted::Cancelled));
        }
        match timer.as_mut().map(|timer| timer.as_mut().poll(task)) {
            Some(Poll::Ready(())) => Poll::Ready(Err(Interrupted::TimedOut)),
            _ => Poll::Pending,
        }
    })
    .await
}

impl From<Interrupted> for BodyEnd {
    fn from(interrupted: Interrupted) -> Self {
        match interrupted {
            Interrupted::Cancelled => Self::Cancelled(Stopped::CutOff),
            Interrupted::TimedOut => Self::TimedOut(Stopped::CutOff),
            Interrupted::NoTimer => Self::Impossible(NO_TIMER),
        }
    }
}

type Timer = Pin<Box<tokio::time::Sleep>>;

pub(super) fn timer(deadline: Option<At>) -> Result<Option<Timer>, ()> {
    let Some(At { at, .. }) = deadline else {
        return Ok(None);
    };
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(());
    }
    // Tokio panics here where its runtime was built without timers.
    guard(|| Box::pin(tokio::time::sleep_until(at.into())))
        .map(Some)
        .map_err(|_| ())
}
