//! The life of a call: find, prepare, run, conclude.

use std::borrow::Cow;
use std::collections::HashMap;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;
use tracing::Instrument as _;

use super::blocking;
use super::body::{self, Ran};
use super::entry::Entry;
use super::statistics::{Statistics, Tally};
use crate::contract::panics::discard;
use crate::contract::scope::{Authority, ContractScope, Scope};
use crate::futures;
use crate::tool::arguments::{Examined, InvalidArguments, nearest};
use crate::tool::call::{Call, Request};
use crate::tool::context::{CallInfo, Context, Deadline, Shared};
use crate::tool::dynamic::Runs;
use crate::tool::lookup::{Own, Sources};
use crate::tool::outcome::End;
use crate::tool::reply::Ended;
use crate::tool::{Outcome, Status, ToolCall};

/// Everything behind a registry's clones.
pub(crate) struct Inner {
    pub(super) entries: Vec<Entry>,
    names: HashMap<String, usize, foldhash::fast::RandomState>,
    shared: Shared,
    authority: Arc<Authority>,
    pub(super) limits: Limits,
    tally: Tally,
    running: AtomicUsize,
    pub(super) blocking: Arc<AtomicUsize>,
    pub(super) gate: tokio::sync::RwLock<()>,
    pub(super) listing: OnceLock<serde_json::Value>,
}

impl std::fmt::Debug for Inner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list()
            .entries(self.entries.iter().map(|entry| entry.tool.name()))
            .finish()
    }
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) argument_bytes: usize,
    pub(super) output_chars: usize,
    pub(super) parallel: usize,
    pub(super) calls: Option<usize>,
    pub(super) blocking: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            argument_bytes: 1 << 20,
            output_chars: 100_000,
            parallel: 4,
            calls: None,
            blocking: 64,
        }
    }
}

/// A call on its way to a body.
pub(super) struct Job {
    pub(super) index: usize,
    pub(super) scope: ContractScope,
    pub(super) context: Context,
    pub(super) own: Option<Own>,
    pub(super) examined: OnceLock<Examined>,
    pub(super) only_check: bool,
}

impl Inner {
    pub(super) fn new(
        entries: Vec<Entry>,
        shared: Shared,
        authority: Authority,
        limits: Limits,
    ) -> Self {
        let names = entries
            .iter()
            .enumerate()
            .map(|(index, entry)| (entry.tool.name.clone(), index))
            .collect();
        Self {
            entries,
            names,
            shared,
            authority: Arc::new(authority),
            limits,
            tally: Tally::default(),
            running: AtomicUsize::new(0),
            blocking: Arc::default(),
            gate: tokio::sync::RwLock::new(()),
            listing: OnceLock::new(),
        }
    }

    pub(super) fn find(&self, name: &str) -> Option<&Entry> {
        self.entries.get(*self.names.get(name)?)
    }

    pub(super) fn statistics(&self) -> Statistics {
        self.tally.read(self.authority.counters.read())
    }

    pub(super) fn call_blocking(self: &Arc<Self>, call: ToolCall, context: Context) -> Outcome {
        if tokio::runtime::Handle::try_current().is_ok() {
            let end = End::Failed(
                "`call_blocking` was used inside an async runtime; await `call` instead".to_owned(),
            );
            return self.concluded(Outcome::new(call.id, call.name, end));
        }
        let waits = self
            .find(&call.name)
            .is_some_and(|entry| entry.tool.runs != Runs::Here);
        let call = self.call(call, context, false);
        if waits {
            return blocking::wait(call);
        }
        // A sync body is done at the first poll.
        match futures::at_once(std::pin::pin!(call)) {
            Some(outcome) => outcome,
            None => unreachable!("a call of a sync tool has nothing to wait for"),
        }
    }

    pub(super) async fn call(
        self: &Arc<Self>,
        call: ToolCall,
        context: Context,
        only_check: bool,
    ) -> Outcome {
        self.traced(call, context, only_check, None).await
    }

    /// A call of a batch that is behind the gate.
    pub(super) async fn call_gated(
        self: &Arc<Self>,
        call: ToolCall,
        context: Context,
        gate: usize,
    ) -> Outcome {
        self.traced(call, context, false, Some(gate)).await
    }

    async fn traced(
        self: &Arc<Self>,
        call: ToolCall,
        context: Context,
        only_check: bool,
        gate: Option<usize>,
    ) -> Outcome {
        let span = tracing::info_span!(
            "execute_tool",
            otel.name = format_args!("execute_tool {}", call.name),
            gen_ai.operation.name = "execute_tool",
            gen_ai.tool.name = %call.name,
            gen_ai.tool.call.id = %call.id,
            gen_ai.tool.r#type = "function",
            outcome = tracing::field::Empty,
        );
        if span.is_disabled() {
            return self.dispatch(call, context, only_check, gate).await;
        }
        async {
            let outcome = self.dispatch(call, context, only_check, gate).await;
            tracing::Span::current().record("outcome", outcome.status().name());
            outcome
        }
        .instrument(span)
        .await
    }

    async fn dispatch(
        self: &Arc<Self>,
        call: ToolCall,
        context: Context,
        only_check: bool,
        gate: Option<usize>,
    ) -> Outcome {
        let Some(&index) = self.names.get(&call.name) else {
            return self.concluded(self.unknown(call));
        };
        let entry = &self.entries[index];
        if call.arguments.len() > self.limits.argument_bytes {
            let invalid =
                InvalidArguments::too_large(self.limits.argument_bytes, call.arguments.len());
            let end = End::InvalidArguments(Box::new(invalid));
            return self.concluded(Outcome::new(call.id, call.name, end));
        }
        let Some(ticket) = Ticket::take(self) else {
            let limit = self.limits.calls.unwrap_or_default();
            return self.concluded(Outcome::new(call.id, call.name, End::Overloaded { limit }));
        };
        let deadline = earlier(context.deadline, entry.timeout);
        let job = self.job(index, call, context, deadline, only_check, gate);
        let scope = job.scope.clone();
        let (ran, coercions) = match (body::too_late(&job.context, deadline), entry.tool.runs) {
            (Some(ran), _) => (ran, job.conclude()),
            (None, Runs::Here) => {
                let ran = scope.clone().enter(|| body::here(&self.request(&job)));
                (ran, job.conclude())
            }
            (None, Runs::Async) => {
                let cancellation = job.context.cancellation.clone();
                let request = self.request(&job);
                let ran = scope
                    .clone()
                    .wrap(body::until(
                        request.later(),
                        cancellation.as_ref(),
                        deadline,
                    ))
                    .await;
                (ran, job.conclude())
            }
            (None, Runs::OffTheAsyncThreads) => {
                blocking::off_the_async_threads(self, job, deadline).await
            }
        };
        let outcome = self.outcome(scope, ran, deadline, coercions);
        ticket.conclude(outcome.status());
        outcome
    }

    fn job(
        &self,
        index: usize,
        call: ToolCall,
        context: Context,
        deadline: Option<At>,
        only_check: bool,
        gate: Option<usize>,
    ) -> Job {
        let entry = &self.entries[index];
        let own = (!entry.needs.is_empty()).then(|| Own {
            info: CallInfo {
                id: call.id.clone(),
                tool: call.name.clone(),
            },
            cancellation: match &context.cancellation {
                Some(token) => token.child_token(),
                None => CancellationToken::new(),
            },
            deadline: Deadline(deadline.map(|deadline| deadline.at)),
            progress: context.progress.clone(),
        });
        let mut scope = Scope::new(
            call.id,
            call.name,
            call.arguments,
            entry.policy,
            Some(Arc::clone(&self.authority)),
            context.run.clone(),
        );
        scope.gate = gate;
        Job {
            index,
            scope: ContractScope::new(scope),
            context,
            own,
            examined: OnceLock::new(),
            only_check,
        }
    }

    pub(super) fn request<'c>(&'c self, job: &'c Job) -> Prepared<'c> {
        Prepared {
            entry: &self.entries[job.index],
            shared: &self.shared,
            job,
        }
    }

    fn outcome(
        &self,
        scope: ContractScope,
        ran: Ran,
        deadline: Option<At>,
        coercions: Vec<crate::tool::Coercion>,
    ) -> Outcome {
        let noted = scope.get().and_then(Scope::noted);
        let observed = scope.get().map(Scope::observed).unwrap_or_default();
        let (id, tool) = match scope.into_inner() {
            Some(Ok(scope)) => (scope.call_id, scope.tool),
            Some(Err(shared)) => (shared.call_id.clone(), shared.tool.clone()),
            None => (String::new(), String::new()),
        };
        let after = deadline.map_or(Duration::ZERO, |deadline| deadline.after);
        let end = match (noted, ran) {
            // What ended the call is the violation, whatever was made of its panic on the way.
            (Some(violation), _) => End::Violation(Box::new(violation)),
            (_, Ran::Replied(reply)) => match reply {
                Ok(output) => End::Ok(super::body::cap(output, self.limits.output_chars)),
                Err(Ended::Checked | Ended::Described) => {
                    End::Ok(crate::tool::reply::Output::default())
                }
                Err(Ended::Violation(violation)) => End::Violation(violation),
                Err(Ended::Invalid(invalid)) => End::InvalidArguments(invalid),
                Err(Ended::Failed(message)) => End::Failed(
                    super::body::cap_text(Cow::Owned(message), self.limits.output_chars)
                        .into_owned(),
                ),
            },
            (_, Ran::Panicked) => End::Panicked,
            (_, Ran::TimedOut { may_still_run }) => End::TimedOut {
                after,
                may_still_run,
            },
            (_, Ran::Cancelled { may_still_run }) => End::Cancelled {
                reason: "the call was cancelled",
                may_still_run,
            },
            (_, Ran::Overloaded { limit }) => End::Overloaded { limit },
            (_, Ran::Impossible(why)) => End::Failed(why.to_owned()),
        };
        Outcome {
            id,
            tool,
            end,
            observed,
            coercions,
        }
    }

    #[cold]
    fn unknown(&self, call: ToolCall) -> Outcome {
        let known = self.entries.iter().map(|entry| entry.tool.name());
        let nearest = nearest(&call.name, known).map(str::to_owned);
        Outcome::new(call.id, call.name, End::UnknownTool { nearest })
    }

    pub(super) fn concluded(&self, outcome: Outcome) -> Outcome {
        self.tally.count(outcome.status());
        outcome
    }
}

impl Job {
    /// What is left of a job when it is done.
    pub(super) fn conclude(self) -> Vec<crate::tool::Coercion> {
        let Self {
            scope,
            context,
            own,
            examined,
            ..
        } = self;
        drop((scope, own));
        // It may hold the caller's last handle of a value whose destructor panics.
        discard(context);
        examined
            .into_inner()
            .map_or_else(Vec::new, |examined| examined.coercions)
    }
}

/// A job with what it needs of its registry.
pub(super) struct Prepared<'c> {
    entry: &'c Entry,
    shared: &'c Shared,
    job: &'c Job,
}

impl<'c> Prepared<'c> {
    pub(super) fn call(&self) -> crate::tool::call::Running<'c> {
        let job = self.job;
        let request = Request {
            contract: self.entry.tool.contract,
            scope: &job.scope,
            only_check: job.only_check,
            text: job.scope.get().map_or("", |scope| &scope.arguments),
            inputs: &self.entry.inputs,
            examined: &job.examined,
            sources: job.own.as_ref().map(|own| Sources {
                context: &job.context,
                shared: self.shared,
                own,
            }),
        };
        self.entry.tool.shim.call(Call::new(request))
    }

    fn later(self) -> impl Future<Output = Ran> + use<'c> {
        body::later(self)
    }
}

/// A moment, and how long after the beginning of the call it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) at: Instant,
    after: Duration,
}

fn earlier(context: Option<Instant>, timeout: Option<Duration>) -> Option<At> {
    if context.is_none() && timeout.is_none() {
        return None;
    }
    let now = Instant::now();
    let own = timeout.and_then(|timeout| now.checked_add(timeout));
    let at = match (context, own) {
        (Some(one), Some(other)) => one.min(other),
        (one, other) => one.or(other)?,
    };
    Some(At {
        at,
        after: at.saturating_duration_since(now),
    })
}

/// A call that is counted among the running ones until it ends, also when its future is dropped.
struct Ticket<'r> {
    inner: &'r Inner,
    open: bool,
}

impl<'r> Ticket<'r> {
    fn take(inner: &'r Inner) -> Option<Self> {
        if let Some(limit) = inner.limits.calls {
            let before = inner.running.fetch_add(1, Ordering::Relaxed);
            if before >= limit {
                inner.running.fetch_sub(1, Ordering::Relaxed);
                return None;
            }
        }
        Some(Self { inner, open: true })
    }

    fn conclude(mut self, status: Status) {
        self.open = false;
        self.inner.tally.count(status);
    }
}

impl Drop for Ticket<'_> {
    fn drop(&mut self) {
        if self.inner.limits.calls.is_some() {
            self.inner.running.fetch_sub(1, Ordering::Relaxed);
        }
        if self.open {
            self.inner.tally.count(Status::Cancelled);
        }
    }
}
