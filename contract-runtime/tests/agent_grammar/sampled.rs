//! Whatever a grammar accepts, a call accepts.

use contract_runtime::agent::{Constraint, TokenMask, Vocabulary};
use serde_json::Value;

use crate::tools::{Random, arguments, judge, registry, sample};

const ROUNDS: usize = 60;

#[test]
fn every_sampled_text_of_arguments_is_accepted_by_a_call() {
    let registry = registry();
    let mut random = Random::new(1);
    for tool in registry.tools() {
        let constraint = arguments(&registry, tool.name()).expect("it can be said");
        let mask = TokenMask::new(&constraint, &Vocabulary::bytes())
            .expect("the engine reads the grammar");
        let mut judged = 0;
        for _ in 0..ROUNDS {
            let Some(text) = sample(&mask, &mut random) else {
                continue;
            };
            judged += 1;
            if let Err(error) = judge(&registry, tool.name(), &text) {
                // Two conditions of which one alone decides are told.
                let told = tool.name() == "choices" && error.contains("requires");
                let twice = tool.name() == "open" && error.contains("more than once");
                assert!(
                    told || twice,
                    "{}({text}): {error}\n{}",
                    tool.name(),
                    constraint.lark()
                );
            }
        }
        assert!(judged > ROUNDS / 2, "{}: {judged}", tool.name());
    }
}

#[test]
fn every_sampled_reply_is_an_answer_or_a_call_that_is_accepted() {
    let registry = registry();
    let constraint = Constraint::replies(&registry, true).expect("it can be said");
    let mask =
        TokenMask::new(&constraint, &Vocabulary::bytes()).expect("the engine reads the grammar");
    let mut random = Random::new(2);
    let (mut answers, mut calls) = (0, 0);
    for _ in 0..300 {
        let Some(text) = sample(&mask, &mut random) else {
            continue;
        };
        let reply: Value = serde_json::from_str(&text).expect("JSON");
        if reply["type"] == "answer" {
            assert!(reply["content"].is_string());
            answers += 1;
            continue;
        }
        let tool = reply["tool"].as_str().expect("a name");
        assert!(registry.tool(tool).is_some());
        let judged = judge(&registry, tool, &reply["arguments"].to_string());
        assert!(judged.is_ok() || tool == "choices", "{text}: {judged:?}");
        calls += 1;
    }
    assert!(
        answers > 10 && calls > 100,
        "{answers} answers, {calls} calls"
    );
}
