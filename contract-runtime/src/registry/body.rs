//! Runs a body and returns its reply, whatever it does.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

use tokio_util::sync::CancellationToken;

use super::job::{At, Job};
use crate::contract::panics::{Panicked, discard, guard};
use crate::contract::scope::ContractScope;
use crate::tool::Status;
use crate::tool::call::Running;
use crate::tool::context::now;
use crate::tool::failure::{FailureKind, Stopped};
use crate::tool::reply::Reply;

const NOT_SYNC: &str = "an async body was met where a sync one was promised";
const NO_TIMER: &str = "the tool has a timeout, and there is no tokio runtime with timers to enforce it; call it inside one";

/// Whether the call has ended before it began.
pub(super) fn too_late(job: &Job) -> Option<FailureKind> {
    let token = job.context.token();
    if token.is_some_and(CancellationToken::is_cancelled) {
        return Some(cancelled(Stopped::NotStarted));
    }
    let passed = job.deadline.filter(|deadline| deadline.at <= now())?;
    Some(passed.timed_out(Stopped::NotStarted))
}

/// Runs a sync body on this thread, which `call` starts.
#[inline]
pub(super) fn inline<'c>(scope: &mut ContractScope, call: impl FnOnce() -> Running<'c>) -> Reply {
    match scope.lend(|| guard(call)) {
        Ok(Running::Done(reply)) => reply,
        Ok(Running::Later(future)) => {
            discard(future);
            Err(impossible(NOT_SYNC))
        }
        Err(panicked) => panicked_in(scope, panicked),
    }
}

#[cold]
fn panicked_in(scope: &ContractScope, panicked: Panicked) -> Reply {
    if let Some(scope) = scope.get() {
        scope.adopt(panicked);
    }
    Err(FailureKind::Panicked)
}

/// The surroundings lack something that the call needs.
pub(super) fn impossible(why: &str) -> FailureKind {
    FailureKind::before_body(Status::Failed, why)
}

pub(super) fn cancelled(stopped: Stopped) -> FailureKind {
    let reason = "the call was cancelled";
    FailureKind::Cancelled { reason, stopped }
}

/// Starts an async body with `call`; the error is how it ended before it could.
pub(super) fn later<'s, 'c>(
    scope: &'s mut ContractScope,
    call: impl FnOnce() -> Running<'c>,
) -> Result<Body<'s, 'c>, Reply> {
    // Nothing of the author's runs before the first poll.
    match guard(call) {
        Ok(Running::Done(reply)) => Err(reply),
        Ok(Running::Later(future)) => Ok(Body {
            future: Some(future),
            scope,
        }),
        Err(_) => Err(Err(FailureKind::Panicked)),
    }
}

/// A body that is polled and dropped in its scope, and may panic in either.
pub(super) struct Body<'s, 'c> {
    future: Option<Pin<Box<dyn Future<Output = Reply> + Send + 'c>>>,
    scope: &'s mut ContractScope,
}

impl Future for Body<'_, '_> {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Reply> {
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
            Ok(Some(Poll::Ready(reply))) => Poll::Ready(reply),
            Ok(None) => Poll::Ready(Err(FailureKind::Panicked)),
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

/// Runs a future until it ends, is cancelled or is out of time; the future is looked at first.
pub(super) async fn until<T>(
    future: impl Future<Output = T>,
    cancellation: Option<&CancellationToken>,
    deadline: Option<At>,
) -> Result<T, FailureKind> {
    let mut future = pin!(future);
    let mut given_up = pin!(async {
        match cancellation {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    });
    let mut timer = timer(deadline)?;
    poll_fn(|task| {
        if let Poll::Ready(ended) = future.as_mut().poll(task) {
            return Poll::Ready(Ok(ended));
        }
        if given_up.as_mut().poll(task).is_ready() {
            return Poll::Ready(Err(cancelled(Stopped::CutOff)));
        }
        let Some((timer, at)) = &mut timer else {
            return Poll::Pending;
        };
        let over = timer.as_mut().poll(task);
        over.map(|()| Err(at.timed_out(Stopped::CutOff)))
    })
    .await
}

type Timer = Pin<Box<tokio::time::Sleep>>;

fn timer(deadline: Option<At>) -> Result<Option<(Timer, At)>, FailureKind> {
    let Some(at) = deadline else {
        return Ok(None);
    };
    if tokio::runtime::Handle::try_current().is_err() {
        return Err(impossible(NO_TIMER));
    }
    // Tokio panics here where its runtime was built without timers.
    guard(|| Box::pin(tokio::time::sleep_until(at.at.into())))
        .map(|timer| Some((timer, at)))
        .map_err(|_| impossible(NO_TIMER))
}
