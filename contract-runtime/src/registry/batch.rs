//! Calls of one turn: read-only tools run concurrently, the others one at a time, in program order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::call::Call;
use super::dispatch::not_started;
use super::inner::Inner;
use super::job::{GateUse, Mode};
use crate::contract::history::AloneProblem;
use crate::contract::scope::{ContractScope, Gate};
use crate::futures;
use crate::tool::{Context, Outcome, Status, ToolCall};

pub(super) async fn run(
    inner: &Arc<Inner>,
    calls: Vec<ToolCall>,
    context: Context,
) -> Vec<Outcome> {
    let outer = ContractScope::inherited().and_then(|outer| outer.gate);
    let of = Arc::as_ptr(inner).addr();
    // A tool that calls a batch of its own registry is already behind the gate, and would wait for itself.
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
    /// A call of the batch that is not read-only has yet to be answered for.
    asked: AtomicBool,
    inside: bool,
    gate: Arc<Gate>,
}

impl Batch<'_> {
    /// A call that reaches no body needs no place of its own in the order.
    fn reads(&self, call: &ToolCall) -> bool {
        self.inner
            .find(&call.name)
            .is_none_or(|entry| entry.read_only)
    }

    async fn alone(&self, call: ToolCall) -> Outcome {
        if self.context.hears().is_some() {
            // Whoever follows the run reads what came of the calls before this one, and may end the run here.
            tokio::task::yield_now().await;
        }
        if self.asked.load(Ordering::Relaxed) && !self.stopped.load(Ordering::Relaxed) {
            // It may build on the one that has not run.
            let reason = "an earlier call of the same turn waits for a person's answer";
            return self.not_started(call, reason);
        }
        if self.inside {
            return self.one(call, GateUse::None).await;
        }
        if self.asks(&call) {
            let outcome = self.one(call, GateUse::Exclusive).await;
            if outcome.status() == Status::Asked {
                self.asked.store(true, Ordering::Relaxed);
            }
            return outcome;
        }
        let _gate = self.inner.gate.write().await;
        self.one(call, GateUse::None).await
    }

    async fn join_bounded(&self, calls: Vec<ToolCall>) -> Vec<Outcome> {
        // Whoever waits for a person holds up nobody who writes, so each stands behind the gate by itself.
        let apart = !self.inside && calls.iter().any(|call| self.asks(call));
        let _gate = if self.inside || apart {
            None
        } else {
            Some(self.inner.gate.read().await)
        };
        futures::join_bounded(
            calls.into_iter().map(|call| async move {
                if apart && self.asks(&call) {
                    return self.one(call, GateUse::Shared).await;
                }
                let _gate = if apart {
                    Some(self.inner.gate.read().await)
                } else {
                    None
                };
                self.one(call, GateUse::None).await
            }),
            self.inner.limits.parallel,
        )
        .await
    }

    fn asks(&self, call: &ToolCall) -> bool {
        let entry = self.inner.find(&call.name);
        entry.is_some_and(|entry| entry.asks.any())
    }

    /// Makes a call; behind the gate in this way, where the batch does not stand behind it itself.
    async fn one(&self, call: ToolCall, gate_use: GateUse) -> Outcome {
        if self.stopped.load(Ordering::Relaxed) {
            return self.not_started(call, "an earlier call of the same turn broke a contract");
        }
        let alone = |call: &ToolCall| {
            self.inner
                .find(&call.name)
                .is_some_and(|entry| entry.tool.alone)
        };
        if self.several && alone(&call) {
            return self.not_started(call, AloneProblem::HasOthers.reason());
        }
        let mode = Mode {
            gate: Some(Arc::clone(&self.gate)),
            gate_use,
            ..Mode::default()
        };
        let outcome = Call::new(self.inner, call.into(), self.context.clone(), mode).await;
        if outcome.status() == Status::Violation {
            self.stopped.store(true, Ordering::Relaxed);
        }
        outcome
    }

    fn not_started(&self, call: ToolCall, reason: &'static str) -> Outcome {
        let refusal = self.inner.before.ask(|| call.clone());
        let kind = refusal.err().unwrap_or_else(|| not_started(reason));
        self.inner.refused(kind).of(call.id, call.name)
    }
}
