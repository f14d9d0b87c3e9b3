//! What comes back, and where.

use contract_runtime::prelude::*;
use serde_json::{Value, json};

use super::runtime;
use crate::common::{Ground, beside, call, ended};

/// D8
#[test]
fn results_go_by_position_whatever_the_ids_are() {
    let _beside = beside();
    let ground = Ground::new();
    for number in 0..40 {
        ground.write(&format!("{number}.txt"), format!("this is {number}\n"));
    }
    let registry = ground.registry();
    let ids = ["", "1", "1", "2", "\u{1b}", "the same"];
    let calls: Vec<_> = (0..40)
        .map(|number| {
            let arguments = json!({"path": format!("{number}.txt")}).to_string();
            ToolCall::new(ids[number * 7 % ids.len()], "read_file", arguments)
        })
        .collect();
    let outcomes = runtime().block_on(registry.call_all(calls.clone()));
    assert_eq!(outcomes.len(), calls.len());
    for (number, (outcome, call)) in outcomes.iter().zip(&calls).enumerate() {
        assert_eq!(outcome.id(), call.id);
        let text = &outcome.value().unwrap()["text"];
        assert_eq!(text, &json!(format!("this is {number}\n")));
    }
}

/// D12
#[test]
fn no_result_is_cut_by_the_registry() {
    let _beside = beside();
    let ground = Ground::new();
    for (name, part) in [
        ("quotes", "\""),
        ("lines", "\n"),
        ("controls", "\u{1}"),
        ("plain", "x"),
        ("wide", "🦀"),
    ] {
        ground.write(&format!("{name}.txt"), part.repeat(150_000));
        ground.write(&format!("one/{name}.txt"), part.repeat(99_999));
    }
    for number in 0..900 {
        ground.write(
            &format!("many/{number}{}", "\u{1}".repeat(120)),
            format!("{}\n", "\"\\".repeat(1_000)),
        );
    }
    let registry = ground.registry();
    for (tool, arguments) in [
        ("read_file", json!({"path": "quotes.txt"})),
        ("read_file", json!({"path": "lines.txt"})),
        ("read_file", json!({"path": "controls.txt"})),
        ("read_file", json!({"path": "plain.txt"})),
        ("read_file", json!({"path": "wide.txt"})),
        ("read_file", json!({"path": "one/quotes.txt"})),
        ("read_file", json!({"path": "one/plain.txt"})),
        ("read_folder", json!({"path": "many"})),
        (
            "run_shell",
            json!({"script": "yes '\"' | head -c 300000; yes '\\' | head -c 300000 >&2"}),
        ),
        (
            "search_in_files",
            json!({"pattern": ".", "path": "many", "max_results": 1_000}),
        ),
    ] {
        if registry.tool(tool).is_none() {
            continue;
        }
        let outcome = call(&registry, tool, &arguments);
        assert!(outcome.is_ok(), "{tool}({arguments}): {}", ended(&outcome));
        let output = outcome.output().unwrap();
        let whole = serde_json::from_str::<Value>(output).is_ok();
        assert!(
            whole,
            "{tool}({arguments}) wrote {} characters, which were cut",
            output.chars().count()
        );
    }
}

/// D12
#[test]
fn a_result_beyond_the_cap_of_the_registry_keeps_head_and_tail_in_whole_characters() {
    let _beside = beside();
    let ground = Ground::new();
    ground.write("wide.txt", format!("{}end\n", "🦀ä\n".repeat(5_000)));
    for cap in [100, 101, 1_000, 4_999] {
        let registry = ground.builder().max_output_chars(cap).build().unwrap();
        let outcome = call(&registry, "read_file", &json!({"path": "wide.txt"}));
        let output = outcome.output().unwrap();
        let (head, rest) = output.split_once("\n[").unwrap();
        let (note, tail) = rest.split_once("]\n").unwrap();
        assert!(note.ends_with("characters left out"), "{note}");
        assert_eq!(head.chars().count() + tail.chars().count(), cap);
        assert!(head.starts_with('{') && tail.ends_with('}'), "{output}");
    }
}
