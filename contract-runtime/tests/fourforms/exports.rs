//! What all dialects share: nothing of a contract is lost, and an export is made once.

#![allow(
    clippy::manual_range_contains,
    clippy::manual_is_multiple_of,
    clippy::float_cmp,
    clippy::too_many_arguments,
    reason = "predicates are tried in every spelling"
)]

use contract_runtime::prelude::*;
use contract_runtime::{Dialect, ExportProblem};
use serde_json::json;

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
#[post(|half| *half <= 55, "no more than 55")]
fn half(number: u8) -> u8 {
    number / 2
}

#[test]
fn postconditions_are_told_in_every_dialect() {
    let registry = Registry::builder().tool(half).build().unwrap();
    for dialect in Dialect::ALL {
        let tools = registry.export(dialect).unwrap().to_string();
        assert!(tools.contains("Ensures:"), "{dialect}: {tools}");
        assert!(tools.contains("55"), "{dialect}: {tools}");
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
    let error = registry.export(dialect).unwrap_err();
    assert_eq!(error.dialect(), dialect);
    let pointers: Vec<_> = error
        .problems()
        .iter()
        .filter_map(|problem| match problem {
            ExportProblem::Inexpressible { pointer, .. } => Some(pointer.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(pointers, ["/properties/any", "/properties/more"]);
}

#[test]
fn an_empty_registry_is_an_empty_list() {
    let registry = Registry::builder().build().unwrap();
    for dialect in Dialect::ALL {
        assert_eq!(registry.export(dialect), Ok(&json!([])), "{dialect}");
    }
}

#[test]
fn the_neutral_list_is_plain_json_schema() {
    let registry = Registry::builder().tool(half).build().unwrap();
    let tools = registry.export(Dialect::Neutral).unwrap();
    assert_eq!(
        *tools,
        json!([{
            "name": "half",
            "description": "Half a number.\n\nEnsures:\n- no more than 55",
            "parameters": registry.tool("half").unwrap().input_schema(),
            "output": registry.tool("half").unwrap().output_schema(),
        }])
    );
}
