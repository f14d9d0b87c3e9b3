//! The stages of a call: find, prepare, run, conclude.

use std::future::Future;
use std::mem::take;
use std::pin::Pin;
use std::sync::Arc;

use tracing::Instrument as _;
use tracing::level_filters::LevelFilter;

use super::blocking::Problem;
use super::body::{self, BodyEnd};
use super::inner::{CallPermit, Inner};
use super::job::{Job, Mode};
use super::outcome::Ending;
use super::straight::{Admitted, outcome_of, text, text_of};
use super::{blocking, outcome};
use crate::contract::scope::{ContractScope, Inherited};
use crate::futures;
use crate::schema::arguments::{InvalidArguments, escaped};
use crate::tool::context::OutcomeObserver;
use crate::tool::dynamic::Runs;
use crate::tool::failure::{FailureKind, Stopped};
use crate::tool::{Context, Outcome, ToolCall, ToolCallRef};

/// A call that was made: refused, let in and already over, or waiting for its body.
pub(super) enum Begun<'r> {
    Refused(Outcome),
    Over(Outcome),
    Waiting(Job, CallPermit<'r>),
    /// Nothing of it has run.
    Straight(Admitted<'r>),
    /// One that asks first.
    Later(Later<'r>),
}

/// What the first poll of a call comes to.
enum Started<'r> {
    Over(Outcome),
    Straight(Admitted<'r>),
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
    fn of(call: ToolCall) -> Self {
        Self {
            call,
            context: Context::default(),
            mode: Mode::default(),
        }
    }

    fn take_call(&mut self) -> ToolCall {
        ToolCall {
            id: take(&mut self.call.id),
            name: take(&mut self.call.name),
            arguments: take(&mut self.call.arguments),
        }
    }

    /// It brings nothing but its arguments.
    #[inline]
    fn is_plain(&self) -> bool {
        self.context.is_empty() && self.mode.is_plain()
    }
}

impl Inner {
    /// How a call ends that its turn has no room for: nothing of it runs, and the calls beside it go on.
    #[inline]
    fn alone_problem(&self, index: usize, pending: &PendingCall) -> Option<FailureKind> {
        let history = pending.context.history();
        let history = history.filter(|_| pending.mode.is_a_call())?;
        let alone = self
            .entries
            .get(index)
            .is_some_and(|entry| entry.tool.alone);
        let problem = history.take_turn(alone).err()?;
        Some(FailureKind::Cancelled {
            reason: problem.reason(),
            stopped: Stopped::NotStarted,
        })
    }

    /// A call by name, which begins at its first poll. That is all that a sync tool takes, and an async one that nothing
    /// interrupts is polled in place, so nothing is boxed for either.
    pub(super) fn call(
        self: &Arc<Self>,
        call: ToolCall,
        context: Context,
        mode: Mode,
    ) -> impl Future<Output = Outcome> + Send + use<'_> {
        let mut pending = PendingCall {
            call,
            context,
            mode,
        };
        async move {
            match self.start(&mut pending) {
                Started::Over(outcome) => outcome,
                Started::Straight(admitted) => self.straight_owned(admitted, pending.call).await,
                Started::Later { future, .. } => future.await,
            }
        }
    }

    /// The same of a call that brings nothing but its arguments.
    pub(super) async fn call_plain(self: &Arc<Self>, call: ToolCall) -> Outcome {
        let lent = &ToolCallRef::from(&call);
        let Some(admitted) = self.start_plain(lent) else {
            return match self.begin_plain(call) {
                Ok(outcome) => outcome,
                Err(later) => later.await,
            };
        };
        let effect = admitted.effect();
        let ended = if admitted.runs_here() {
            self.straight(admitted, lent)
        } else {
            self.straight_later(admitted, lent).await
        };
        outcome_of(ended, effect, call.id, call.name)
    }

    /// The same from texts that the caller keeps to a text.
    pub(super) async fn call_text(
        self: &Arc<Self>,
        call: ToolCallRef<'_>,
    ) -> Result<String, Outcome> {
        match self.start_plain(&call) {
            Some(admitted) if admitted.runs_here() => text(self.straight(admitted, &call), &call),
            Some(admitted) => text(self.straight_later(admitted, &call).await, &call),
            None => text_of(match self.begin_plain(call.into()) {
                Ok(outcome) => outcome,
                Err(later) => later.await,
            }),
        }
    }

    /// Begins a call that brings nothing but its arguments where something may stand in the way; the error is one that goes on.
    fn begin_plain(self: &Arc<Self>, call: ToolCall) -> Result<Outcome, Later<'_>> {
        let mut pending = PendingCall::of(call);
        match self.start(&mut pending) {
            Started::Over(outcome) => Ok(outcome),
            Started::Straight(admitted) => {
                Err(Box::pin(self.straight_owned(admitted, pending.call)))
            }
            Started::Later { future, .. } => Err(future),
        }
    }

    /// Runs an async tool for a call that nobody else keeps.
    async fn straight_owned(&self, admitted: Admitted<'_>, call: ToolCall) -> Outcome {
        let lent = &ToolCallRef::from(&call);
        let effect = admitted.effect();
        let ended = self.straight_later(admitted, lent).await;
        outcome_of(ended, effect, call.id, call.name)
    }

    pub(super) fn call_text_blocking(
        self: &Arc<Self>,
        call: ToolCallRef<'_>,
    ) -> Result<String, Outcome> {
        if blocking::problem().is_none()
            && let Some(admitted) = self.start_plain(&call)
        {
            if admitted.runs_here() {
                return text(self.straight(admitted, &call), &call);
            }
            return match blocking::wait(self.straight_later(admitted, &call)) {
                Some(ended) => text(ended, &call),
                None => Err(blocking::no_runtime(call.into())),
            };
        }
        text_of(self.call_blocking(call.into(), Context::default()))
    }

    pub(super) fn call_blocking(self: &Arc<Self>, call: ToolCall, context: Context) -> Outcome {
        let problem = blocking::problem();
        if let Some(problem) = problem.filter(|_| self.waits(&call.name)) {
            let why = match problem {
                Problem::Inside => CANNOT_WAIT.to_owned(),
                Problem::Ending => too_late_to_wait(&call.name),
            };
            return self.refused(call, FailureKind::Failed(why));
        }
        let (id, tool) = (call.id.clone(), call.name.clone());
        let mut pending = PendingCall {
            context,
            ..PendingCall::of(call)
        };
        let (mut future, waits) = match self.start(&mut pending) {
            Started::Over(outcome) => return outcome,
            Started::Straight(admitted) => {
                let effect = admitted.effect();
                let call = &ToolCallRef::from(&pending.call);
                let ended = blocking::wait(self.straight_later(admitted, call));
                let call = pending.call;
                return match ended {
                    Some(ended) => outcome_of(ended, effect, call.id, call.name),
                    None => blocking::no_runtime(call),
                };
            }
            Started::Later { future, waits } => (future, waits),
        };
        if waits && problem.is_none() {
            let outcome = blocking::wait(future);
            return outcome.unwrap_or_else(|| blocking::no_runtime(pending.call));
        }
        // A sync body is done at the first poll, and a refusal at the second. Only an approver may take longer.
        let first = futures::now_or_never(future.as_mut());
        let outcome = first.or_else(|| futures::now_or_never(future.as_mut()));
        outcome.unwrap_or_else(|| {
            let (reason, stopped) = (NOT_AT_ONCE, Stopped::NotStarted);
            Outcome::failure(id, tool, FailureKind::Cancelled { reason, stopped })
        })
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
        if (is_traced() || pending.context.hears().is_some())
            && let Some(followed) = self.followed(pending)
        {
            return followed;
        }
        match self.begin(pending) {
            Begun::Over(outcome) => Started::Over(outcome),
            Begun::Straight(admitted) => Started::Straight(admitted),
            begun => self.waiting(begun),
        }
    }

    #[inline(never)]
    fn waiting<'r>(self: &'r Arc<Self>, begun: Begun<'r>) -> Started<'r> {
        let (future, waits): (Later<'_>, _) = match begun {
            Begun::Over(outcome) => return Started::Over(outcome),
            Begun::Straight(admitted) => return Started::Straight(admitted),
            Begun::Waiting(job, permit) => (Box::pin(self.wait(job, permit)), true),
            Begun::Later(future) => (future, true),
            Begun::Refused(outcome) => (Box::pin(yielded(outcome)), false),
        };
        Started::Later { future, waits }
    }

    /// The call inside of its span, if anybody follows it.
    #[cold]
    fn followed(self: &Arc<Self>, pending: &mut PendingCall) -> Option<Started<'_>> {
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
            effect = tracing::field::Empty,
        );
        if span.is_disabled() && pending.context.hears().is_none() {
            return None;
        }
        let entry = self.find(&pending.call.name);
        let waits = entry.is_some_and(|entry| entry.tool.runs != Runs::Here || entry.asks.any());
        let pending = PendingCall {
            call: pending.take_call(),
            context: take(&mut pending.context),
            mode: take(&mut pending.mode),
        };
        let call = self.traced(pending, span.clone());
        let future = Box::pin(call.instrument(span));
        Some(Started::Later { future, waits })
    }

    /// A call that somebody follows, by its span or otherwise.
    async fn traced(self: &Arc<Self>, mut pending: PendingCall, span: tracing::Span) -> Outcome {
        let heard = self.heard(&pending);
        let outcome = match self.begin(&mut pending) {
            Begun::Over(outcome) => outcome,
            Begun::Waiting(job, permit) => self.wait(job, permit).await,
            Begun::Straight(admitted) => self.straight_owned(admitted, pending.call).await,
            Begun::Later(future) => future.await,
            Begun::Refused(outcome) => yielded(outcome).await,
        };
        if let Some(hears) = heard {
            hears(&outcome);
        }
        span.record("outcome", outcome.status().name());
        span.record("effect", outcome.effect().name());
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
    #[inline]
    fn begin(self: &Arc<Self>, pending: &mut PendingCall) -> Begun<'_> {
        let index = self.position(&pending.call.name);
        if let Some(index) = index.filter(|_| pending.is_plain() && !self.before.is_some())
            && let Some(admitted) = self.admit_straight(index, pending.call.arguments.len())
        {
            return self.begin_straight(admitted, pending);
        }
        self.begin_with_care(index, pending)
    }

    #[inline]
    fn begin_straight<'r>(
        &self,
        mut admitted: Admitted<'r>,
        pending: &mut PendingCall,
    ) -> Begun<'r> {
        admitted.gate = pending.mode.gate.take();
        if !admitted.runs_here() {
            return Begun::Straight(admitted);
        }
        let effect = admitted.effect();
        let ended = self.straight(admitted, &ToolCallRef::from(&pending.call));
        let call = &mut pending.call;
        let outcome = outcome_of(ended, effect, take(&mut call.id), take(&mut call.name));
        Begun::Over(outcome)
    }

    /// The same where something may stand in the way, or the call brings more than its arguments.
    #[inline(never)]
    fn begin_with_care(
        self: &Arc<Self>,
        index: Option<usize>,
        pending: &mut PendingCall,
    ) -> Begun<'_> {
        let outer = ContractScope::inherited().unwrap_or_default();
        if outer.depth >= self.limits.depth {
            let why = nested_too_deep(&pending.call.name, outer.depth, self.limits.depth);
            return self.over_before(pending, FailureKind::Failed(why));
        }
        if self.before.is_some()
            && pending.mode.is_a_call()
            && let Err(end) = self.before.ask(&pending.call)
        {
            return Begun::Refused(self.refused(pending.take_call(), end));
        }
        let Some(index) = index else {
            return Begun::Over(self.unknown(pending.take_call()));
        };
        let (limit, length) = (self.limits.argument_bytes, pending.call.arguments.len());
        if length > limit {
            let invalid = InvalidArguments::too_large(limit, length);
            return self.over_before(pending, FailureKind::InvalidArguments(Box::new(invalid)));
        }
        if let Some(problem) = self.alone_problem(index, pending) {
            return self.over_before(pending, problem);
        }
        if self.entries[index].asks.any() && pending.mode.policy.is_none() {
            return self.begin_asking(index, pending, outer);
        }
        if pending.is_plain()
            && let Some(admitted) = self.admit_straight(index, length)
        {
            return self.begin_straight(admitted, pending);
        }
        self.admit(index, pending, outer)
    }

    /// Lets a call in whose tool is found, unless there is no room for it.
    pub(super) fn admit(
        &self,
        index: usize,
        pending: &mut PendingCall,
        outer: Inherited,
    ) -> Begun<'_> {
        if pending.context.run_is_over() {
            let reason = "an earlier call of the run broke a contract";
            let end = FailureKind::Cancelled {
                reason,
                stopped: Stopped::NotStarted,
            };
            return self.over_before(pending, end);
        }
        let Some(permit) = CallPermit::take(self) else {
            let limit = self.limits.calls.unwrap_or_default();
            return self.over_before(pending, FailureKind::Overloaded { limit });
        };
        self.begin_job(index, pending, outer, permit)
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
    fn over_before(&self, pending: &mut PendingCall, end: FailureKind) -> Begun<'_> {
        Begun::Over(self.refused(pending.take_call(), end))
    }

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
            let ending = outcome::conclude(self, entry, &scope, ran, deadline, coercions);
            return finished(ending, scope, permit);
        }
        let (token, deadline) = (job.context.token(), job.deadline);
        let mut scope = job.scope.clone();
        let request = job.request(self);
        let ran = match body::later(&mut scope, || job.call(self, &request)) {
            Err(ran) => ran,
            Ok(body) if token.is_none() && deadline.is_none() => body.await,
            // Boxed, so that the future of every call stays small.
            Ok(body) => Box::pin(body::until(body, token, deadline))
                .await
                .unwrap_or_else(BodyEnd::from)
                .in_scope(&job.scope),
        };
        drop(scope);
        self.over(job, ran, permit)
    }

    fn over(&self, job: Job, ran: BodyEnd, permit: CallPermit<'_>) -> Outcome {
        let (entry, deadline) = (&self.entries[job.index], job.deadline);
        let (scope, coercions) = job.conclude();
        let ending = outcome::conclude(self, entry, &scope, ran, deadline, coercions);
        finished(ending, scope, permit)
    }
}

fn finished(ending: Ending, scope: ContractScope, permit: CallPermit<'_>) -> Outcome {
    permit.conclude(ending.end.status());
    let (id, tool) = scope.into_names();
    ending.of(id, tool)
}

/// Somebody may listen to spans.
#[inline]
pub(super) fn is_traced() -> bool {
    LevelFilter::current() >= LevelFilter::INFO
}

/// A refusal: who calls again and again can be dropped here, and others have their turn.
async fn yielded(outcome: Outcome) -> Outcome {
    tokio::task::yield_now().await;
    outcome
}

const CANNOT_WAIT: &str = "`call_blocking` was used inside an async runtime; await `call` instead";
const NOT_AT_ONCE: &str =
    "the approver did not answer at once, and `call_blocking` cannot wait inside an async runtime";

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
