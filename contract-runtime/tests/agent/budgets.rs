//! What a run may use up: each budget ends the run that goes beyond it, and none that stays within it.

use std::time::Duration;

use contract_runtime::agent::{
    Budget, ContractAgent, Delta, LoopDetection, RunError, RunResult, Scripted, ToolCallingAgent,
    Usage,
};
use contract_runtime::prelude::*;

use crate::tools::{inner, over_all};

/// Four calls, two of which are equal and fail; then an answer.
const CALLS: [(&str, &str); 4] = [
    ("root", r#"{"of":4}"#),
    ("hide", r#"{"what":"fail"}"#),
    ("hide", r#"{"what":"fail"}"#),
    ("root", r#"{"of":9}"#),
];

#[tokio::test]
async fn every_budget_ends_a_run_beyond_it_and_no_other() {
    for (within, beyond, name) in [
        (Budget::Iterations(5), Budget::Iterations(4), "iterations"),
        (Budget::ToolCalls(4), Budget::ToolCalls(3), "tool calls"),
        (Budget::Errors(2), Budget::Errors(1), "errors"),
        (Budget::SameAction(2), Budget::SameAction(1), "same action"),
        (
            Budget::SameObservation(2),
            Budget::SameObservation(1),
            "same observation",
        ),
        (
            Budget::PromptCharacters(1_000),
            Budget::PromptCharacters(20),
            "prompt characters",
        ),
    ] {
        for budget in [within, beyond] {
            for (_, inner) in over_all(&CALLS, &["done"]) {
                let agent = ContractAgent::builder(inner)
                    .loop_detection(LoopDetection::off())
                    .budget(budget)
                    .build();
                let result = agent.run("go").await;
                if budget == within {
                    assert!(result.success, "{budget:?}: {:?}", result.error);
                } else {
                    assert_eq!(ended_by(&result), format!("agent.invariant.budget: {name}"));
                }
            }
        }
    }
}

fn ended_by(result: &RunResult) -> String {
    match &result.error {
        Some(RunError::Contract { contract, .. }) => contract.clone(),
        other => panic!("{other:?}"),
    }
}

/// Take an hour.
#[tool(read_only)]
async fn hour() {
    tokio::time::sleep(Duration::from_secs(3_600)).await;
}

#[tokio::test(start_paused = true)]
async fn the_budget_of_time_counts_from_the_beginning_of_the_run() {
    let registry = Registry::builder().tool(hour).build();
    let registry = registry.expect("the tool is sound");
    for (hours, success) in [(4, true), (2, false)] {
        // A day goes by before the run begins.
        tokio::time::advance(Duration::from_secs(86_400)).await;
        let model = (0..3)
            .fold(Scripted::new(), |model, _| {
                model.calls("", [("hour", "{}")])
            })
            .text("done");
        let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry.clone()))
            .loop_detection(LoopDetection::off())
            .budget(Budget::Time(Duration::from_secs(hours * 3_600 - 60)))
            .build();
        let result = agent.run("go").await;
        assert_eq!(result.success, success, "{:?}", result.error);
        if !success {
            assert_eq!(ended_by(&result), "agent.invariant.budget: time");
        }
    }
}

#[tokio::test]
async fn the_budget_of_tokens_counts_what_is_read_and_what_is_written() {
    for (most, success) in [(30, true), (29, false)] {
        let call = Delta::Call(ToolCall::new("1", "root", r#"{"of":4}"#));
        let model = Scripted::new()
            .reply([call, Delta::Usage(Usage::new(10, 5))])
            .reply([
                Delta::Text("done".to_owned()),
                Delta::Usage(Usage::new(12, 3)),
            ]);
        let agent = ContractAgent::builder(inner(&model))
            .budget(Budget::Tokens(most))
            .build();
        let result = agent.run("go").await;
        assert_eq!(result.success, success, "{:?}", result.error);
        assert_eq!(result.usage, {
            let mut usage = Usage::new(10, 5);
            usage += Usage::new(12, 3);
            usage
        });
    }
}
