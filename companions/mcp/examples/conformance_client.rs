//! The client that the protocol's own conformance suite is run against: it imports the tools of a server and calls each.
//!
//! ```sh
//! cargo build -p contract-mcp --features oauth --example conformance_client
//! conformance client --command target/debug/examples/conformance_client --scenario tools_call
//! ```
//!
//! The suite gives the address of its server as the last argument, and what it wants called in an environment variable.

use std::error::Error;
use std::io::Write as _;

use contract_mcp::rmcp::transport::auth::{AuthorizationManager, AuthorizationRequest, OAuthState};
use contract_mcp::{ImportError, Imported};
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

/// What the suite says of a scenario.
fn context() -> Result<Value, serde_json::Error> {
    let context = std::env::var("MCP_CONFORMANCE_CONTEXT").unwrap_or_else(|_| "{}".to_owned());
    serde_json::from_str(&context)
}

/// Logs in, as a user whose browser follows the redirect at once.
async fn log_in(
    url: &str,
    challenge: Option<String>,
) -> Result<AuthorizationManager, Box<dyn Error>> {
    let context = context()?;
    let text = |name: &str| context[name].as_str().map(str::to_owned);
    let mut state = OAuthState::new(url, None).await?;
    let mut request = AuthorizationRequest::new("http://127.0.0.1:7777/callback")
        .with_client_name("conformance_client")
        .with_client_metadata_url("https://conformance-test.local/client-metadata.json")
        .with_initial_scope_selection();
    if let Some(challenge) = challenge {
        request = request.with_challenge(challenge);
    }
    if let Some(id) = text("client_id") {
        request = request.with_preregistered_client(id);
        if let Some(secret) = text("client_secret") {
            request = request.with_client_secret(secret);
        }
    }
    state.start_authorization(request).await?;
    let page = state.get_authorization_url().await?;
    let browser = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let answer = browser.build()?.get(page).send().await?;
    let callback = answer.headers().get("location").ok_or("no redirect")?;
    state.handle_callback_url(callback.to_str()?).await?;
    Ok(state.into_authorization_manager().ok_or("not authorized")?)
}

/// Imports the tools, with a login where the server wants one.
async fn import(url: &str) -> Result<Imported, Box<dyn Error>> {
    match contract_mcp::import(contract_mcp::http(url)).await {
        Err(ImportError::Unauthorized { challenge, .. }) => {
            let tokens = log_in(url, challenge).await?;
            Ok(contract_mcp::import(contract_mcp::http_with_oauth(url, tokens)).await?)
        }
        imported => Ok(imported?),
    }
}

/// The calls that the suite asks for, or one of each tool.
fn calls(registry: &Registry) -> Result<Vec<(String, Value)>, Box<dyn Error>> {
    let context = context()?;
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
    let exported = registry.export(Dialect::Mcp(McpRevision::July2026));
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
    let imported = import(&url).await?;
    let mut told = std::io::stdout();
    for skipped in imported.skipped() {
        writeln!(told, "{}: {}", skipped.name, skipped.reason)?;
    }
    let connection = imported.connection();
    let registry = Registry::builder().with(imported).build()?;
    for (name, arguments) in calls(&registry)? {
        let outcome = registry.call(("", &name, arguments)).await;
        let said = outcome.output().or_else(|| outcome.error());
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
