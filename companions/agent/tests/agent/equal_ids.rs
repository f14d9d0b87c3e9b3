//! Calls of one reply that have the same id, and bodies that tell of more than is kept.

use contract_agent::{ContractAgent, Delta, Event, RunResult, Scripted, ToolCallingAgent};
use contract_runtime::prelude::*;

use crate::tools::inner;

/// What is below zero is refused before it reaches the tool.
fn arguments(of: i64) -> String {
    let name = if of < 0 { "off" } else { "of" };
    format!(r#"{{"{name}":{of}}}"#)
}

async fn roots(of: [i64; 3]) -> RunResult {
    let calls = of.map(|of| Delta::Call(ToolCall::new("same", "root", arguments(of))));
    let model = Scripted::new().reply(calls).text("done");
    ContractAgent::builder(inner(&model))
        .build()
        .run("go")
        .await
}

#[tokio::test]
async fn each_of_two_calls_with_one_id_is_told_as_it_was_made() {
    for of in [[-4, 9, 16], [9, -4, 16], [9, 16, -4], [-4, -9, 16]] {
        let result = roots(of).await;
        assert!(result.success, "{of:?}");
        let told: Vec<String> = result
            .steps
            .iter()
            .filter_map(|event| match event {
                Event::Action { call } => Some(call.arguments.clone()),
                Event::Observation { status, .. } => Some(status.to_string()),
                _ => None,
            })
            .collect();
        // Each call is told when it is over, and before it what was called.
        let status = |of| if of > 0 { "ok" } else { "invalid_arguments" };
        let expected: Vec<String> = of
            .into_iter()
            .flat_map(|of| [arguments(of), status(of).to_owned()])
            .collect();
        assert_eq!(told, expected, "{of:?}");
    }
}

/// Assert the same thing again and again.
#[tool]
fn assert_often(times: u64) {
    for time in 0..times {
        contract_assert!(time % 10 > 0, "every tenth", policy = observe);
    }
}

#[tokio::test]
async fn a_body_that_asserts_without_end_fills_no_memory_and_is_counted_whole() {
    const TIMES: u64 = 50_000;
    let registry = Registry::builder()
        .tool(assert_often)
        .build()
        .expect("the tool is sound");
    let arguments = format!(r#"{{"times":{TIMES}}}"#);
    let model = Scripted::new()
        .calls("", [("assert_often", arguments)])
        .text("done");
    let agent =
        ContractAgent::builder(ToolCallingAgent::new(model.clone(), registry.clone())).build();
    let mut events = agent.run("go").stream();
    let (mut checks, mut violations, mut omitted) = (0, 0, (0, 0));
    while let Some(event) = events.next().await {
        match event {
            Event::ContractCheck { .. } => checks += 1,
            Event::ContractViolation { .. } => violations += 1,
            Event::Omitted {
                checks, violations, ..
            } => omitted = (checks, violations),
            _ => {}
        }
    }
    assert!(
        checks + violations <= 10_000,
        "{checks} and {violations} are kept"
    );
    assert_eq!(checks + omitted.0, TIMES);
    assert_eq!(violations + omitted.1, TIMES / 10);
    drop(events);
    let model = Scripted::new()
        .calls("", [("assert_often", format!(r#"{{"times":{TIMES}}}"#))])
        .text("done");
    let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry)).build();
    let result = agent.run("go").await;
    assert_eq!(result.answer.as_deref(), Some("done"));
    assert_eq!(result.statistics.checks, TIMES);
    assert_eq!(result.statistics.violations, TIMES / 10);
}

/// Say something on the way.
#[tool]
fn murmur(#[context] log: &Log, times: u64) -> u64 {
    for time in 0..times {
        log.info(time);
    }
    times
}

#[tokio::test]
async fn what_a_body_says_is_an_event_between_its_beginning_and_its_end() {
    let registry = Registry::builder()
        .tool(murmur)
        .build()
        .expect("the tool is sound");
    let model = Scripted::new()
        .calls("", [("murmur", r#"{"times":2}"#.to_owned())])
        .text("done");
    let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry)).build();
    let mut events = agent.run("go").stream();
    let mut told = Vec::new();
    while let Some(event) = events.next().await {
        match event {
            Event::Action { .. } => told.push("action".to_owned()),
            Event::Log {
                tool,
                level,
                message,
                ..
            } => told.push(format!("{tool} {level} {message}")),
            Event::Observation { .. } => told.push("observation".to_owned()),
            _ => {}
        }
    }
    let expected = ["action", "murmur info 0", "murmur info 1", "observation"];
    assert_eq!(told, expected);
}

/// Say much, and see that something is wrong.
#[tool]
fn shout(#[context] log: &Log, times: u64, length: usize) -> u64 {
    for _ in 0..times {
        log.info("é".repeat(length));
    }
    contract_assert!(times == 0, "it was loud", policy = observe);
    times
}

#[tokio::test]
async fn a_body_that_talks_without_end_fills_no_memory_and_hides_no_violation() {
    const TIMES: u64 = 20_000;
    let registry = Registry::builder()
        .tool(shout)
        .build()
        .expect("the tool is sound");
    let arguments = format!(r#"{{"times":{TIMES},"length":20000}}"#);
    let model = Scripted::new()
        .calls("", [("shout", arguments)])
        .text("done");
    let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry)).build();
    let mut events = agent.run("go").stream();
    let (mut heard, mut omitted, mut violations) = (0, 0, 0);
    while let Some(event) = events.next().await {
        match event {
            Event::Log { message, .. } => {
                heard += 1;
                assert_eq!(message.chars().count(), 10_001, "it is cut");
            }
            Event::Omitted { messages, .. } => omitted += messages,
            Event::ContractViolation { .. } => violations += 1,
            _ => {}
        }
    }
    assert!(heard <= 1_000, "{heard} are kept");
    assert_eq!((heard + omitted, violations), (TIMES, 1));
}
