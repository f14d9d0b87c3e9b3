//! Tools that ask, in every form: conditions, confirmations, values behind the text, givens, methods, async.

#![deny(warnings)]
#![forbid(unsafe_code)]

use contract_runtime::prelude::*;

struct Order {
    item: String,
    cents: u32,
}

fn find(id: &str) -> Option<Order> {
    (id == "W1").then(|| Order {
        item: "lamp".to_owned(),
        cents: 4_000,
    })
}

/// Cancel an order.
#[tool(destructive, confirm = "Cancel order {order_id}: {}, {:.2} EUR? {{yes}}", order.item, f64::from(order.cents) / 100.0, title = "Cancel")]
#[given(order = find(&order_id), else "there is no order {order_id}")]
fn cancel(order_id: String) -> u32 {
    order.cents
}

/// Pay out.
#[tool(confirm = "Pay?")]
#[pre(cents < 10, "too much", ask = "Pay {cents:>5} to {to:?} and {0}?", to.len(), policy = quick_enforce, id = "limit")]
async fn pay(to: String, cents: u32) {}

struct Shop;

#[tool]
impl Shop {
    /// Close the shop.
    #[tool(confirm = "Close?")]
    async fn close(&self) {}
}

/// Nothing but the question names the parameter.
#[tool(confirm = "Say {word}?")]
fn say(word: String) {}

fn main() {
    let registry = Registry::builder()
        .tool(cancel)
        .tool(pay)
        .tool(say)
        .with(Shop)
        .build()
        .unwrap();
    let call = ToolCall::new("1", "cancel", r#"{"order_id":"W1"}"#);
    let asked = registry.call(call).blocking();
    let request = asked.approval_request().unwrap();
    assert_eq!(
        request.to_string(),
        "Cancel order \"W1\": lamp, 40.00 EUR? {yes}"
    );
    let call = ToolCall::new("1", "pay", r#"{"to":"a b","cents":20}"#);
    let asked = registry.call(call).blocking();
    let request = asked.approval_request().unwrap();
    assert_eq!(request.to_string(), "Pay    20 to \"a b\" and 3?\nPay?");
}
