//! The life of a call: find, prepare, run, conclude.

use std::sync::Arc;

use tracing::Instrument as _;

use super::body::{self, Ran};
use super::inner::{Inner, Ticket};
use super::job::{Job, Mode};
use super::{blocking, conclude};
use crate::futures;
use crate::tool::arguments::{InvalidArguments, escaped};
use crate::tool::dynamic::Runs;
use crate::tool::outcome::End;
use crate::tool::{Context, Outcome, ToolCall};

/// A call that was made: refused, let in and already over, or waiting for its body.
enum Begun<'r> {
    Refused(Outcome),
    Over(Outcome),
    Waiting(Job, Ticket<'r>),
}

impl Inner {
    pub(super) fn call_blocking(self: &Arc<Self>, call: ToolCall, context: Context) -> Outcome {
        if tokio::runtime::Handle::try_current().is_ok() && !blocking::may_block() {
            let why = "`call_blocking` was used inside an async runtime; await `call` instead";
            return self.refused(call, End::Failed(why.to_owned()));
        }
        let waits = self
            .find(&call.name)
            .is_some_and(|entry| entry.tool.runs != Runs::Here);
        let call = self.call(call, context, Mode::default());
        if waits {
            return blocking::wait(call);
        }
        // A sync body is done at the first poll, and a refusal at the second.
        let mut call = std::pin::pin!(call);
        match futures::at_once(call.as_mut()).or_else(|| futures::at_once(call)) {
            Some(outcome) => outcome,
            None => unreachable!("a call of a sync tool has nothing to wait for"),
        }
    }

    pub(super) async fn call(
        self: &Arc<Self>,
        call: ToolCall,
        context: Context,
        mode: Mode,
    ) -> Outcome {
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
        if !span.is_disabled() {
            // Boxed, so that the future of every call stays small.
            return Box::pin(self.traced(call, context, mode).instrument(span)).await;
        }
        self.followed(call, context, mode).await
    }

    async fn traced(self: &Arc<Self>, call: ToolCall, context: Context, mode: Mode) -> Outcome {
        let outcome = self.followed(call, context, mode).await;
        tracing::Span::current().record("outcome", outcome.status().name());
        outcome
    }

    #[inline]
    async fn followed(self: &Arc<Self>, call: ToolCall, context: Context, mode: Mode) -> Outcome {
        match self.begin(call, context, mode) {
            Begun::Over(outcome) => outcome,
            Begun::Waiting(job, ticket) => self.wait(job, ticket).await,
            Begun::Refused(outcome) => {
                // Who calls again and again can be dropped here, and others have their turn.
                tokio::task::yield_now().await;
                outcome
            }
        }
    }

    /// Finds the tool and lets the call in; a sync body runs here, to its end.
    fn begin(&self, call: ToolCall, context: Context, mode: Mode) -> Begun<'_> {
        if self.before.is_some()
            && mode.is_a_call()
            && let Err(end) = self.before.ask(&call)
        {
            return Begun::Refused(self.refused(call, end));
        }
        let Some(index) = self.position(&call.name) else {
            return Begun::Over(self.unknown(call));
        };
        let limit = self.limits.argument_bytes;
        if call.arguments.len() > limit {
            let invalid = InvalidArguments::too_large(limit, call.arguments.len());
            return Begun::Over(self.refused(call, End::InvalidArguments(Box::new(invalid))));
        }
        if context.run_is_over() {
            let reason = "an earlier call of the run broke a contract";
            let end = End::Cancelled {
                reason,
                may_still_run: false,
            };
            return Begun::Over(self.refused(call, end));
        }
        let Some(ticket) = Ticket::take(self) else {
            let limit = self.limits.calls.unwrap_or_default();
            return Begun::Over(self.refused(call, End::Overloaded { limit }));
        };
        let job = Job::new(self, index, call, context, mode);
        let ran = match body::too_late(&job) {
            Some(ran) => ran,
            None if self.entries[index].tool.runs == Runs::Here => body::here(self, &job),
            None => return Begun::Waiting(job, ticket),
        };
        Begun::Over(self.over(job, ran, ticket))
    }

    async fn wait(self: &Arc<Self>, job: Job, ticket: Ticket<'_>) -> Outcome {
        if self.entries[job.index].tool.runs == Runs::OffTheAsyncThreads {
            let deadline = job.deadline;
            let scope = job.scope.clone();
            let (ran, coercions) = Box::pin(blocking::off_the_async_threads(self, job)).await;
            let outcome = conclude::outcome(self, scope, ran, deadline, coercions);
            ticket.conclude(outcome.status());
            return outcome;
        }
        let (token, deadline) = (job.context.token(), job.deadline);
        let ran = match body::later(self, &job) {
            Err(ran) => ran,
            Ok(body) if token.is_none() && deadline.is_none() => body.await,
            // Boxed, so that the future of every call stays small.
            Ok(body) => Box::pin(body::until(body, token, deadline)).await,
        };
        self.over(job, ran, ticket)
    }

    #[inline]
    fn over(&self, job: Job, ran: Ran, ticket: Ticket<'_>) -> Outcome {
        let deadline = job.deadline;
        let (scope, coercions) = job.conclude();
        let outcome = conclude::outcome(self, scope, ran, deadline, coercions);
        ticket.conclude(outcome.status());
        outcome
    }
}
