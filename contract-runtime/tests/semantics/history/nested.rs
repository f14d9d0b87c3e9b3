//! Calls that a body makes, and tools that are methods.

use contract_runtime::Run;
use contract_runtime::prelude::*;

use super::{Refunds, find_order, in_run, order, refund_once, refund_seen, said};

struct Inside(std::sync::OnceLock<Registry>);

/// Look up and refund.
#[tool]
async fn both(order_id: String, #[context] inside: &Inside) -> String {
    let registry = inside.0.get().unwrap();
    let found = registry.call(order("find_order", &order_id)).await;
    let seen = registry.call(order("refund_seen", &order_id)).await;
    let once = registry.call(order("refund_once", &order_id)).await;
    format!("{} {} {}", said(&found), said(&seen), said(&once))
}

#[tokio::test]
async fn calls_of_a_body_count_and_nobody_has_read_them() {
    let inner = Registry::builder()
        .tool(find_order)
        .tool(refund_seen)
        .tool(refund_once);
    let inner = inner.context(Refunds::default()).build().unwrap();
    let registry = Registry::builder()
        .tool(both)
        .tool(refund_seen)
        .tool(refund_once);
    let registry = registry
        .context(Refunds::default())
        .context(Inside(inner.into()));
    let (registry, run) = (registry.build().unwrap(), Run::new());
    let outcome = in_run(&registry, &run, order("both", "W1")).await;
    assert_eq!(outcome.output(), Some("ok look W1 up first ok"));
    assert_eq!(
        said(&in_run(&registry, &run, order("refund_once", "W1")).await),
        "only one refund"
    );
    assert_eq!(
        said(&in_run(&registry, &run, order("refund_seen", "W1")).await),
        "look W1 up first"
    );
}

/// A store of orders, and the type of their ids.
struct Store<I>(I);

#[tool]
impl<
    I: serde::de::DeserializeOwned
        + contract_runtime::AskedValue
        + schemars::JsonSchema
        + Send
        + Sync
        + 'static,
> Store<I>
{
    /// Find an order.
    #[tool]
    async fn find(&self, id: I, note: &str) -> String {
        let _ = (id, &self.0);
        note.to_owned()
    }

    /// Cancel an order, after it was found.
    #[tool]
    #[pre(history().with("id", &id).seen(Self::find), "find it first")]
    #[pre(history().with("id", &id).count(Store::<I>::cancel) == 0, "it was cancelled")]
    fn cancel(&self, id: I) {
        let _ = id;
    }
}

#[tokio::test]
async fn methods_are_asked_about_by_name_of_their_type() {
    let registry = Registry::builder()
        .with(Store(7_u32))
        .prefix("shop_")
        .build()
        .unwrap();
    let run = Run::new();
    let call =
        |tool: &str, arguments: &str| in_run(&registry, &run, ToolCall::new("1", tool, arguments));
    assert_eq!(
        said(&call("shop_cancel", r#"{"id":1}"#).await),
        "find it first, got id = 1"
    );
    assert!(call("shop_find", r#"{"id":1,"note":""}"#).await.is_ok());
    assert!(call("shop_cancel", r#"{"id":1}"#).await.is_ok());
    assert_eq!(
        said(&call("shop_cancel", r#"{"id":1}"#).await),
        "it was cancelled, got id = 1"
    );
}
