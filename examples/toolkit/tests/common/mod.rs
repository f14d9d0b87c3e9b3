//! What several topics need: a folder with known files, a registry over it, and good arguments for every tool.

#![allow(dead_code, unused_imports, reason = "no binary uses all of it")]

mod generate;
mod ground;
mod heard;
mod machine;
pub(crate) mod reexec;

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::OnceLock;
use std::task::Poll;

use contract_runtime::prelude::*;
use serde_json::Value;
use tokio::runtime::Runtime;

pub(crate) use generate::{mutations, strings, valid};
pub(crate) use ground::{CANARY, Ground, TOOLS, no_commands, samples};
pub(crate) use heard::Heard;
pub(crate) use machine::{alone, beside, children, descriptors, peak_memory, tell, until};

/// A call on a thread that runs no async code.
pub(crate) fn call(registry: &Registry, name: &str, arguments: &Value) -> Outcome {
    registry
        .call(ToolCall::new("1", name, arguments.to_string()))
        .blocking()
}

/// Everything a call does up to the body.
pub(crate) fn check(registry: &Registry, name: &str, arguments: &str) -> Outcome {
    static RUNTIME: OnceLock<Runtime> = OnceLock::new();
    let runtime = RUNTIME.get_or_init(|| Runtime::new().unwrap());
    runtime.block_on(registry.check(ToolCall::new("1", name, arguments)))
}

/// How a call ended, and what was said about it.
pub(crate) fn ended(outcome: &Outcome) -> String {
    format!(
        "{}: {}",
        outcome.status(),
        outcome.error().unwrap_or_default()
    )
}

/// The JSON of a call that must succeed.
#[track_caller]
pub(crate) fn given(registry: &Registry, name: &str, arguments: &Value) -> Value {
    let outcome = call(registry, name, arguments);
    assert!(
        outcome.is_ok(),
        "{name}({arguments}) ended as {}",
        ended(&outcome)
    );
    outcome.value().unwrap()
}

/// Drops a future after it has said `left + 1` times that it is not done; the output, if it was done before.
pub(crate) async fn polled<F: Future>(future: F, mut left: u32) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|task| match future.as_mut().poll(task) {
        Poll::Ready(output) => Poll::Ready(Some(output)),
        Poll::Pending if left == 0 => Poll::Ready(None),
        Poll::Pending => {
            left -= 1;
            Poll::Pending
        }
    })
    .await
}
