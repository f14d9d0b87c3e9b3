//! Several calls of one turn: read-only ones side by side, the others alone, in program order.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::dispatch::Inner;
use crate::contract::scope::ContractScope;
use crate::futures;
use crate::tool::outcome::End;
use crate::tool::{Context, Outcome, Status, ToolCall};

pub(super) async fn run(
    inner: &Arc<Inner>,
    calls: Vec<ToolCall>,
    context: Context,
) -> Vec<Outcome> {
    let batch = Batch {
        inner,
        context,
        stopped: AtomicBool::new(false),
        // A tool that calls a batch of its own registry is already behind the gate, and would wait for itself.
        inside: ContractScope::current()
            .get()
            .is_some_and(|scope| scope.gate == Some(address(inner))),
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
        outcomes.extend(batch.side_by_side(group).await);
    }
    outcomes
}

fn address(inner: &Arc<Inner>) -> usize {
    Arc::as_ptr(inner).addr()
}

struct Batch<'r> {
    inner: &'r Arc<Inner>,
    context: Context,
    stopped: AtomicBool,
    inside: bool,
}

impl Batch<'_> {
    /// A call that reaches no body needs no place of its own in the order.
    fn reads(&self, call: &ToolCall) -> bool {
        self.inner
            .find(&call.name)
            .is_none_or(|entry| entry.read_only)
    }

    async fn alone(&self, call: ToolCall) -> Outcome {
        let _gate = match self.inside {
            true => None,
            false => Some(self.inner.gate.write().await),
        };
        self.one(call).await
    }

    async fn side_by_side(&self, calls: Vec<ToolCall>) -> Vec<Outcome> {
        let _gate = match self.inside {
            true => None,
            false => Some(self.inner.gate.read().await),
        };
        futures::side_by_side(
            calls.into_iter().map(|call| self.one(call)),
            self.inner.limits.parallel,
        )
        .await
    }

    async fn one(&self, call: ToolCall) -> Outcome {
        if self.stopped.load(Ordering::Relaxed) {
            let end = End::Cancelled {
                reason: "not started, because an earlier call of the same turn broke a contract",
                may_still_run: false,
            };
            return self.inner.concluded(Outcome::new(call.id, call.name, end));
        }
        let outcome = self
            .inner
            .call_gated(call, self.context.clone(), address(self.inner))
            .await;
        if outcome.status() == Status::Violation {
            self.stopped.store(true, Ordering::Relaxed);
        }
        outcome
    }
}
