//! Conditions over the history of a run: what was seen, what succeeded, how often.

mod closed;
mod kept;
mod limits;
mod nested;
mod turns;

use std::sync::atomic::{AtomicUsize, Ordering};

use contract_runtime::prelude::*;
use contract_runtime::{Outcome, Run};

/// Find an order.
#[tool(read_only)]
fn find_order(order_id: String) -> Result<String, String> {
    match order_id.strip_prefix('W') {
        Some(number) => Ok(number.to_owned()),
        None => Err(format!("there is no order {order_id}")),
    }
}

/// Refund an order that was looked up.
#[tool(destructive)]
#[pre(history().with("order_id", &order_id).seen(find_order), "look {order_id} up first")]
fn refund_seen(order_id: String) -> String {
    order_id
}

/// Refund something, once.
#[tool(destructive)]
#[pre(history().count(refund_once) < 1, "only one refund")]
fn refund_once(order_id: String, #[context] refunds: &Refunds) -> String {
    refunds.0.fetch_add(1, Ordering::SeqCst);
    order_id
}

#[derive(Default)]
struct Refunds(AtomicUsize);

fn registry() -> Registry {
    let builder = Registry::builder()
        .tool(find_order)
        .tool(refund_seen)
        .tool(refund_once);
    builder.context(Refunds::default()).build().unwrap()
}

fn order(tool: &str, id: &str) -> ToolCall {
    ToolCall::new("1", tool, format!(r#"{{"order_id":"{id}"}}"#))
}

async fn in_run(registry: &Registry, run: &Run, call: ToolCall) -> Outcome {
    registry.call(call).context(Context::new().run(run)).await
}

fn said(outcome: &Outcome) -> &str {
    outcome.error().unwrap_or("ok")
}
