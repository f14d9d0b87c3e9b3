//! The stages of a call: find, prepare, run, conclude.

use std::future::Future;
use std::mem::take;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

use tracing::Instrument as _;

use super::body::{self, BodyEnd};
use super::inner::{CallPermit, Inner};
use super::job::{Job, Mode};
use super::{blocking, outcome};
use crate::contract::scope::{ContractScope, Inherited};
use crate::contract::thread;
use crate::futures;
use crate::schema::arguments::{InvalidArguments, escaped};
use crate::tool::context::OutcomeObserver;
use crate::tool::dynamic::Runs;
use crate::tool::outcome::{OutcomeKind, Stopped};
use crate::tool::{Context, Outcome, ToolCall};

/// A call that was made: refused, let in and already over, or waiting for its body.
pub(super) enum Begun<'r> {
    Refused(Outcome),
    Over(Outcome),
    Waiting(Job, CallPermit<'r>),
    /// One that nothing interrupts.
    Later(Later<'r>),
}

/// What the first poll of a call comes to.
enum Started<'r> {
    Over(Outcome),
    /// It goes on, and `waits` says whether for more than its turn.
    Later {
        future: Later<'r>,
        waits: bool,
    },
}

pub(super) type Later<'r> = Pin<Box<dyn Future<Output = Outcome> + Send + 'r>>;

/// A call that has not begun.
pub(super) struct PendingCall {
    pub(super) call: ToolCall,
    pub(super) context: Context,
    pub(super) mode: Mode,
}

impl PendingCall {
    fn take_call(&mut self) -> ToolCall {
        ToolCall {
            id: take(&mut self.call.id),
            name: take(&mut self.call.name),
            arguments: take(&mut self.call.arguments),
        }
    }
}

/// A call by name, which begins at its first poll. That is all that a sync tool takes, so nothing is boxed for it.
pub(super) struct CallFuture<'r> {
    inner: &'r Arc<Inner>,
    state: State<'r>,
}

enum State<'r> {
    Pending(PendingCall),
    Begun(Later<'r>),
    Over,
}

impl Future for CallFuture<'_> {
    type Output = Outcome;

    #[inline]
    fn poll(self: Pin<&mut Self>, task: &mut task::Context<'_>) -> Poll<Outcome> {
        let Self { inner, state } = self.get_mut();
        let inner = *inner;
        if let State::Pending(pending) = state {
            match inner.start(pending) {
                Started::Over(outcome) => {
                    *state = State::Over;
                    return Poll::Ready(outcome);
                }
                Started::Later { future, .. } => *state = State::Begun(future),
            }
        }
        let State::Begun(future) = state else {
            return Poll::Pending;
        };
        let poll = future.as_mut().poll(task);
        if poll.is_ready() {
            *state = State::Over;
        }
        poll
    }
}

impl Inner {
    pub(super) fn call_blocking(self: &Arc<Self>, call: ToolCall, context: Context) -> Outcome {
        let runtime = tokio::runtime::Handle::try_current();
        if runtime.is_ok() && !blocking::may_block() {
            let why = "`call_blocking` was used inside an async runtime; await `call` instead";
            return self.refused(call, OutcomeKind::Failed(why.to_owned()));
        }
        let ended = runtime.is_err_and(|error| error.is_thread_local_destroyed());
        if (ended || thread::is_ending()) && self.waits(&call.name) {
            let why = too_late_to_wait(&call.name);
            return self.refused(call, OutcomeKind::Failed(why));
        }
        let mut pending = PendingCall {
            call,
            context,
            mode: Mode::default(),
        };
        let (mut future, waits) = match self.start(&mut pending) {
            Started::Over(outcome) => return outcome,
            Started::Later { future, waits } => (future, waits),
        };
        if waits {
            return blocking::wait(future);
        }
        // A sync body is done at the first poll, and a refusal at the second.
        let first = futures::now_or_never(future.as_mut());
        match first.or_else(|| futures::now_or_never(future.as_mut())) {
            Some(outcome) => outcome,
            None => unreachable!("a call of a sync tool has nothing to wait for"),
        }
    }

    pub(super) fn call(
        self: &Arc<Self>,
        call: ToolCall,
        context: Context,
        mode: Mode,
    ) -> CallFuture<'_> {
        CallFuture {
            inner: self,
            state: State::Pending(PendingCall {
                call,
                context,
                mode,
            }),
        }
    }

    /// Whether the body of a tool is not done at its first poll.
    fn waits(&self, tool: &str) -> bool {
        self.find(tool)
            .is_some_and(|entry| entry.tool.runs != Runs::Here)
    }

    #[inline]
    fn start(self: &Arc<Self>, pending: &mut PendingCall) -> Started<'_> {
        if self.renames {
            self.give_own_names(&mut pending.call);
        }
        let call = &pending.call;
        let span = tracing::info_span!(
            "execute_tool",
            // Both come from outside and could move the cursor of whoever reads the log.
            otel.name = format_args!("execute_tool {}", escaped(&call.name)),
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = %escaped(&call.name),
            gen_ai.tool.call.id = %escaped(&call.id),
            gen_ai.tool.r#type = "function",
            outcome = tracing::field::Empty,
        );
        if !span.is_disabled() || pending.context.hears().is_some() {
            return self.followed(pending, span);
        }
        match self.begin(pending) {
            Begun::Over(outcome) => Started::Over(outcome),
            Begun::Waiting(job, permit) => Started::Later {
                future: Box::pin(self.wait(job, permit)),
                waits: true,
            },
            Begun::Later(future) => Started::Later {
                future,
                waits: true,
            },
            Begun::Refused(outcome) => Started::Later {
                future: Box::pin(yielded(outcome)),
                waits: false,
            },
        }
    }

    #[cold]
    fn followed(self: &Arc<Self>, pending: &mut PendingCall, span: tracing::Span) -> Started<'_> {
        let waits = self.waits(&pending.call.name);
        let pending = PendingCall {
            call: pending.take_call(),
            context: take(&mut pending.context),
            mode: take(&mut pending.mode),
        };
        let call = self.traced(pending, span.clone());
        let future = Box::pin(call.instrument(span));
        Started::Later { future, waits }
    }

    /// A call that somebody follows, by its span or otherwise.
    async fn traced(self: &Arc<Self>, mut pending: PendingCall, span: tracing::Span) -> Outcome {
        let heard = self.heard(&pending);
        let outcome = match self.begin(&mut pending) {
            Begun::Over(outcome) => outcome,
            Begun::Waiting(job, permit) => self.wait(job, permit).await,
            Begun::Later(future) => future.await,
            Begun::Refused(outcome) => yielded(outcome).await,
        };
        if let Some(hears) = heard {
            hears(&outcome);
        }
        span.record("outcome", outcome.status().name());
        outcome
    }

    /// Whoever hears of the call, if anybody does.
    fn heard(&self, pending: &PendingCall) -> Option<OutcomeObserver> {
        let hears = pending
            .context
            .hears()
            .filter(|_| pending.mode.is_a_call())?;
        let blocking = self
            .find(&pending.call.name)
            .is_some_and(|entry| entry.tool.runs == Runs::Blocking);
        Some((hears.0)(&pending.call, blocking))
    }

    /// Finds the tool and lets the call in; a sync body runs here, to its end.
    fn begin(self: &Arc<Self>, pending: &mut PendingCall) -> Begun<'_> {
        let outer = ContractScope::inherited();
        if outer.depth >= self.limits.depth {
            let why = nested_too_deep(&pending.call.name, outer.depth, self.limits.depth);
            return self.over_before(pending, OutcomeKind::Failed(why));
        }
        if self.before.is_some()
            && pending.mode.is_a_call()
            && let Err(end) = self.before.ask(&pending.call)
        {
            return Begun::Refused(self.refused(pending.take_call(), end));
        }
        let Some(index) = self.position(&pending.call.name) else {
            return Begun::Over(self.unknown(pending.take_call()));
        };
        let (limit, length) = (self.limits.argument_bytes, pending.call.arguments.len());
        if length > limit {
            let invalid = InvalidArguments::too_large(limit, length);
            return self.over_before(pending, OutcomeKind::InvalidArguments(Box::new(invalid)));
        }
        if let Some(problem) = self.alone_problem(index, pending) {
            return self.over_before(pending, problem);
        }
        if self.entries[index].asks.any() && pending.mode.policy.is_none() {
            return self.begin_asking(index, pending, outer);
        }
        self.admit(index, pending, outer)
    }

    /// Lets a call in whose tool is found, unless there is no room for it.
    #[inline]
    pub(super) fn admit(
        &self,
        index: usize,
        pending: &mut PendingCall,
        outer: Inherited,
    ) -> Begun<'_> {
        if pending.context.run_is_over() {
            let reason = "an earlier call of the run broke a contract";
            let end = OutcomeKind::Cancelled {
                reason,
                stopped: Stopped::NotStarted,
            };
            return self.over_before(pending, end);
        }
        let Some(permit) = CallPermit::take(self) else {
            let limit = self.limits.calls.unwrap_or_default();
            return self.over_before(pending, OutcomeKind::Overloaded { limit });
        };
        let entry = &self.entries[index];
        let is_straight = entry.is_straight
            && pending.context.is_empty()
            && outer.place.is_none()
            && pending.mode.is_a_call()
            && pending.mode.asking.is_none()
            && entry.tool.runs != Runs::Blocking;
        if !is_straight {
            return self.begin_job(index, pending, outer, permit);
        }
        let (call, gate) = (pending.take_call(), pending.mode.gate.take());
        if entry.tool.runs == Runs::Here {
            return Begun::Over(self.straight(entry, call, gate, outer, permit));
        }
        Begun::Later(Box::pin(
            self.straight_later(entry, call, gate, outer, permit),
        ))
    }

    #[cold]
    fn begin_asking<'r>(
        self: &'r Arc<Self>,
        index: usize,
        pending: &mut PendingCall,
        outer: Inherited,
    ) -> Begun<'r> {
        let (context, mode) = (take(&mut pending.context), take(&mut pending.mode));
        let call = pending.take_call();
        Begun::Later(Box::pin(self.ask_first(index, call, context, mode, outer)))
    }

    #[cold]
    fn over_before(&self, pending: &mut PendingCall, end: OutcomeKind) -> Begun<'_> {
        Begun::Over(self.refused(pending.take_call(), end))
    }

    #[inline(never)]
    fn begin_job<'r>(
        &'r self,
        index: usize,
        pending: &mut PendingCall,
        outer: Inherited,
        permit: CallPermit<'r>,
    ) -> Begun<'r> {
        let (context, mode) = (take(&mut pending.context), take(&mut pending.mode));
        let job = Job::new(self, index, pending.take_call(), context, mode, outer);
        let ran = match body::too_late(&job) {
            Some(ran) => ran,
            None if self.entries[index].tool.runs == Runs::Here => body::run_inline(self, &job),
            None => return Begun::Waiting(job, permit),
        };
        Begun::Over(self.over(job, ran, permit))
    }

    pub(super) async fn wait(self: &Arc<Self>, job: Job, permit: CallPermit<'_>) -> Outcome {
        let entry = &self.entries[job.index];
        if entry.tool.runs == Runs::Blocking {
            let deadline = job.deadline;
            let scope = job.scope.clone();
            let (ran, coercions) = Box::pin(blocking::off_the_async_threads(self, job)).await;
            let outcome = outcome::conclude(self, entry, scope, ran, deadline, coercions);
            permit.conclude(outcome.status());
            return outcome;
        }
        let (token, deadline) = (job.context.token(), job.deadline);
        let ran = match body::later(&job.scope, || job.call(self)) {
            Err(ran) => ran,
            Ok(body) if token.is_none() && deadline.is_none() => body.await,
            // Boxed, so that the future of every call stays small.
            Ok(body) => Box::pin(body::until(body, token, deadline)).await,
        };
        self.over(job, ran, permit)
    }

    #[inline]
    fn over(&self, job: Job, ran: BodyEnd, permit: CallPermit<'_>) -> Outcome {
        let (entry, deadline) = (&self.entries[job.index], job.deadline);
        let (scope, coercions) = job.conclude();
        let outcome = outcome::conclude(self, entry, scope, ran, deadline, coercions);
        permit.conclude(outcome.status());
        outcome
    }
}

/// A refusal: who calls again and again can be dropped here, and others have their turn.
async fn yielded(outcome: Outcome) -> Outcome {
    tokio::task::yield_now().await;
    outcome
}

/// A runtime keeps itself in thread-local values, and a thread that ends has none.
#[cold]
fn too_late_to_wait(tool: &str) -> String {
    format!(
        "`{}` was not started, because its thread is ending and cannot wait; call it before, or on another thread",
        escaped(tool)
    )
}

/// What a tool is told that calls tools without end.
#[cold]
fn nested_too_deep(tool: &str, depth: usize, limit: usize) -> String {
    format!(
        "`{}` was not started, because {depth} calls are nested around it and the limit is {limit}; tools that call each other must come to an end",
        escaped(tool)
    )
}
