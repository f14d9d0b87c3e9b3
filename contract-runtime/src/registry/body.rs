//! Runs a body and returns how it ended, whatever it does.

use std::borrow::Cow;
use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::task::Poll;

use tokio_util::sync::CancellationToken;

use super::dispatch::{At, Prepared};
use crate::contract::panics::{discard, guard};
use crate::futures;
use crate::tool::Context;
use crate::tool::call::Running;
use crate::tool::reply::{Output, Reply};

/// How a body ended.
pub(super) enum Ran {
    Replied(Reply),
    Panicked,
    TimedOut {
        may_still_run: bool,
    },
    Cancelled {
        may_still_run: bool,
    },
    Overloaded {
        limit: usize,
    },
    /// The surroundings lack something that the call needs.
    Impossible(&'static str),
}

const NOT_SYNC: &str = "an async body was met where a sync one was promised";
pub(super) const NO_TIMER: &str = "the tool has a timeout, and there is no tokio runtime with timers to hold it; call it inside one";

/// Whether the call has ended before it began.
pub(super) fn too_late(context: &Context, deadline: Option<At>) -> Option<Ran> {
    if context
        .cancellation
        .as_ref()
        .is_some_and(CancellationToken::is_cancelled)
    {
        return Some(Ran::Cancelled {
            may_still_run: false,
        });
    }
    let passed = deadline.is_some_and(|deadline| deadline.at <= std::time::Instant::now());
    passed.then_some(Ran::TimedOut {
        may_still_run: false,
    })
}

/// Runs a sync body on this thread.
pub(super) fn here(prepared: &Prepared<'_>) -> Ran {
    match guard(|| prepared.call()) {
        Ok(Running::Done(reply)) => Ran::Replied(reply),
        Ok(Running::Later(future)) => {
            discard(future);
            Ran::Impossible(NOT_SYNC)
        }
        Err(_) => Ran::Panicked,
    }
}

/// Runs an async body.
pub(super) async fn later(prepared: Prepared<'_>) -> Ran {
    let future = match guard(|| prepared.call()) {
        Ok(Running::Done(reply)) => return Ran::Replied(reply),
        Ok(Running::Later(future)) => future,
        Err(_) => return Ran::Panicked,
    };
    let mut body = Body(Some(future));
    match &mut body.0 {
        Some(future) => match futures::guarded(future.as_mut()).await {
            Ok(reply) => Ran::Replied(reply),
            Err(_) => Ran::Panicked,
        },
        None => Ran::Panicked,
    }
}

/// A body's future, whose destructor may panic.
struct Body<'c>(Option<Pin<Box<dyn Future<Output = Reply> + Send + 'c>>>);

impl Drop for Body<'_> {
    fn drop(&mut self) {
        discard(self.0.take());
    }
}

/// Runs a body until it ends, is cancelled or is out of time; the body is looked at first.
pub(super) async fn until(
    body: impl Future<Output = Ran>,
    cancellation: Option<&CancellationToken>,
    deadline: Option<At>,
) -> Ran {
    if cancellation.is_none() && deadline.is_none() {
        return body.await;
    }
    let mut body = pin!(body);
    let mut cancelled = pin!(async {
        match cancellation {
            Some(token) => token.cancelled().await,
            None => std::future::pending().await,
        }
    });
    let Ok(mut timer) = timer(deadline) else {
        return Ran::Impossible(NO_TIMER);
    };
    poll_fn(|task| {
        if let Poll::Ready(ran) = body.as_mut().poll(task) {
            return Poll::Ready(ran);
        }
        if cancelled.as_mut().poll(task).is_ready() {
            return Poll::Ready(Ran::Cancelled {
                may_still_run: false,
            });
        }
        match timer.as_mut().map(|timer| timer.as_mut().poll(task)) {
            Some(Poll::Ready(())) => Poll::Ready(Ran::TimedOut {
                may_still_run: false,
            }),
            _ => Poll::Pending,
        }
    })
    .await
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

pub(super) fn cap(mut output: Output, limit: usize) -> Output {
    // A text has at most as many characters as bytes, and most are far below the limit.
    if output.text.len() > limit
        && let Cow::Owned(text) = cap_text(Cow::Borrowed(&output.text), limit)
    {
        output.text = text;
        output.is_json = false;
    }
    output
}

/// Keeps the head and the tail of a text that is too long, whole characters only.
pub(super) fn cap_text(text: Cow<'_, str>, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return text;
    }
    let total = text.chars().count();
    if total <= limit {
        return text;
    }
    let head = limit - limit / 2;
    let tail = limit / 2;
    let at = |position| {
        text.char_indices()
            .nth(position)
            .map_or(text.len(), |(index, _)| index)
    };
    let left_out = total - head - tail;
    Cow::Owned(format!(
        "{}\n[{left_out} of {total} characters left out]\n{}",
        &text[..at(head)],
        &text[at(total - tail)..]
    ))
}
