//! What the pages on backends and executors show is real: refusals, what a model reads, the protocol and its frames.

#[path = "remote/frames.rs"]
mod frames;
#[path = "remote/tables.rs"]
mod tables;
#[path = "remote/tap.rs"]
mod tap;
#[path = "readme/tool.rs"]
mod tool;

use std::error::Error;
use std::path::Path;

use contract_manifest::ToManifest as _;
use contract_remote::protocol::Handshake;
use contract_remote::{Limits, Safeguards, Toolbelt, Tripped};
use contract_runtime::prelude::*;
use serde_json::{Value, json};

const REMOTE: &str = include_str!("../src/remote.md");

fn shows(language: &str, text: &str) -> bool {
    REMOTE.contains(&format!("```{language}\n{text}\n```"))
}

/// An entry of a manifest, before something is done to it.
fn entry(name: &str, change: impl FnOnce(&mut Value)) -> Value {
    let mut tool = json!({
        "name": name,
        "description": "Do something.",
        "package": "",
        "hints": {},
        "input_schema": {"type": "object", "properties": {}, "additionalProperties": false},
        "conditions": [],
    });
    change(&mut tool);
    tool
}

#[test]
fn refusals_are_what_the_page_shows() -> Result<(), Box<dyn Error>> {
    let known = registry!().build()?.manifest();
    let schema = |tool: &mut Value, schema: Value| tool["input_schema"] = schema;
    let text = |pattern: &str| json!({"type": "object", "properties": {"text": {"type": "string", "pattern": pattern}}});
    let deep = (0..40).fold(json!(true), |inner, _| json!({"not": inner}));
    let handshake: Handshake = serde_json::from_value(json!({
        "protocol": 1,
        "task": "7f2c6d0e-51b4-4a0e-9a57-0c2f7d1be8a3",
        "epoch": 0,
        "journal": "c1a9e4d2-3b7f-4f0a-8d6e-5e2b90f7a614",
        "known_tools": ["book_room", "book_flight"],
        "custom_tools": [
            entry("measure", |_| ()),
            entry("book_room", |_| ()),
            entry("rm -rf", |_| ()),
            entry("fetched", |tool| schema(tool, json!({"type": "object", "$ref": "https://example.com/schema.json"}))),
            entry("backtracking", |tool| schema(tool, text(r"(a+)\1$"))),
            entry("deep", |tool| tool["input_schema"]["properties"] = json!({"x": deep})),
            entry("long", |tool| tool["description"] = "x".repeat(70_000).into()),
            entry("ruled", |tool| tool["conditions"] = json!([{
                "id": "ruled.pre[0]", "kind": "pre", "predicate": "true", "parameters": [], "lowering": "described",
                "sentence": "always",
                "rule": {"id": "ruled.pre[0]", "rule": "open(args.path).size() > 0", "message": "", "paths": []},
            }])),
        ],
        "platform": {"working_directory": ".", "system": "linux", "architecture": "x86_64", "parallel": 2},
        "unacknowledged": [],
    }))?;
    let belt = Toolbelt::of(&handshake, &known, &Limits::default());
    let taken: Vec<_> = belt.tools().map(|tool| tool.name.as_str()).collect();
    assert_eq!(taken, ["book_room", "measure"]);
    let lines = belt.refused().iter();
    let lines: Vec<_> = lines
        .map(|one| format!("{}: {}", one.name, one.reason))
        .collect();
    let lines = lines.join("\n");
    assert!(shows("text", &lines), "remote.md does not show\n{lines}");
    Ok(())
}

#[test]
fn safeguards_say_what_the_page_shows() {
    let four = Safeguards::default().equal_calls.unwrap_or_default();
    let tool = "run_shell".to_owned();
    let tripped = Tripped::EqualCalls {
        tool,
        times: four.into(),
    };
    let told = tripped.to_string();
    assert!(shows("text", &told), "remote.md does not show\n{told}");
}

/// The page, with what stands between each pair of marks written anew.
fn written(page: &str, name: &str, text: &str) -> String {
    let (open, close) = (
        format!("<!-- {name} -->\n"),
        format!("<!-- end of {name} -->"),
    );
    let (before, rest) = page.split_once(&open).unwrap_or((page, ""));
    let after = rest.split_once(&close).map_or("", |(_, after)| after);
    format!("{before}{open}\n{text}\n{close}{after}")
}

#[test]
fn the_page_on_the_protocol_is_generated() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let schemas = root.join("../companions/remote/tests/remote/protocol.json");
    let schemas: Value = serde_json::from_str(&std::fs::read_to_string(schemas)?)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let frames = runtime.block_on(frames::captured())?;

    let path = root.join("src/protocol.md");
    let page = std::fs::read_to_string(&path)?;
    let anew = written(&page, "messages", &tables::of(&schemas));
    let anew = written(&anew, "frames", &frames);
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&path, &anew)?;
    }
    let page = std::fs::read_to_string(&path)?;
    let differs = page
        .lines()
        .zip(anew.lines())
        .find(|(is, should)| is != should);
    assert_eq!(differs, None, "UPDATE_EXPECTED=1 writes protocol.md anew");
    assert_eq!(page.len(), anew.len(), "one goes on where the other ends");
    Ok(())
}
