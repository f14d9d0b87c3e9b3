//! Models that call tools for ever.

use contract_agent::{Budget, Event, LoopKind, Provider, RunError};

use crate::server::{Server, calls};
use crate::tools::{agent, built, ended, model};

#[tokio::test]
async fn the_same_call_for_ever_is_a_loop() {
    let server = Server::with([calls("note", r#"{"text":"again"}"#)]).await;
    let result = agent(&server).run("go").await;
    ended(&result);
    let Some(RunError::Loop { pattern, repeated }) = result.error else {
        panic!("not a loop: {:?}", result.error);
    };
    assert_eq!((pattern, repeated), (LoopKind::ActionRepeat, 3));
    assert_eq!(server.asked().len(), 3);
    let ran = |event: &&Event| matches!(event, Event::Observation { .. });
    assert_eq!(result.steps.iter().filter(ran).count(), 2);
}

#[tokio::test]
async fn calls_that_differ_for_ever_use_up_a_budget() {
    let server = Server::that(|number| calls("note", &format!(r#"{{"text":"{number}"}}"#))).await;
    let agent = built(model(&server, Provider::Anthropic))
        .budget(Budget::ToolCalls(6))
        .build();
    let error = ended(&agent.run("go").await);
    assert!(
        error.contains("a run has at most 6 calls of tools"),
        "{error}"
    );
    assert!((7..=8).contains(&server.asked().len()));
}
