//! What a run may use up: each budget ends the run that goes beyond it, and none that stays within it.

use std::time::Duration;

use contract_agent::{
    Budget, ConstrainedAgent, ContractAgent, Delta, InnerAgent, LoopDetection, Message, ReActAgent,
    RunError, RunResult, Scripted, ToolCallingAgent, Usage,
};
use contract_runtime::prelude::*;

use crate::tools::{inner, over_all, registry};

/// Four calls, two of which are equal and fail; then an answer.
const CALLS: [(&str, &str); 4] = [
    ("root", r#"{"of":4}"#),
    ("hide", r#"{"what":"fail"}"#),
    ("hide", r#"{"what":"fail"}"#),
    ("root", r#"{"of":9}"#),
];

#[tokio::test]
async fn every_budget_ends_a_run_beyond_it_and_no_other() {
    // With the number of replies that are paid for where it is used up.
    for (within, beyond, name, replies) in [
        (
            Budget::Iterations(5),
            Budget::Iterations(4),
            "iterations",
            4,
        ),
        (Budget::ToolCalls(4), Budget::ToolCalls(3), "tool calls", 4),
        (Budget::Errors(2), Budget::Errors(1), "errors", 3),
        (
            Budget::SameAction(2),
            Budget::SameAction(1),
            "same action",
            3,
        ),
        (
            Budget::SameObservation(2),
            Budget::SameObservation(1),
            "same observation",
            3,
        ),
    ] {
        for budget in [within, beyond] {
            for (model, inner) in over_all(&CALLS, &["done"]) {
                let agent = ContractAgent::builder(inner)
                    .loop_detection(LoopDetection::off())
                    .budget(budget)
                    .build();
                let result = agent.run("go").await;
                let asked = model.requests().len();
                if budget == within {
                    assert!(result.success, "{budget:?}: {:?}", result.error);
                    assert_eq!(asked, 5, "{budget:?}");
                } else {
                    assert_eq!(ended_by(&result), format!("agent.invariant.budget: {name}"));
                    assert_eq!(asked, replies, "{budget:?}");
                }
            }
        }
    }
}

/// The characters of a request, as a reader of the documentation counts them.
fn characters(request: &[Message]) -> u64 {
    let count = |text: &str| text.chars().count() as u64;
    let all = request.iter().map(|message| match message {
        Message::Assistant { text, calls, .. } => {
            let calls = calls.iter();
            let calls = calls.map(|call| count(&call.name) + count(&call.arguments));
            count(text) + calls.sum::<u64>()
        }
        Message::System { text, .. } | Message::User { text } | Message::Tool { text, .. } => {
            count(text)
        }
        other => panic!("{other:?}"),
    });
    all.sum()
}

#[tokio::test]
async fn the_budget_of_characters_counts_all_messages_of_a_request() {
    let past = || {
        let text = "é".repeat(500);
        let calls = Vec::new();
        [
            Message::User { text: text.clone() },
            Message::Assistant {
                text,
                calls,
                reasoning: None,
            },
        ]
    };
    let run = async |way: usize, budget: u64| {
        let (model, inner) = over_all(&CALLS, &["done"]).remove(way);
        let agent = ContractAgent::builder(inner)
            .loop_detection(LoopDetection::off())
            .budget(Budget::PromptCharacters(budget))
            .build();
        let result = agent.run_after(past(), "go").await;
        (model.requests(), result)
    };
    for way in 0..3 {
        let (requests, result) = run(way, u64::MAX).await;
        assert!(result.success, "{:?}", result.error);
        assert_eq!(requests.len(), 5);
        // Each request is sent by the budget that is just enough for it, and by none that is smaller.
        for (before, request) in requests.iter().enumerate() {
            let (sent, result) = run(way, characters(request) - 1).await;
            assert_eq!(
                ended_by(&result),
                "agent.invariant.budget: prompt characters"
            );
            assert_eq!(sent.len(), before);
        }
        let last = requests.last().expect("there are five");
        let (_, result) = run(way, characters(last)).await;
        assert!(result.success, "{:?}", result.error);
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

/// A budget that is only observed lets the run go on, and is told of once in a step.
#[tokio::test]
async fn an_observed_budget_pays_for_every_reply_and_is_told_of_once_in_a_step() {
    for (model, inner) in over_all(&CALLS, &["done"]) {
        let agent = ContractAgent::builder(inner)
            .policy(Policy::Observe)
            .loop_detection(LoopDetection::off())
            .budget(Budget::Iterations(3))
            .build();
        let result = agent.run("go").await;
        assert!(result.success, "{:?}", result.error);
        assert_eq!(model.requests().len(), 5);
        assert_eq!(result.statistics.violations, 2);
    }
}

/// Both agents that read text ask again for a reply that they cannot use, three times in a row at most.
fn over_text() -> [(Scripted, Box<dyn InnerAgent>); 2] {
    let model = || (0..9).fold(Scripted::new(), |model, _| model.text("Let me see."));
    let (text, object) = (model(), model());
    let constrained = ConstrainedAgent::new(object.clone(), registry());
    [
        (
            text.clone(),
            Box::new(ReActAgent::new(text, registry())) as Box<dyn InnerAgent>,
        ),
        (object, Box::new(constrained)),
    ]
}

#[tokio::test]
async fn a_reply_that_is_asked_for_again_counts_as_a_step_of_the_budget() {
    for most in [1, 2] {
        for (model, inner) in over_text() {
            let agent = ContractAgent::builder(inner)
                .budget(Budget::Iterations(most))
                .build();
            let result = agent.run("go").await;
            assert_eq!(ended_by(&result), "agent.invariant.budget: iterations");
            assert_eq!(model.requests().len() as u64, most);
        }
        for (model, inner) in over_text() {
            let agent = ContractAgent::builder(inner).max_steps(most).build();
            let result = agent.run("go").await;
            assert_eq!(result.error, Some(RunError::TooManySteps { most }));
            assert_eq!(model.requests().len() as u64, most);
        }
    }
}

#[tokio::test]
async fn a_reply_that_is_asked_for_again_within_the_budget_costs_no_answer() {
    let model = Scripted::new()
        .text("Let me see.")
        .text(r#"{"type":"answer","content":"done"}"#);
    let inner = ConstrainedAgent::new(model.clone(), registry());
    let agent = ContractAgent::builder(inner)
        .budget(Budget::Iterations(2))
        .max_steps(2)
        .build();
    let result = agent.run("go").await;
    assert!(result.success, "{:?}", result.error);
    assert_eq!(result.iterations, 1);
}
