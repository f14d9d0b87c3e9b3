//! Tools that ask a person, and what became of their bodies.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use contract_mcp::Server;
use contract_runtime::Builder;
use contract_runtime::prelude::*;
use serde_json::{Value, json};

use super::line::{Client, july};
use super::tools::Seen;

/// A shop whose price changes.
pub(crate) struct Shop {
    pub(crate) price: AtomicU32,
    sold: Mutex<Vec<String>>,
}

#[tool]
impl Shop {
    /// Buy a thing.
    #[tool(confirm = "Buy {thing} for {} EUR?", price)]
    #[given(price = self.price.load(Ordering::Relaxed))]
    fn buy(&self, thing: String) -> String {
        self.sell(format!("{thing} for {price}"))
    }

    /// Refund cents to somebody.
    #[tool]
    #[pre(cents <= 10_000, "refunds above 100 EUR need approval", ask = "Refund {cents} cents to {user}?")]
    fn refund(&self, user: String, cents: u32) -> String {
        self.sell(format!("{cents} to {user}"))
    }
}

impl Shop {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self {
            price: AtomicU32::new(40),
            sold: Mutex::default(),
        })
    }

    fn sell(&self, what: String) -> String {
        self.sold.lock().expect("nothing panics").push(what.clone());
        what
    }

    pub(crate) fn sold(&self) -> Vec<String> {
        self.sold.lock().expect("nothing panics").clone()
    }
}

pub(crate) const PATIENCE: Duration = Duration::from_secs(300);
pub(crate) const ALMOST: Duration = Duration::from_secs(299);

pub(crate) fn server(shop: &Arc<Shop>) -> Server {
    server_of(shop, |builder| builder).ask_client(PATIENCE)
}

pub(crate) fn server_of(shop: &Arc<Shop>, set: impl FnOnce(Builder) -> Builder) -> Server {
    let registry = set(Registry::builder().with(Arc::clone(shop)));
    Server::new(registry.build().expect("it is sound"))
}

pub(crate) fn client(server: Server) -> Client {
    Client::of(server, 1 << 20, Seen::default())
}

/// A client of 2025-11-25 that offers forms.
pub(crate) async fn asked(server: Server) -> Client {
    let mut client = client(server);
    let forms = json!({"elicitation": {"form": {}}});
    client.begin_offering("2025-11-25", forms).await;
    client
}

/// A call of 2026-07-28 from a client that offers forms, with more parameters.
#[allow(
    clippy::needless_pass_by_value,
    reason = "every caller makes one for it"
)]
pub(crate) fn july_call(id: u32, name: &str, arguments: Value, more: Value) -> Value {
    let mut params = json!({"name": name, "arguments": arguments});
    if let (Value::Object(params), Value::Object(more)) = (&mut params, more) {
        params.extend(more);
    }
    let mut call = july(id, "tools/call", params);
    call["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"] =
        json!({"elicitation": {}});
    call
}

pub(crate) fn refund(user: &str, cents: u32) -> Value {
    json!({"user": user, "cents": cents})
}

pub(crate) fn approval() -> Value {
    json!({"action": "accept", "content": {"decision": "approve"}})
}

pub(crate) fn status(answer: &Value) -> &str {
    let meta = &answer["result"]["_meta"]["rs.docs.contract-runtime/outcome"];
    meta["status"].as_str().unwrap_or_else(|| {
        assert_eq!(answer["result"]["isError"], false, "{answer}");
        "ok"
    })
}

pub(crate) fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("{answer}"))
}
