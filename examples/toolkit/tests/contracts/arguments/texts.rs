//! Texts that are no names, and texts that would falsify what people read.

use contract_runtime::Status;
use contract_runtime::prelude::*;
use serde_json::{Value, json};

use crate::common::{Ground, call, samples, strings};

/// Texts that may hold a zero byte, because they are looked for or stored and no name is made of them.
const CONTENT: [&str; 4] = ["text", "old", "new", "pattern"];

/// D6
#[test]
fn a_zero_byte_makes_no_path() {
    let ground = Ground::new();
    let registry = ground.registry();
    let before = ground.snapshot();
    let mut seen = 0;
    for tool in registry.tools() {
        for place in strings(tool.input_schema()) {
            let name = place.split('/').nth(1).unwrap();
            if CONTENT.contains(&name) {
                continue;
            }
            for text in [
                "notes.txt\0",
                "\0",
                "\0notes.txt",
                "notes.txt\0.png",
                "src\0/main.rs",
            ] {
                seen += 1;
                let outcome = call(&registry, tool.name(), &put(tool.name(), &place, text));
                assert!(
                    !outcome.is_ok(),
                    "{}({place} = {text:?}): {:?}",
                    tool.name(),
                    outcome.output()
                );
                let error = outcome.error().unwrap();
                assert!(!error.contains('\0'), "{error:?}");
            }
        }
    }
    assert!(seen > 0);
    assert_eq!(before, ground.snapshot());
}

/// Good arguments but for one text.
fn put(tool: &str, place: &str, text: &str) -> Value {
    let mut arguments = samples(tool)[0].clone();
    let mut steps = place.split('/').skip(1);
    let name = steps.next().unwrap();
    arguments[name] = match steps.next() {
        Some(_) => json!([text]),
        None => json!(text),
    };
    arguments
}

/// D6
#[test]
fn half_a_character_is_refused() {
    let ground = Ground::new();
    let registry = ground.registry();
    for tool in registry.tools() {
        for place in strings(tool.input_schema()) {
            for half in ["\\ud800", "\\udc00", "\\udc00\\ud800", "x\\ud83dx"] {
                let text = put(tool.name(), &place, "HALF")
                    .to_string()
                    .replace("HALF", half);
                let outcome = registry
                    .call(ToolCall::new("1", tool.name(), text.clone()))
                    .blocking();
                assert_eq!(
                    outcome.status(),
                    Status::InvalidArguments,
                    "{}({text})",
                    tool.name()
                );
            }
        }
    }
}

/// D6
#[test]
fn no_message_holds_characters_that_hide_or_turn_others() {
    let ground = Ground::new();
    let registry = ground.registry();
    let hidden = |c: char| {
        (c.is_control() && c != '\n')
            || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
    };
    for tool in registry.tools() {
        for place in strings(tool.input_schema()) {
            for text in [
                "a\u{202e}txt.exe",
                "\u{200b}notes.txt",
                "\u{2066}x\u{2069}",
                "\u{feff}notes.txt",
                "\u{1b}[2Jx",
                "x\ry",
                "\u{9b}31mx",
                "\u{7f}",
                "\u{1b}]8;;http://x\u{7}y\u{1b}]8;;\u{7}",
                "[\u{202e}",
                "(\u{1b}",
            ] {
                let outcome = call(&registry, tool.name(), &put(tool.name(), &place, text));
                let error = outcome.error().unwrap_or_default();
                assert!(
                    !error.contains(hidden),
                    "{}({place} = {text:?}): {error:?}",
                    tool.name()
                );
                let output = outcome.output().unwrap_or_default();
                assert!(
                    !output.contains(|c: char| c.is_control()),
                    "{}: {output:?}",
                    tool.name()
                );
            }
        }
    }
}
