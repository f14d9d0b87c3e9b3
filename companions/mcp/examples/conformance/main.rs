//! The server that the protocol's own conformance suite is run against: the tools that it asks for, and beside them a handler
//! of the protocol library for prompts, resources and completions.
//!
//! ```sh
//! cargo run -p contract-mcp --features http --example conformance -- 127.0.0.1:8765
//! cargo run -p contract-mcp --features http --example conformance -- stdio
//! ```
//!
//! Over HTTP it prints the address it listens on, which matters where the port is 0.

mod client;
mod host;

use std::error::Error;
use std::io::Write as _;
use std::time::Duration;

use contract_mcp::{ServedTools, Server};
use contract_runtime::{Context, DynamicSpec, prelude::*};
use serde_json::json;

/// A picture of one red pixel.
const PNG: &[u8] = &[
    0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0x00, 0x00, 0x0d, 0x49, 0x48, 0x44, 0x52,
    0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x01, 0x08, 0x02, 0x00, 0x00, 0x00, 0x90, 0x77, 0x53,
    0xde, 0x00, 0x00, 0x00, 0x0c, 0x49, 0x44, 0x41, 0x54, 0x08, 0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0x00,
    0x00, 0x03, 0x01, 0x01, 0x00, 0x18, 0xdd, 0x8d, 0xb0, 0x00, 0x00, 0x00, 0x00, 0x49, 0x45, 0x4e,
    0x44, 0xae, 0x42, 0x60, 0x82,
];

/// A sound without a sample.
const WAV: &[u8] =
    b"RIFF\x24\0\0\0WAVEfmt \x10\0\0\0\x01\0\x01\0\x40\x1f\0\0\x40\x1f\0\0\x01\0\x08\0data\0\0\0\0";

/// Give a simple text.
#[tool(read_only)]
fn test_simple_text() -> &'static str {
    "This is a simple text response for testing."
}

/// Fail, always.
#[tool(read_only)]
fn test_error_handling() -> Result<(), &'static str> {
    Err("This tool intentionally returns an error for testing")
}

/// Give a picture.
#[tool(read_only)]
fn test_image_content() -> Content {
    Content::default().with(Artifact::image("image/png", PNG))
}

/// Give a sound.
#[tool(read_only)]
fn test_audio_content() -> Content {
    Content::default().with(Artifact::file("silence.wav", "audio/wav", WAV))
}

/// Give a file.
#[tool(read_only)]
fn test_embedded_resource() -> Content {
    let text = "This is an embedded resource content.";
    Content::default().with(Artifact::file("embedded.txt", "text/plain", text))
}

/// Give a text, a picture and a file.
#[tool(read_only)]
fn test_multiple_content_types() -> Content {
    let data = json!({"test": "data", "value": 123}).to_string();
    Content::text("Multiple content types test:")
        .with(Artifact::image("image/png", PNG))
        .with(Artifact::file("mixed.json", "application/json", data))
}

/// Report progress three times.
#[tool(read_only)]
async fn test_tool_with_progress(#[context] progress: &Progress) -> &'static str {
    for done in [0.0, 50.0, 100.0] {
        progress.report(done, Some(100.0), format!("{done} of 100"));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    "done"
}

/// Say three things to people on the way.
#[tool(read_only)]
async fn test_tool_with_logging(#[context] log: &Log) -> &'static str {
    for message in [
        "Tool execution started",
        "Tool processing data",
        "Tool execution completed",
    ] {
        log.info(message);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    "done"
}

/// Say something to people.
#[tool(read_only)]
fn test_logging_tool(#[context] log: &Log) -> &'static str {
    log.info("said");
    "done"
}

/// Replace the tools by the same ones.
#[tool]
fn test_trigger_tool_change(#[context] tools: &ServedTools) -> Result<(), String> {
    let same = tools.registry();
    tools.replace(same).map_err(|error| error.to_string())
}

/// Wait for an approval.
#[tool(confirm = "Please confirm")]
fn test_input_required_result_request_state() -> &'static str {
    "state-ok"
}

/// Wait for an approval, which nobody forges.
#[tool(confirm = "Please confirm")]
fn test_input_required_result_tampered_state() {}

/// Give a text; a server of tools asks its client nothing.
#[tool(read_only)]
fn test_streaming_elicitation() -> &'static str {
    "nothing was asked"
}

/// Add two numbers.
#[tool(read_only)]
#[pre(a <= 1_000, "only small numbers")]
fn test_structured_content(a: u32, b: u32) -> Sum {
    Sum {
        sum: u64::from(a) + u64::from(b),
    }
}

/// What comes of an addition.
#[derive(serde::Serialize, schemars::JsonSchema)]
struct Sum {
    /// The sum.
    sum: u64,
}

/// A tool whose schema uses what only JSON Schema 2020-12 has.
fn json_schema_2020_12_tool() -> Tool {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": false,
    });
    let spec = DynamicSpec::new(
        "json_schema_2020_12_tool",
        "Tool with JSON Schema 2020-12 features",
    );
    Tool::dynamic(spec.input_schema(schema), |arguments| async move {
        Ok::<_, String>(Content::json(&arguments.into()))
    })
}

/// A tool with an argument that clients also send as a header.
fn test_x_mcp_header() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": {
            "region": {"type": "string", "description": "Where.", "x-mcp-header": "Region"},
        },
        "required": ["region"],
        "additionalProperties": false,
    });
    let spec = DynamicSpec::new("test_x_mcp_header", "Say which region was asked for.");
    Tool::dynamic(spec.input_schema(schema), |arguments| async move {
        let region = arguments.get("region").and_then(|region| region.as_str());
        Ok::<_, String>(Content::text(region.unwrap_or_default()))
    })
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let tools = || {
        registry!()
            .with(vec![json_schema_2020_12_tool(), test_x_mcp_header()])
            .context_per_call::<ServedTools>()
            .context_per_call::<client::Client>()
    };
    let server = Server::new(tools().build()?)
        .name("conformance", env!("CARGO_PKG_VERSION"))
        .ask_client(Duration::from_secs(60))
        .beside(host::Host);
    let replaceable = server.tools();
    let server = server.context(move |asked| {
        let client = client::Client(asked.client().clone());
        Context::new().with(replaceable.clone()).with(client)
    });
    match std::env::args().nth(1).as_deref() {
        None | Some("stdio") => server.stdio().await?,
        Some(address) => {
            let listening = server.bind(address)?;
            writeln!(std::io::stdout(), "http://{}/mcp", listening.address())?;
            listening.serve().await?;
        }
    }
    Ok(())
}
