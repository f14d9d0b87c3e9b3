//! Types of the author's own domain, by glob, beside the prelude.

use contract_runtime::prelude::*;
use domain::*;

mod domain {
    #[derive(Debug, PartialEq, serde::Deserialize, serde::Serialize, schemars::JsonSchema)]
    #[serde(rename_all = "snake_case")]
    pub enum Status {
        Delivered,
        Pending,
    }
}

/// Change an order.
#[tool]
#[pre(status != Status::Delivered, "a delivered order stays as it is")]
fn change(status: Status) -> Status {
    status
}

fn main() {
    let registry = Registry::builder().tool(change).build().unwrap();
    let call = |arguments| {
        registry
            .call(ToolCall::new("1", "change", arguments))
            .blocking()
    };
    assert_eq!(call(r#"{"status":"pending"}"#).output(), Some("pending"));
    assert!(call(r#"{"status":"delivered"}"#).violation().is_some());
}
