//! What was sent to a tool, or stands in a file, is for the model alone: it is in no log, and logs cannot be falsified.

use std::sync::{Arc, Mutex};

use crate::common::{
    Ground, Heard, alone, beside, call, ended, mutations, reexec, samples, strings, tell,
};
use contract_manifest::ToManifest as _;
use contract_runtime::Status;
use contract_runtime::observe::Observer;
use contract_runtime::prelude::*;
use serde_json::{Value, json};

/// With characters that each way of writing writes in another way.
const SECRET: &str = "S3CR3T-\"é\\\u{1}-kanarienvogel";

/// A part without such characters.
const PLAIN: &str = "kanarienvogel";

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digit = |bits: u32| char::from(DIGITS[(bits & 63) as usize]);
    let whole = bytes.chunks_exact(3).map(|three| {
        let bits = u32::from(three[0]) << 16 | u32::from(three[1]) << 8 | u32::from(three[2]);
        [bits >> 18, bits >> 12, bits >> 6, bits].map(digit)
    });
    whole.flatten().collect()
}

/// Every form in which the secret might be written.
fn forms() -> Vec<String> {
    let bytes = |form: fn(u8) -> String| PLAIN.bytes().map(form).collect::<Vec<_>>().concat();
    let mut forms = vec![
        PLAIN.to_owned(),
        PLAIN.to_uppercase(),
        PLAIN.chars().rev().collect(),
        bytes(|byte| format!("{byte:02x}")),
        bytes(|byte| format!("{byte:02X}")),
        bytes(|byte| format!("%{byte:02x}")),
        bytes(|byte| format!("\\x{byte:02x}")),
        bytes(|byte| format!("\\u{byte:04x}")),
        bytes(|byte| format!("{byte}, ")),
        bytes(|byte| format!("{byte},")),
    ];
    // The three ways in which a text may lie in base64.
    forms.extend((0..3).map(|skipped| base64(&PLAIN.as_bytes()[skipped..])));
    forms
}

#[track_caller]
fn is_not_in(text: &str, sink: &str) {
    for form in forms() {
        assert!(!text.contains(&form), "{sink} holds {form}:\n{text}");
    }
}

#[test]
fn every_form_would_be_found() {
    assert_eq!(base64(b"Man"), "TWFu");
    for (at, form) in forms().into_iter().enumerate() {
        let found = std::panic::catch_unwind(|| is_not_in(&format!("a {form} b"), "it"));
        assert!(found.is_err(), "form {at}");
    }
}

/// Good arguments in which the secret stands once, and such with mistakes.
fn with_secret(tool: contract_runtime::ToolInfo<'_>) -> Vec<Value> {
    let mut all = Vec::new();
    for place in strings(tool.input_schema()) {
        for text in [
            SECRET.to_owned(),
            format!("{SECRET}\0"),
            format!("../{SECRET}"),
            format!("({SECRET}"),
        ] {
            let mut arguments = samples(tool.name())[0].clone();
            let mut steps = place.split('/').skip(1);
            let name = steps.next().unwrap();
            let listed = steps.next().is_some();
            arguments[name] = if listed { json!([text]) } else { json!(text) };
            if name == "script" {
                arguments = json!({"script": format!("false '{PLAIN}'")});
            }
            all.push(arguments);
        }
    }
    if let Some(first) = all.first().cloned() {
        let spoiled = mutations(&first, tool.input_schema()).into_iter();
        all.extend(spoiled.map(|(_, arguments)| arguments));
        let mut unknown = first;
        unknown[SECRET] = json!(SECRET);
        all.push(unknown);
    }
    all
}

/// P7
#[test]
fn what_is_sent_to_a_tool_is_in_no_log_and_in_no_masked_violation() {
    let _alone = alone();
    let heard = Heard::everywhere();
    let ground = Ground::new();
    let masked = Arc::new(Mutex::new(Vec::new()));
    let told = Arc::clone(&masked);
    let mut calls = 0;
    for policy in [Policy::Enforce, Policy::Observe] {
        let told = Arc::clone(&told);
        let registry = ground
            .builder()
            .policy(policy)
            .observe(Observer::new().violations(move |violation| {
                let masked = violation.masked();
                let json = serde_json::to_string(&masked).unwrap();
                told.lock()
                    .unwrap()
                    .extend([masked.to_string(), format!("{masked:?}"), json]);
            }));
        let registry = registry.build().unwrap();
        for tool in registry.tools() {
            for arguments in with_secret(tool) {
                calls += 1;
                let call = ToolCall::new("1", tool.name(), arguments.to_string());
                is_not_in(&format!("{call:?}"), "a call");
                let outcome = registry.call(call).blocking();
                assert_ne!(
                    outcome.status(),
                    Status::Panicked,
                    "{}({arguments})",
                    tool.name()
                );
                let log = heard.take();
                assert!(log.contains("execute_tool"));
                is_not_in(&log, tool.name());
                for violation in outcome.violation().into_iter().chain(outcome.observed()) {
                    is_not_in(&format!("{:?}", violation.masked()), tool.name());
                }
            }
        }
        is_not_in(
            &format!("{registry:?} {:?}", registry.statistics()),
            "the registry",
        );
        is_not_in(&registry.manifest().to_json(), "the manifest");
    }
    assert!(calls > 100, "{calls}");
    let masked = masked.lock().unwrap();
    assert!(!masked.is_empty());
    is_not_in(&masked.concat(), "a masked violation");
}

/// P7
#[test]
fn what_stands_in_a_file_is_in_no_log_and_in_no_error() {
    let _alone = alone();
    let heard = Heard::everywhere();
    let ground = Ground::new();
    let registry = ground.registry();
    for tool in registry.tools() {
        for mut arguments in samples(tool.name()) {
            for spoil in [false, true] {
                ground.write("notes.txt", format!("one {SECRET}\ntwo {SECRET}\n"));
                if spoil {
                    // A text that is not there, twice there, or not searchable.
                    for (name, text) in [("old", "wto"), ("pattern", "("), ("expected_hash", "00")]
                    {
                        if arguments.get(name).is_some() {
                            arguments[name] = json!(text);
                        }
                    }
                }
                let outcome = call(&registry, tool.name(), &arguments);
                is_not_in(&heard.take(), tool.name());
                is_not_in(&ended(&outcome), tool.name());
            }
        }
    }
    ground.write("binary", format!("{SECRET}\0{SECRET}"));
    ground.write("latin", [SECRET.as_bytes(), b"\xff\xfe\xe9"].concat());
    for path in ["binary", "latin"] {
        let outcome = call(&registry, "read_file", &json!({"path": path}));
        assert!(!outcome.is_ok());
        is_not_in(&ended(&outcome), path);
    }
}

/// P7
#[test]
fn nothing_of_it_is_printed() {
    if reexec::input_of(nothing_of_it_is_printed).is_some() {
        let ground = Ground::new();
        let registry = ground.registry();
        for tool in registry.tools() {
            for arguments in with_secret(tool) {
                let _ = call(&registry, tool.name(), &arguments);
            }
        }
        tell("all was called");
        return;
    }
    let _beside = beside();
    let printed = reexec::run(&mut reexec::command(nothing_of_it_is_printed, ""));
    assert!(printed.contains("all was called"), "{printed}");
    is_not_in(&printed, "what was printed");
    assert!(!printed.contains("panicked"), "{printed}");
}

/// Texts that move the cursor, start a link, rewrite a line, or look like one of the log's own.
const FALSE: [&str; 8] = [
    "\u{1b}[2J\u{1b}[H",
    "\u{1b}]8;;http://example.org\u{7}link\u{1b}]8;;\u{7}",
    "\u{1b}]0;title\u{7}",
    "all is well\rgone",
    "first\nexecute_tool\noutcome = ok",
    "\u{9b}31m",
    "\u{8}\u{8}\u{8}\u{7f}",
    "\u{202e}evil\u{2066}",
];

fn moves(text: &str) -> bool {
    let direction = |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    text.contains(|c: char| (c.is_control() && c != '\n') || direction(c))
}

/// P8
#[test]
fn no_log_and_no_message_moves_the_cursor() {
    let _alone = alone();
    let heard = Heard::everywhere();
    let ground = Ground::new();
    for text in FALSE {
        ground.write(
            &format!("odd/{text}.txt", text = text.replace('/', "_")),
            format!("one {text}\n"),
        );
    }
    let registry = ground.registry();
    for text in FALSE {
        ground.write("notes.txt", format!("one {text} two\n"));
        // As the name of a tool, as an id, and as each text of each tool.
        let mut calls = vec![
            ToolCall::new("1", text, "{}"),
            ToolCall::new(text, "read_file", "{}"),
            ToolCall::new(text, "read_folder", r#"{"path":"odd"}"#),
            ToolCall::new(
                "1",
                "read_file",
                json!({"path": format!("odd/{text}")}).to_string(),
            ),
            ToolCall::new("1", "read_file", json!({text: text}).to_string()),
            ToolCall::new("1", "read_file", format!("{{\"path\":\"{text}\"}}")),
            ToolCall::new("1", "read_file", text),
        ];
        for tool in registry.tools() {
            for arguments in samples(tool.name()) {
                calls.push(ToolCall::new("1", tool.name(), arguments.to_string()));
            }
            for place in strings(tool.input_schema()) {
                let mut arguments = samples(tool.name())[0].clone();
                let name = place.split('/').nth(1).unwrap();
                let listed = place.split('/').nth(2).is_some();
                arguments[name] = if listed { json!([text]) } else { json!(text) };
                calls.push(ToolCall::new("1", tool.name(), arguments.to_string()));
            }
        }
        let _ = heard.take();
        for call in calls {
            let said = format!("{call:?} {}", call.arguments);
            let outcome = registry.call(call).blocking();
            let log = heard.take();
            assert!(!moves(&log), "{said}\n{log:?}");
            assert!(!log.contains("\noutcome = ok"), "{said}\n{log}");
            let error = outcome.error().unwrap_or_default();
            assert!(!moves(error), "{said}\n{error:?}");
            // A list has one line for each problem.
            let further = error.lines().skip(1).all(|line| line.starts_with("- "));
            assert!(further, "{said}\n{error:?}");
            let output = outcome.output().unwrap_or_default();
            // What a file holds is given as JSON writes it: controls below the blank are escaped, others are not.
            assert!(!output.contains(|c| c < ' '), "{said}\n{output:?}");
        }
    }
}
