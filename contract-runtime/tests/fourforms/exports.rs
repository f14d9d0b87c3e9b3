//! What all dialects share: nothing of a contract is lost, and an export is made once.

#![allow(
    clippy::manual_range_contains,
    clippy::manual_is_multiple_of,
    clippy::float_cmp,
    clippy::too_many_arguments,
    reason = "predicates are tried in every spelling"
)]

use contract_manifest::Inspect as _;
use contract_runtime::prelude::*;
use contract_runtime::{Dialect, ExportProblem};
use serde_json::{Value, json};

use crate::exports_sample::SAMPLES;

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

/// The judge knows nothing of lowering: it holds an export against that of the same tool without the clause.
#[test]
fn no_clause_is_lost_in_any_dialect() {
    assert!(SAMPLES.len() >= 40);
    let (mut lost, mut refused) = (Vec::new(), Vec::new());
    for sample in SAMPLES {
        for dialect in Dialect::ALL {
            let Some((with, without)) = sample.exports(dialect) else {
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
    assert_eq!(refused, [("absent", Dialect::GeminiParameters)]);
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
    for dialect in Dialect::ALL {
        let tools = registry.export(dialect).unwrap();
        assert_eq!(
            described(tools),
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
#[post(|open| open.len() > 3, "the door stayed shut")]
fn open(door: String, from: u8, to: u8) -> String {
    format!("{door} {from} {to}")
}

#[test]
fn a_message_is_the_speech_of_a_refusal_in_every_dialect() {
    let registry = Registry::builder().tool(open).build().unwrap();
    for dialect in Dialect::ALL {
        assert_eq!(
            described(registry.export(dialect).unwrap()),
            "Open a door.\n\nRequires:\n- `from != to`\n\n\
             Possible refusals:\n- \"the name of the door is empty\"",
            "{dialect}"
        );
    }
}

#[test]
fn what_is_explained_quotes_each_message() {
    let registry = Registry::builder().tool(open).build().unwrap();
    let text = registry.explain("open").unwrap();
    for line in [
        r#"    requires `!door.trim().is_empty()`, else "the name of the door is empty", policy enforce"#,
        r#"    promises `|open| open.len() > 3`, else "the door stayed shut", policy enforce"#,
        r#"    in the schema in part, and below `Possible refusals:`: "the name of the door is empty""#,
        "    not shown: `door.to_lowercase() == door`",
        "    below `Requires:`: `from != to`",
        "    in the schema: `from % 2 == 0`",
        "    not shown: `|open| open.len() > 3`",
    ] {
        assert!(text.lines().any(|one| one == line), "{line}\n{text}");
    }
}

#[test]
fn an_export_is_made_once_for_all_clones() {
    let registry = Registry::builder().tool(half).build().unwrap();
    for dialect in Dialect::ALL {
        let first = registry.export(dialect).unwrap();
        let again = registry.clone();
        assert!(std::ptr::eq(first, again.export(dialect).unwrap()));
    }
    let neutral = registry.export(Dialect::Neutral).unwrap();
    let strict = registry
        .export(Dialect::OpenAiChat { strict: true })
        .unwrap();
    assert_ne!(neutral, strict);
}

#[test]
fn every_dialect_has_a_name_of_its_own_that_reads_back() {
    for dialect in Dialect::ALL {
        assert_eq!(dialect.to_string().parse(), Ok(dialect));
        let same = Dialect::ALL
            .iter()
            .filter(|one| one.name() == dialect.name());
        assert_eq!(same.count(), 1);
    }
    let error = "openai".parse::<Dialect>().unwrap_err().to_string();
    assert!(
        error.starts_with("unknown dialect `openai`; write one of `openai-chat`, "),
        "{error}"
    );
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
    let dialect = Dialect::OpenAiResponses { strict: true };
    let problems = registry.export(dialect).unwrap().not_strict();
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
    for (strict, loose, flag) in [
        (
            Dialect::OpenAiChat { strict: true },
            Dialect::OpenAiChat { strict: false },
            "/function/strict",
        ),
        (
            Dialect::OpenAiResponses { strict: true },
            Dialect::OpenAiResponses { strict: false },
            "/strict",
        ),
        (
            Dialect::Anthropic { strict: true },
            Dialect::Anthropic { strict: false },
            "/strict",
        ),
    ] {
        let export = registry.export(strict).unwrap();
        assert_eq!(export.as_array().unwrap().len(), 2);
        // The one is what it is without strict, the other what it is alone.
        assert_eq!(export[0], registry.export(loose).unwrap()[0], "{strict}");
        assert_ne!(export[0].pointer(flag), Some(&json!(true)));
        assert_eq!(export[1], alone.export(strict).unwrap()[0], "{strict}");
        assert_eq!(export[1].pointer(flag), Some(&json!(true)));
        assert!(!export.not_strict().is_empty());
        for problem in export.not_strict() {
            assert!(problem.to_string().starts_with("`anything`: "), "{problem}");
        }
        // What is not strict says so to whoever reads the list, and nothing else is said of it.
        assert!(registry.export(loose).unwrap().not_strict().is_empty());
        assert!(alone.export(strict).unwrap().not_strict().is_empty());
        assert_eq!(json!(export), *export.tools());
    }
}

#[test]
fn an_empty_registry_is_an_empty_list() {
    let registry = Registry::builder().build().unwrap();
    for dialect in Dialect::ALL {
        let export = registry.export(dialect).unwrap();
        assert_eq!(export.tools(), &json!([]), "{dialect}");
        assert!(export.not_strict().is_empty());
    }
}

#[test]
fn the_neutral_list_is_plain_json_schema() {
    let registry = Registry::builder().tool(half).build().unwrap();
    let export = registry.export(Dialect::Neutral).unwrap();
    assert_eq!(
        *export.tools(),
        json!([{
            "name": "half",
            "description": "Half a number.\n\nEnsures:\n- `result <= 55`",
            "parameters": registry.tool("half").unwrap().input_schema(),
            "output": registry.tool("half").unwrap().output_schema(),
        }])
    );
}
