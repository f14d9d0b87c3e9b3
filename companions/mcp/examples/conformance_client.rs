//! The client that the protocol's own conformance suite is run against: it imports the tools of a server and calls each.
//!
//! ```sh
//! cargo build -p contract-runtime --features mcp-http --example conformance_client
//! conformance client --command target/debug/examples/conformance_client --scenario tools_call
//! ```
//!
//! The suite gives the address of its server as the last argument, and what it wants called in an environment variable.

use std::error::Error;
use std::io::Write as _;

use contract_runtime::prelude::*;
use contract_runtime::{Dialect, McpRevision};
use serde_json::{Map, Value, json};

/// Any arguments that a schema wants.
fn sample(schema: &Value) -> Value {
    let required = schema["required"].as_array().into_iter().flatten();
    let value = |name: &str| match schema["properties"][name]["type"].as_str() {
        Some("integer" | "number") => json!(1),
        Some("boolean") => json!(true),
        Some("array") => json!([]),
        Some("object") => json!({}),
        _ => json!("text"),
    };
    let names = required.filter_map(Value::as_str);
    let arguments: Map<_, _> = names.map(|name| (name.to_owned(), value(name))).collect();
    Value::Object(arguments)
}

/// The calls that the suite asks for, or one of each tool.
fn calls(registry: &Registry) -> Result<Vec<(String, Value)>, Box<dyn Error>> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".to_owned());
    let context: Value = serde_json::from_str(&context)?;
    if let Some(asked) = context["toolCalls"].as_array() {
        let call = |call: &Value| {
            let name = call["name"].as_str().unwrap_or_default().to_owned();
            (name, call["arguments"].clone())
        };
        return Ok(asked.iter().map(call).collect());
    }
    let tools = registry.tools();
    let mut calls: Vec<_> = tools
        .map(|tool| (tool.name().to_owned(), sample(tool.input_schema())))
        .collect();
    // This one wants to see what has become of the schema of another.
    let exported = registry.export(Dialect::Mcp(McpRevision::July2026))?;
    let tools = exported.as_array().into_iter().flatten();
    let mut schemas = tools.filter(|tool| tool["name"] == "json_schema_2020_12_tool");
    if let Some(tool) = schemas.next()
        && let Some((_, arguments)) = calls
            .iter_mut()
            .find(|(name, _)| name == "json_schema_echo")
    {
        arguments["schema"] = tool["inputSchema"].clone();
    }
    Ok(calls)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let url = std::env::args().next_back().unwrap_or_default();
    let imported = contract_mcp::import(contract_mcp::http(&url)).await?;
    let mut told = std::io::stdout();
    for skipped in imported.skipped() {
        writeln!(told, "{}: {}", skipped.name, skipped.reason)?;
    }
    let connection = imported.connection();
    let registry = Registry::builder().with(imported).build()?;
    for (name, arguments) in calls(&registry)? {
        let outcome = registry.call_json(&name, arguments).await;
        let said = outcome
            .output()
            .map(str::to_owned)
            .or_else(|| outcome.error());
        writeln!(
            told,
            "{name}: {}, {}",
            outcome.status(),
            said.unwrap_or_default()
        )?;
    }
    connection.close().await;
    Ok(())
}
