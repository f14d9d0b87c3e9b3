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
use super::dispatch::{TURN_IS_BROKEN, not_started};
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
        asked: AtomicBool::new(false),
        inside,
        gate: Arc::new(Gate {
            of,
            outer,
            is_broken: AtomicBool::new(false),
        }),
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
        // Collected, because a future that holds the closure is not known to be `Send`.
        let group: Vec<_> = group
            .into_iter()
            .map(|call| batch.one(call, GateUse::Shared))
            .collect();
        outcomes.extend(futures::join_bounded(group, inner.limits.parallel).await);
    }
    outcomes
}

struct Batch<'r> {
    inner: &'r Arc<Inner>,
    context: Context,
    several: bool,
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
        if self.asked.load(Ordering::Relaxed) && !self.gate.is_broken.load(Ordering::Relaxed) {
            // This call may depend on the one that was not run.
            let reason = "an earlier call of the same turn waits for a person's answer";
            return self.not_started(call, reason).await;
        }
        let outcome = self.one(call, GateUse::Exclusive).await;
        if outcome.status() == Status::Asked {
            self.asked.store(true, Ordering::Relaxed);
        }
        outcome
    }

    /// Makes one call, which begins behind the gate. One that waits for a hook or for approval passes the gate afterwards, so that others
    /// may pass meanwhile.
    async fn one(&self, mut call: CallInput<'r>, gate_use: GateUse) -> Outcome {
        let entry = self.inner.find(&call.name);
        let asks = entry.is_some_and(|entry| entry.asks.any());
        let (now, later) = match gate_use {
            _ if self.inside => (GateUse::None, GateUse::None),
            gate_use if asks || self.inner.has_hooks(&self.context) => (GateUse::None, gate_use),
            gate_use => (gate_use, GateUse::None),
        };
        let _gate = self.inner.pass_gate(now).await;
        if self.gate.is_broken.load(Ordering::Relaxed) {
            return self.not_started(call, TURN_IS_BROKEN).await;
        }
        if self.several && entry.is_some_and(|entry| entry.tool.alone) {
            return self.not_started(call, HAS_OTHERS).await;
        }
        let mode = Mode {
            gate: Some(Arc::clone(&self.gate)),
            gate_use: later,
            ..Mode::default()
        };
        call.context = take(&mut call.context).or(&self.context);
        let outcome = Call::<Whole>::new(self.inner, call, mode).await;
        if outcome.status() == Status::Violation {
            self.gate.is_broken.store(true, Ordering::Relaxed);
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
