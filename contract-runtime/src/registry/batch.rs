//! Calls of one turn: read-only tools run concurrently, the others one at a time, in program order.

use std::fmt;
use std::future::Future;
use std::mem::take;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context as Task, Poll};

use super::body::{GateUse, Mode};
use super::call::{Call, Whole};
use super::dispatch::not_started;
use super::inner::Inner;
use crate::contract::history::HAS_OTHERS;
use crate::contract::scope::{ContractScope, Gate};
use crate::futures;
use crate::tool::{CallInput, Context, Outcome, Status};

/// Several calls, as [`Registry::call_all`](crate::Registry::call_all) gives them: a future that begins when it is first polled.
#[must_use = "calls begin when they are awaited"]
pub struct CallAll<'r> {
    inner: &'r Arc<Inner>,
    calls: Vec<CallInput<'r>>,
    context: Context,
    running: Option<Pin<Box<dyn Future<Output = Vec<Outcome>> + Send + 'r>>>,
}

impl<'r> CallAll<'r> {
    pub(super) fn new(inner: &'r Arc<Inner>, calls: Vec<CallInput<'r>>) -> Self {
        Self {
            inner,
            calls,
            context: Context::default(),
            running: None,
        }
    }

    /// Gives all calls one [`Context`], and with it one deadline and one cancellation.
    pub fn context(mut self, context: Context) -> Self {
        self.context = context;
        self
    }
}

impl fmt::Debug for CallAll<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallAll")
            .field("calls", &self.calls)
            .finish_non_exhaustive()
    }
}

impl Future for CallAll<'_> {
    type Output = Vec<Outcome>;

    fn poll(self: Pin<&mut Self>, task: &mut Task<'_>) -> Poll<Vec<Outcome>> {
        let this = self.get_mut();
        let running = this.running.get_or_insert_with(|| {
            let (calls, context) = (take(&mut this.calls), take(&mut this.context));
            Box::pin(run(this.inner, calls, context))
        });
        running.as_mut().poll(task)
    }
}

async fn run<'r>(
    inner: &'r Arc<Inner>,
    calls: Vec<CallInput<'r>>,
    context: Context,
) -> Vec<Outcome> {
    let outer = ContractScope::inherited().and_then(|outer| outer.gate.clone());
    let of = Arc::as_ptr(inner).addr();
    // A tool that calls a batch of its own registry already holds the gate. Taking it again would be a deadlock.
    let inside = outer.as_ref().is_some_and(|gate| gate.leads_to(of));
    let batch = Batch {
        inner,
        context: context.in_turn(),
        several: calls.len() > 1,
        stopped: AtomicBool::new(false),
        asked: AtomicBool::new(false),
        inside,
        gate: Arc::new(Gate { of, outer }),
    };
    let mut outcomes = Vec::with_capacity(calls.len());
    let mut calls = calls.into_iter().peekable();
    while let Some(call) = calls.next() {
        if !batch.reads(&call) {
            outcomes.push(batch.alone(call).await);
            continue;
        }
        let mut group = vec![call];
        while let Some(call) = calls.next_if(|call| batch.reads(call)) {
            group.push(call);
        }
        outcomes.extend(batch.join_bounded(group).await);
    }
    outcomes
}

struct Batch<'r> {
    inner: &'r Arc<Inner>,
    context: Context,
    several: bool,
    stopped: AtomicBool,
    /// Whether a call of the batch that is not read-only has not ended yet.
    asked: AtomicBool,
    inside: bool,
    gate: Arc<Gate>,
}

impl<'r> Batch<'r> {
    /// Returns whether a call keeps its place in the order; a call of an unknown tool reaches no body and needs none.
    fn reads(&self, call: &CallInput<'_>) -> bool {
        self.inner
            .find(&call.name)
            .is_none_or(|entry| entry.read_only)
    }

    async fn alone(&self, call: CallInput<'r>) -> Outcome {
        if self.context.observes_calls() {
            // An observer of the run has seen the calls before this one end, and may end the run here.
            tokio::task::yield_now().await;
        }
        if self.asked.load(Ordering::Relaxed) && !self.stopped.load(Ordering::Relaxed) {
            // This call may depend on the one that was not run.
            let reason = "an earlier call of the same turn waits for a person's answer";
            return self.not_started(call, reason).await;
        }
        if self.inside {
            return self.one(call, GateUse::None).await;
        }
        if self.waits(&call) {
            let outcome = self.one(call, GateUse::Exclusive).await;
            if outcome.status() == Status::Asked {
                self.asked.store(true, Ordering::Relaxed);
            }
            return outcome;
        }
        let _gate = self.inner.gate.write().await;
        self.one(call, GateUse::None).await
    }

    async fn join_bounded(&self, calls: Vec<CallInput<'r>>) -> Vec<Outcome> {
        // A call that waits for a hook or for approval must not block calls that write, so each call takes the gate for itself.
        let apart = !self.inside && calls.iter().any(|call| self.waits(call));
        let _gate = if self.inside || apart {
            None
        } else {
            Some(self.inner.gate.read().await)
        };
        let made = calls.into_iter().map(|call| async move {
            if apart && self.waits(&call) {
                return self.one(call, GateUse::Shared).await;
            }
            let _gate = if apart {
                Some(self.inner.gate.read().await)
            } else {
                None
            };
            self.one(call, GateUse::None).await
        });
        // Collected, because a future that holds the closure is not known to be `Send`.
        let made: Vec<_> = made.collect();
        futures::join_bounded(made, self.inner.limits.parallel).await
    }

    /// Returns whether a call waits for a hook or a person before it passes the gate.
    fn waits(&self, call: &CallInput<'_>) -> bool {
        let entry = self.inner.find(&call.name);
        self.inner.has_hooks(&self.context) || entry.is_some_and(|entry| entry.asks.any())
    }

    /// Makes one call, which takes the gate as `gate_use` says, unless the batch holds it already.
    async fn one(&self, mut call: CallInput<'r>, gate_use: GateUse) -> Outcome {
        if self.stopped.load(Ordering::Relaxed) {
            let reason = "an earlier call of the same turn broke a contract";
            return self.not_started(call, reason).await;
        }
        let entry = self.inner.find(&call.name);
        if self.several && entry.is_some_and(|entry| entry.tool.alone) {
            return self.not_started(call, HAS_OTHERS).await;
        }
        let mode = Mode {
            gate: Some(Arc::clone(&self.gate)),
            gate_use,
            ..Mode::default()
        };
        call.context = take(&mut call.context).or(&self.context);
        let outcome = Call::<Whole>::new(self.inner, call, mode).await;
        if outcome.status() == Status::Violation {
            self.stopped.store(true, Ordering::Relaxed);
        }
        outcome
    }

    async fn not_started(&self, call: CallInput<'r>, reason: &'static str) -> Outcome {
        let refusal = self.inner.ask_hooks(&call, &self.context, false).await;
        let kind = refusal.err().unwrap_or_else(|| not_started(reason));
        Outcome {
            id: call.id.into_owned(),
            tool: call.name.into_owned(),
            ending: self.inner.refused(kind),
        }
    }
}
