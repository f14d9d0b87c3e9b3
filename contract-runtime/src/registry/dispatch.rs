//! The path of a call by name: found, let in, run, concluded.

use std::sync::Arc;

use tracing::Instrument as _;
use tracing::level_filters::LevelFilter;

use super::blocking;
use super::body::{self, Job, Mode};
use super::entry::Entry;
use super::inner::{CallPermit, Inner};
use super::outcome::{self, Ending};
use crate::contract::scope::{ContractScope, Inherited};
use crate::schema::Coercion;
use crate::schema::arguments::{InvalidArguments, escaped};
use crate::tool::Context;
use crate::tool::call::Call;
use crate::tool::call_input::CallInput;
use crate::tool::dynamic::Runs;
use crate::tool::failure::{FailureKind, Stopped};
use crate::tool::observe::{ObservedCall, process_observes_calls};
use crate::tool::reply::Reply;

impl Inner {
    /// Whether a call of the tool, or of an unknown one, ends at its first poll.
    #[inline]
    pub(super) fn ends_at_once(&self, entry: Option<&Entry>) -> bool {
        let is_sync = |entry: &Entry| entry.tool.runs == Runs::Here && !entry.asks.any();
        self.before.is_empty() && entry.is_none_or(is_sync)
    }

    /// Makes a call of the tool at this index, or of one that is not known.
    pub(super) async fn dispatch(
        self: &Arc<Self>,
        index: Option<usize>,
        call: &mut CallInput<'_>,
        context: Context,
        mode: Mode,
    ) -> Ending {
        if self.renames {
            self.give_own_names(call);
        }
        let is_observed =
            self.observer.observes_calls() || context.observes_calls() || process_observes_calls();
        if is_observed || is_traced() {
            // Boxed, so that the future of every call stays small.
            return Box::pin(self.followed(index, call, context, mode, is_observed)).await;
        }
        self.let_in(index, call, context, mode).await
    }

    /// Makes a call inside a span, and tells its observers.
    #[cold]
    async fn followed(
        self: &Arc<Self>,
        index: Option<usize>,
        call: &CallInput<'_>,
        context: Context,
        mode: Mode,
        is_observed: bool,
    ) -> Ending {
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
        let followed = async {
            let blocking = index.is_some_and(|at| self.entries[at].tool.runs == Runs::Blocking);
            let begin = || ObservedCall::begin(call.to_call(), &context, &self.observer, blocking);
            let observed = (is_observed && mode.is_a_call()).then(begin);
            let ending = self.let_in(index, call, context, mode).await;
            match observed {
                Some(observed) => ending.told(call, observed),
                None => ending,
            }
        };
        let ending = followed.instrument(span.clone()).await;
        span.record("outcome", ending.end.status().name());
        span.record("effect", ending.effect.name());
        ending
    }

    /// Refuses a call for which its tool does not matter, and asks a person or runs the others.
    async fn let_in(
        self: &Arc<Self>,
        index: Option<usize>,
        call: &CallInput<'_>,
        context: Context,
        mode: Mode,
    ) -> Ending {
        let outer = ContractScope::inherited();
        let index = match self.admit(index, call, &context, &mode, outer.as_ref()) {
            Ok(index) => index,
            Err(refusal) => {
                let is_by_hook = matches!(refusal, FailureKind::Reported { .. });
                let ending = self.refused(refusal);
                if is_by_hook {
                    // A caller that calls again and again can be dropped here, and others have their turn.
                    tokio::task::yield_now().await;
                }
                return ending;
            }
        };
        if self.entries[index].asks.any() && mode.policy.is_none() {
            return Box::pin(self.ask_first(index, call, context, mode, outer)).await;
        }
        self.execute(index, call, context, mode, outer).await
    }

    /// What stands in the way of a call before its policy and its limits are looked at.
    fn admit(
        &self,
        index: Option<usize>,
        call: &CallInput<'_>,
        context: &Context,
        mode: &Mode,
        outer: Option<&Inherited>,
    ) -> Result<usize, FailureKind> {
        let (depth, most) = (outer.map_or(0, |outer| outer.depth), self.limits.depth);
        if depth >= most {
            return Err(nested_too_deep(&call.name, depth, most));
        }
        if mode.is_a_call() {
            self.before.ask(|| call.to_call())?;
        }
        let Some(index) = index else {
            return Err(self.unknown(&call.name));
        };
        let (limit, length) = (self.limits.argument_bytes, call.arguments.len());
        if length > limit {
            let invalid = InvalidArguments::too_large(limit, length);
            return Err(FailureKind::InvalidArguments(Box::new(invalid)));
        }
        if mode.is_a_call()
            && let Some(history) = context.history()
            && let Err(problem) = history.take_turn(self.entries[index].tool.alone)
        {
            return Err(not_started(problem.reason()));
        }
        Ok(index)
    }

    /// Runs a call that was let in, unless its run is over or there is no room for it.
    pub(super) async fn execute(
        self: &Arc<Self>,
        index: usize,
        call: &CallInput<'_>,
        context: Context,
        mode: Mode,
        outer: Option<Inherited>,
    ) -> Ending {
        if context.run_is_over() {
            return self.refused(not_started("an earlier call of the run broke a contract"));
        }
        let Some(permit) = CallPermit::take(self) else {
            let limit = self.limits.calls.unwrap_or_default();
            return self.refused(FailureKind::Overloaded { limit });
        };
        let entry = &self.entries[index];
        let job = Job::new(entry, call, context, mode.only_check);
        let deadline = job.deadline;
        let mut scope = self.scope(index, call, &job.context, mode, outer);
        let late = body::too_late(&job).map(Err);
        let ran = match entry.tool.runs {
            _ if late.is_some() => late,
            Runs::Here => {
                let request = job.request(self, entry, &call.arguments);
                let start = || entry.tool.shim.call(Call::new(&request));
                Some(body::inline(&mut scope, start))
            }
            Runs::Async => {
                let request = job.request(self, entry, &call.arguments);
                let start = || entry.tool.shim.call(Call::new(&request));
                let token = job.context.token();
                Some(match body::later(&mut scope, start) {
                    Err(ran) => ran,
                    Ok(body) if token.is_none() && deadline.is_none() => body.await,
                    Ok(body) => Box::pin(body::until(body, token, deadline))
                        .await
                        .unwrap_or_else(Err),
                })
            }
            Runs::Blocking => None,
        };
        let Some(ran) = ran else {
            let handle = scope.clone();
            let thread = blocking::off_the_async_threads(self, index, job, scope);
            let (ran, coercions) = Box::pin(thread).await;
            return self.conclude(entry, handle, ran, coercions, permit);
        };
        let coercions = job.conclude();
        self.conclude(entry, scope, ran, coercions, permit)
    }

    fn conclude(
        &self,
        entry: &Entry,
        scope: ContractScope,
        ran: Reply,
        coercions: Vec<Coercion>,
        permit: CallPermit<'_>,
    ) -> Ending {
        let ending = outcome::conclude(self, entry, &scope, ran, coercions);
        permit.conclude(ending.end.status());
        scope.release();
        ending
    }

    /// The end of a call that has not begun, which is counted.
    #[cold]
    pub(super) fn refused(&self, kind: FailureKind) -> Ending {
        let ending = Ending::before_body(kind);
        self.shards.count(ending.end.status());
        ending
    }
}

/// Somebody may listen to spans.
#[inline]
fn is_traced() -> bool {
    LevelFilter::current() >= LevelFilter::INFO
}

pub(super) fn not_started(reason: &'static str) -> FailureKind {
    let stopped = Stopped::NotStarted;
    FailureKind::Cancelled { reason, stopped }
}

/// What a tool is told that calls tools without end.
#[cold]
fn nested_too_deep(tool: &str, depth: usize, limit: usize) -> FailureKind {
    FailureKind::Failed(format!(
        "`{}` was not started, because {depth} calls are nested around it and the limit is {limit}; tools that call each other must come to an end",
        escaped(tool)
    ))
}
