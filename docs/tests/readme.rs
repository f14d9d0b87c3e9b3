//! What the README shows is what happens.

#[path = "readme/tool.rs"]
mod tool;

use contract_runtime::Dialect;
use contract_runtime::prelude::*;

const README: &str = include_str!("../../README.md");

#[track_caller]
fn assert_shown(language: &str, text: &str) {
    let block = format!("```{language}\n{}\n```", text.trim_end());
    assert!(
        README.contains(&block),
        "README.md does not show this:\n{block}"
    );
}

#[test]
fn the_tool_is_the_one_that_is_tested() {
    let source = include_str!("readme/tool.rs");
    assert_eq!(source.lines().count(), 15, "the README says fifteen lines");
    assert_shown("rust", source);
}

#[test]
fn the_schema_and_the_answers_are_real() -> Result<(), BuildError> {
    let registry = registry!().build()?;
    let schema = registry.tool("book_room").map(|tool| tool.input_schema());
    assert_shown("json", &format!("{:#}", schema.unwrap_or_default()));
    let neutral = registry.export(Dialect::Neutral);
    let description = neutral[0]["description"].as_str();
    assert_shown("text", description.unwrap_or_default());

    let calls = [
        r#"{"start": 540, "end": 600}"#,
        r#"{"start": 600, "end": 540}"#,
        r#"{"start": "nine", "ende": 600}"#,
    ];
    let shown = calls.map(|arguments| {
        let outcome = registry
            .call(ToolCall::new("1", "book_room", arguments))
            .blocking();
        let status = outcome.status();
        format!(
            "book_room({arguments})\n  {status}: {}",
            outcome.into_result()
        )
    });
    assert_shown("text", &shown.join("\n"));
    Ok(())
}

#[test]
fn the_two_commands_are_shown() {
    assert_shown("sh", "cargo run -p quickstart\ncargo test --workspace");
}

#[test]
fn the_search_finds_what_is_shown() -> Result<(), Box<dyn std::error::Error>> {
    let folder = "examples/quickstart";
    let arguments = r#"{"pattern":"fn main"}"#;
    let command =
        format!("cargo run -p toolkit -- --root {folder} call search_in_files '{arguments}'");
    assert_shown("sh", &format!("cargo run -p toolkit -- list\n{command}"));
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("..")
        .join(folder);
    let registry = Registry::builder()
        .package("toolkit")
        .context(toolkit::Workspace::new(root)?)
        .build()?;
    let call = ToolCall::new("1", "search_in_files", arguments);
    assert_shown(
        "json",
        registry.call(call).blocking().output().unwrap_or_default(),
    );
    Ok(())
}

#[test]
fn the_agent_says_what_is_shown() {
    assert_shown("text", include_str!("../../examples/agent/expected.txt"));
}
