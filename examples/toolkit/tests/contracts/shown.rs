//! What a model is told says what must be so, and never the opposite.

use contract_dialects::{StrictDialect, StrictExport as _};
use contract_manifest::Inspect as _;
use contract_runtime::{Dialect, Registry};
use serde_json::Value;

use crate::common::Ground;

/// Each text inside of a value, with what is above it.
fn texts(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|one| texts(one, found)),
        Value::Object(members) => members.values().for_each(|one| texts(one, found)),
        _ => {}
    }
}

/// The lines below the headings of demands and promises.
fn demands(text: &str) -> Vec<&str> {
    let mut demanded = false;
    let mut found = Vec::new();
    for line in text.lines().map(str::trim_start) {
        let item = line.strip_prefix("- ");
        found.extend(item.filter(|_| demanded));
        demanded = matches!(line, "Requires:" | "Ensures:") || (demanded && item.is_some());
    }
    found
}

fn said(registry: &Registry) -> Vec<String> {
    let mut said = Vec::new();
    for dialect in Dialect::ALL {
        texts(registry.export(dialect), &mut said);
    }
    for dialect in StrictDialect::ALL {
        if let Ok(exported) = registry.export_strict(dialect) {
            texts(&exported.tools, &mut said);
        }
    }
    let names = registry.tools().map(|tool| tool.name());
    said.extend(names.filter_map(|name| registry.explain(name)));
    said
}

#[test]
fn no_message_stands_below_a_demand() {
    let ground = Ground::new();
    let registry = ground.registry();
    let said = said(&registry);
    let (mut messages, mut quoted) = (0, 0);
    for tool in registry.tools() {
        for published in tool.conditions() {
            let Some(message) = published.condition().message() else {
                continue;
            };
            messages += 1;
            for text in &said {
                let below = demands(text);
                let found = below.iter().find(|line| line.contains(message));
                assert_eq!(found, None, "{}: {text}", published.id());
                quoted += text.matches(&format!("- \"{message}\"")).count();
            }
        }
    }
    assert!(messages > 40, "{messages} messages");
    assert!(quoted > 5, "{quoted} of them are quoted");
}

/// What a text costs, by the rule of thumb of four bytes for a token.
fn tokens(text: &str) -> usize {
    text.len() / 4
}

/// Prints what the contracts cost the model that reads them. Every refusal with all that a violation says took twice as much.
#[test]
fn contracts_cost_a_model_few_tokens() {
    let ground = Ground::new();
    let registry = ground.registry();
    let exported = registry.export(Dialect::Neutral);
    let told = exported.as_array().unwrap().iter();
    let told: usize = told
        .filter_map(|tool| tool["description"].as_str().map(tokens))
        .sum();
    let by_authors: usize = registry
        .tools()
        .map(|tool| tokens(tool.description()))
        .sum();
    let (mut refusals, mut whole, mut count) = (0, 0, 0);
    for (tool, arguments) in crate::violating(&registry) {
        let outcome = crate::common::check(&registry, &tool, &arguments.to_string());
        refusals += tokens(outcome.error().unwrap());
        whole += tokens(&outcome.violation().unwrap().to_string());
        count += 1;
    }
    println!("descriptions: {by_authors} tokens by their authors, {told} with the contracts");
    println!("{count} refusals: {refusals} tokens, {whole} with predicates");
    assert!(told - by_authors <= 250, "{told} {by_authors}");
    assert!(refusals * 10 <= whole * 7, "{refusals} {whole}");
}
