//! The fixture server of the conformance suite, as a child process.

use std::io::Write as _;
use std::process::Command;

use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::json;

use crate::fake::{call, within};

#[tokio::test]
async fn the_tools_of_a_child_process_are_imported_and_called() {
    let Some(program) = std::env::var_os("CONTRACT_MCP_SERVER") else {
        let why = "CONTRACT_MCP_SERVER names no server; .ci/nightly.d/mcp.sh sets it";
        let test = "the_tools_of_a_child_process_are_imported_and_called";
        let line = format!("NOT RUN mcp {test}: {why}\n");
        let _ = std::io::stderr().write_all(line.as_bytes());
        return;
    };
    let mut command = Command::new(program);
    command.arg("stdio");
    let server = contract_mcp::command(command).unwrap();
    let imported = within(contract_mcp::import(server)).await.unwrap();
    assert!(imported.skipped().is_empty(), "{:?}", imported.skipped());
    let connection = imported.connection();
    let registry = Registry::builder().with(imported).build().unwrap();
    let outcome = call(&registry, "test_structured_content", r#"{"a":5,"b":6}"#).await;
    assert_eq!(outcome.value(), Some(json!({"sum": 11})));
    // The server has lowered its condition into the schema, so the call does not travel.
    let outcome = call(&registry, "test_structured_content", r#"{"a":5000,"b":6}"#).await;
    assert_eq!(outcome.status(), Status::InvalidArguments);
    let outcome = call(&registry, "test_multiple_content_types", "").await;
    assert_eq!(outcome.output(), Some("Multiple content types test:"));
    assert_eq!(outcome.artifacts().len(), 2);
    let outcome = call(&registry, "test_error_handling", "").await;
    assert!(outcome.error().unwrap().contains("intentionally"));
    let outcome = call(&registry, "test_tool_with_progress", "").await;
    assert_eq!(outcome.output(), Some("done"));
    within(connection.close()).await;
    assert_eq!(
        call(&registry, "test_simple_text", "").await.status(),
        Status::Failed
    );
}
