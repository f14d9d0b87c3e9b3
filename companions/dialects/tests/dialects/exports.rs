//! What all dialects share: nothing of a contract is lost.

#![allow(
    clippy::manual_range_contains,
    clippy::manual_is_multiple_of,
    clippy::float_cmp,
    clippy::too_many_arguments,
    reason = "predicates are tried in every spelling"
)]

use contract_dialects::{ExportProblem, StrictDialect, StrictExport as _};
use contract_runtime::prelude::*;
use serde_json::{Value, json};

use crate::exports_sample::{SAMPLES, Sample};
use crate::{AnyDialect, every, export, tools};

/// The words of an export: a number or a word is not found inside another.
fn count(text: &str, word: &str) -> usize {
    let part =
        |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'.');
    let bytes = text.as_bytes();
    let bounded = |at: usize| {
        let before = at.checked_sub(1).and_then(|at| bytes.get(at));
        let after = bytes.get(at + word.len());
        let plain = |byte: u8| byte.is_ascii_alphanumeric();
        let first = word.bytes().next().is_some_and(plain) && part(before);
        // A sentence may end after the word.
        let last = word.bytes().last().is_some_and(plain) && after.is_some_and(u8::is_ascii_digit);
        !first && !last
    };
    text.match_indices(word)
        .filter(|(at, _)| bounded(*at))
        .count()
}

/// The one tool with its clause, and without, under one name; nothing where the dialect refuses it aloud.
fn exports(sample: &Sample, dialect: AnyDialect) -> Option<(String, String)> {
    let without = tools(&(sample.without)(), dialect).to_string();
    let (with, _) = export(&sample.registry(), dialect).ok()?;
    Some((with.to_string(), without))
}

/// The judge knows nothing of lowering: it holds an export against that of the same tool without the clause.
#[test]
fn no_clause_is_lost_in_any_dialect() {
    assert!(SAMPLES.len() >= 40);
    let (mut lost, mut refused) = (Vec::new(), Vec::new());
    for sample in SAMPLES {
        for dialect in every() {
            let Some((with, without)) = exports(sample, dialect) else {
                refused.push((sample.name, dialect));
                continue;
            };
            let seen = |evidence: &&str| match evidence.strip_prefix('-') {
                Some(word) if word.parse::<i32>().is_err() => {
                    count(&with, word) < count(&without, word)
                }
                _ => count(&with, evidence) > count(&without, evidence),
            };
            for any in sample.evidence {
                if !any.iter().any(seen) {
                    lost.push(format!("{dialect} {}: {any:?}\n    {with}", sample.name));
                }
            }
        }
    }
    assert!(lost.is_empty(), "{}:\n{}", lost.len(), lost.join("\n"));
    // It has no type for what is always null, and says so.
    assert_eq!(
        refused,
        [("absent", StrictDialect::GeminiParameters.into())]
    );
}

/// Half a number.
#[tool]
#[pre(number % 2 == 0)]
#[post(|half| *half <= 55, "more than 55")]
fn half(number: u8) -> u8 {
    number / 2
}

/// The description of the first tool.
fn described(tools: &Value) -> &str {
    let tool = tools[0].get("function").unwrap_or(&tools[0]);
    tool["description"].as_str().unwrap()
}

#[test]
fn postconditions_are_told_in_every_dialect() {
    let registry = Registry::builder().tool(half).build().unwrap();
    for dialect in every() {
        assert_eq!(
            described(&tools(&registry, dialect)),
            "Half a number.\n\nEnsures:\n- `result <= 55`",
            "{dialect}"
        );
    }
}

/// Open a door.
#[tool]
#[pre(!door.trim().is_empty(), "the name of the door is empty")]
#[pre(door.to_lowercase() == door)]
#[pre(from != to, "it leads to where it begins")]
#[pre(from % 2 == 0, "it begins at an odd place")]
#[post(|open| open.trim().len() > 3, "the door stayed shut")]
fn open(door: String, from: u8, to: u8) -> String {
    format!("{door} {from} {to}")
}

#[test]
fn a_message_is_the_speech_of_a_refusal_in_every_dialect() {
    let registry = Registry::builder().tool(open).build().unwrap();
    for dialect in every() {
        assert_eq!(
            described(&tools(&registry, dialect)),
            "Open a door.\n\nRequires:\n- `from != to`\n\n\
             Possible refusals:\n- \"the name of the door is empty\"",
            "{dialect}"
        );
    }
}

/// Take anything.
#[tool]
fn anything(any: serde_json::Value, more: std::collections::BTreeMap<String, u8>) {
    let _ = (any, more);
}

#[test]
fn all_problems_of_all_tools_come_together() {
    let registry = Registry::builder().tool(anything).tool(half);
    let registry = registry.rename("half", "other").build().unwrap();
    let exported = registry.export_strict(StrictDialect::OpenAiResponses);
    let problems = exported.unwrap().not_strict;
    let pointers: Vec<_> = problems
        .iter()
        .filter_map(|problem| match problem {
            ExportProblem::Inexpressible { pointer, .. } => Some(pointer.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(pointers, ["/properties/any", "/properties/more"]);
}

#[test]
fn a_tool_that_cannot_be_strict_leaves_the_others_strict() {
    let builder = Registry::builder().tool(anything).tool(half);
    let registry = builder.build().unwrap();
    let alone = Registry::builder().tool(half).build().unwrap();
    for (strict, flag) in [
        (StrictDialect::OpenAiChat, "/function/strict"),
        (StrictDialect::OpenAiResponses, "/strict"),
        (StrictDialect::Anthropic, "/strict"),
    ] {
        let loose = registry.export(strict.plain().unwrap());
        let (all, not_strict) = export(&registry, strict).unwrap();
        let alone = export(&alone, strict).unwrap();
        assert_eq!(all.as_array().unwrap().len(), 2);
        // The one is what it is without strict, the other what it is alone.
        assert_eq!(all[0], loose[0], "{strict}");
        assert_ne!(all[0].pointer(flag), Some(&json!(true)));
        assert_eq!(all[1], alone.0[0], "{strict}");
        assert_eq!(all[1].pointer(flag), Some(&json!(true)));
        assert!(!not_strict.is_empty());
        for problem in &not_strict {
            assert!(problem.to_string().starts_with("`anything`: "), "{problem}");
        }
        assert!(alone.1.is_empty());
    }
}

#[test]
fn an_empty_registry_is_an_empty_list() {
    let registry = Registry::builder().build().unwrap();
    for dialect in every() {
        assert_eq!(tools(&registry, dialect), json!([]), "{dialect}");
    }
}

#[test]
fn every_dialect_has_a_name_of_its_own() {
    let names: std::collections::BTreeSet<_> = every().map(|one| one.to_string()).collect();
    assert_eq!(names.len(), every().count());
}
