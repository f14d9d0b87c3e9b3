//! The state of a call while its body runs, and running sync and async bodies to their replies.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::{Arc, OnceLock};
use std::task::{Context as Task, Poll};
use std::time::{Duration, Instant};

use super::entry::Entry;
use super::inner::Inner;
use crate::contract::approval::Asking;
use crate::contract::history::CallPlace;
use crate::contract::observer::Audience;
use crate::contract::panics::{Panicked, discard, guard};
use crate::contract::policy::{self, Policy, PolicyOrigin, Resolved};
use crate::contract::scope::{ContractScope, Gate, Inherited, Scope};
use crate::schema::arguments::Examined;
use crate::tool::CallInput;
use crate::tool::Status;
use crate::tool::call::{Request, Running};
use crate::tool::context::{CallInfo, Context, Deadline, now};
use crate::tool::context::{CancelOnDrop, CancellationToken};
use crate::tool::context_params::{CallExtensions, Sources};
use crate::tool::dynamic::Runs;
use crate::tool::failure::{Cause, FailureKind, Stopped};
use crate::tool::reply::Reply;

const NOT_SYNC: &str = "an async body was met where a sync one was promised";
const NO_TIMER: &str = "the tool has a timeout, and there is no tokio runtime with timers to enforce it; call it inside one";

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

/// Returns the failure of a call that needs something which its surroundings lack.
pub(super) fn impossible(why: &str) -> FailureKind {
    FailureKind::before_body(Status::Failed, why)
}

fn cancelled(stopped: Stopped) -> FailureKind {
    FailureKind::GivenUp(Cause::Cancelled("the call was cancelled"), stopped)
}

/// Starts an async body with `call`. The error is the reply of a call that ended before its first poll.
pub(super) fn later<'s, 'c>(
    scope: &'s mut ContractScope,
    call: impl FnOnce() -> Running<'c>,
) -> Result<Body<'s, 'c>, Reply> {
    // No code of the author runs before the first poll, so it needs no scope yet.
    match guard(call) {
        Ok(Running::Done(reply)) => Err(reply),
        Ok(Running::Later(future)) => Ok(Body {
            future: Some(future),
            scope,
        }),
        Err(_) => Err(Err(FailureKind::Panicked)),
    }
}

/// An async body, which is polled and dropped inside its scope. It may panic in both.
pub(super) struct Body<'s, 'c> {
    future: Option<Pin<Box<dyn Future<Output = Reply> + Send + 'c>>>,
    scope: &'s mut ContractScope,
}

impl Future for Body<'_, '_> {
    type Output = Reply;

    fn poll(mut self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Reply> {
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

/// Runs a future until it ends, is cancelled or is out of time. A future that is ready wins over the others.
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

/// Waits for what has to be known before the body, for as long as the caller waits.
pub(super) async fn before_body<T>(
    context: &Context,
    future: impl Future<Output = T>,
) -> Result<T, FailureKind> {
    match until(future, context.token(), earlier(context.deadline(), None)).await {
        Err(FailureKind::GivenUp(cause, _)) => {
            Err(FailureKind::GivenUp(cause, Stopped::NotStarted))
        }
        ended => ended,
    }
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

/// A call that has not begun: its tool, its input and how it is made.
pub(super) struct CallSetup<'c> {
    /// The index of the tool; `None` if the registry has no tool of that name.
    pub(super) index: Option<usize>,
    pub(super) input: CallInput<'c>,
    pub(super) context: Context,
    pub(super) mode: Mode,
}

/// The state of a running call beside its scope.
pub(super) struct Job {
    pub(super) deadline: Option<At>,
    own: Option<Box<CallExtensions>>,
    examined: OnceLock<Box<Examined>>,
    only_check: bool,
}

impl Job {
    #[inline]
    pub(super) fn new(entry: &Entry, setup: &CallSetup<'_>) -> Self {
        let deadline = earlier(setup.context.deadline(), entry.timeout);
        let own = (!entry.needs.is_empty()).then(|| Box::new(own(setup, deadline)));
        Self {
            deadline,
            own,
            examined: OnceLock::new(),
            only_check: setup.mode.only_check,
        }
    }

    /// Returns why the call must not begin, if it was cancelled or its time is over.
    #[inline]
    pub(super) fn too_late(&self, context: &Context) -> Option<FailureKind> {
        let token = context.token();
        if token.is_some_and(CancellationToken::is_cancelled) {
            return Some(cancelled(Stopped::NotStarted));
        }
        let passed = self.deadline.filter(|deadline| deadline.at <= now())?;
        Some(passed.timed_out(Stopped::NotStarted))
    }

    #[inline]
    pub(super) fn request<'c>(
        &'c self,
        inner: &'c Inner,
        entry: &'c Entry,
        arguments: &'c str,
        context: &'c Context,
    ) -> Request<'c> {
        Request {
            contract: entry.tool.contract(),
            only_check: self.only_check,
            text: arguments,
            inputs: &entry.inputs,
            coerce: entry.inputs.coerce || context.coerces(),
            examined: &self.examined,
            sources: self.own.as_deref().map(|own| Sources {
                context,
                shared: &inner.shared,
                own,
            }),
        }
    }

    /// Returns a guard that cancels the token of the body when it is dropped, because the caller has given up the call.
    pub(super) fn cancel_guard(&self) -> CancelOnDrop {
        CancelOnDrop(self.own.as_ref().map(|own| own.cancellation.clone()))
    }

    /// Ends the job and returns the corrected arguments, if any had to be corrected.
    #[inline]
    pub(super) fn conclude(self) -> Option<Box<Examined>> {
        drop(self.own);
        self.examined.into_inner()
    }
}

impl Inner {
    #[inline]
    pub(super) fn scope(
        &self,
        index: usize,
        setup: &CallSetup<'_>,
        outer: Option<&Inherited>,
    ) -> ContractScope {
        let (input, mode) = (&setup.input, &setup.mode);
        let entry = &self.entries[index];
        let is_bare = outer.is_none()
            && setup.context.is_empty()
            && entry.secrets.is_empty()
            && mode.gate.is_none()
            && mode.asking.is_none()
            && mode.policy.is_none()
            && entry.tool.runs != Runs::Blocking;
        let mut scope = ContractScope::fresh();
        if let Some(scope) = scope.filled() {
            scope.call_id.push_str(&input.id);
            scope.name(&entry.tool.name);
            // A violation shows the arguments as they were sent; secrets are found by them.
            scope.arguments.push_str(&input.arguments);
            scope.take_up(mode.policy().or(entry.policy), self.shards.layer());
            if !is_bare || policy::is_watched() || self.observer.observes_conditions() {
                self.inherit(scope, index, setup, outer.cloned().unwrap_or_default());
            }
        }
        scope
    }

    /// Gives a scope what a call has from its caller, its context and the calls around it.
    #[inline(never)]
    fn inherit(&self, scope: &mut Scope, index: usize, setup: &CallSetup<'_>, outer: Inherited) {
        let CallSetup { context, mode, .. } = setup;
        let entry = &self.entries[index];
        let run = context.run_layer();
        scope.of_run = run.is_some();
        let history = if scope.of_run {
            context.history().cloned()
        } else {
            outer.place.and_then(|outer| outer.inherited())
        };
        scope.place = history.map(|history| {
            let tool = (entry.tool.name(), entry.tool.function);
            let asker = self.asker(index);
            Arc::new(CallPlace::new(history, tool, scope.of_run, asker))
        });
        scope.secrets = entry.secrets.clone();
        let mut observers = context.observers_inside(outer.observers);
        if mode.policy.is_some() {
            observers.audience = observers.audience.max(Audience::Own);
        }
        let outer = Inherited {
            run: run.or(outer.run),
            observers,
            gate: mode.gate.clone().or(outer.gate),
            depth: outer.depth,
            caller: context.caller().map(Arc::from).or(outer.caller),
            place: None,
        };
        scope.inherit(mode.policy().or(entry.policy), outer);
        scope.asking.clone_from(&mode.asking);
    }
}

#[cold]
fn own(setup: &CallSetup<'_>, deadline: Option<At>) -> CallExtensions {
    let CallSetup { input, context, .. } = setup;
    CallExtensions {
        info: CallInfo {
            id: input.id.to_string(),
            tool: input.name.to_string(),
        },
        cancellation: match context.token() {
            Some(token) => token.child_token(),
            None => CancellationToken::new(),
        },
        deadline: Deadline(deadline.map(|deadline| deadline.at)),
        progress: context.reports(),
        log: context.logs(&input.id, &input.name),
        context: OnceLock::new(),
    }
}

/// How a call takes the gate of its registry. Calls that write take it alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum GateUse {
    /// The call does not take the gate, or its batch holds it.
    #[default]
    None,
    Shared,
    Exclusive,
}

/// How a call is made: as a call, a check or a trial, and which gates it already holds.
#[derive(Clone, Debug, Default)]
pub(super) struct Mode {
    pub(super) only_check: bool,
    pub(super) gate: Option<Arc<Gate>>,
    /// The policy of a trial, which replaces every setting of authors and operators.
    pub(super) policy: Option<Policy>,
    /// Whether the caller is a test of contracts, which sees every tool.
    pub(super) sees_all: bool,
    /// What the call may ask a person. A trial asks nothing.
    pub(super) asking: Option<Arc<Asking>>,
    /// How the call takes the gate while it runs. It does not hold the gate while it waits for a person.
    pub(super) gate_use: GateUse,
}

impl Mode {
    pub(super) fn is_a_call(&self) -> bool {
        !self.only_check && self.policy().is_none()
    }

    fn policy(&self) -> Option<Resolved> {
        let origin = PolicyOrigin::Override;
        self.policy.map(|policy| Resolved { policy, origin })
    }
}

/// A deadline, and its distance from the beginning of the call.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    at: Instant,
    after: Duration,
}

impl At {
    fn timed_out(self, stopped: Stopped) -> FailureKind {
        FailureKind::GivenUp(Cause::OutOfTime(self.after), stopped)
    }
}

#[inline]
fn earlier(context: Option<Instant>, timeout: Option<Duration>) -> Option<At> {
    if context.is_none() && timeout.is_none() {
        return None;
    }
    let now = now();
    let own = timeout.and_then(|timeout| now.checked_add(timeout));
    let at = context.into_iter().chain(own).min()?;
    Some(At {
        at,
        after: at.saturating_duration_since(now),
    })
}
