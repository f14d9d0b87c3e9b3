//! D8: the model is told what it broke, where the agent says so.

use contract_runtime::agent::{ContractAgent, Message, Recovery, RunError, Scripted};

use crate::tools::{inner, words};

#[tokio::test]
async fn d8_a_model_that_broke_a_precondition_may_try_again() {
    let model = Scripted::new()
        .calls("", [("root", r#"{"of": -4}"#)])
        .calls("", [("root", r#"{"of": 4}"#)])
        .text("2");
    let agent = ContractAgent::builder(inner(&model))
        .recovery(Recovery::retry(1))
        .build();
    let result = agent.run("go").await;
    assert_eq!(result.answer.as_deref(), Some("2"));
    assert_eq!(
        words(&result.steps)[..6],
        [
            "thought",
            "check root.pre[0]",
            "violation root.pre[0]",
            "retry 1",
            "action root",
            "observation violation",
        ]
    );
    let asked = model.requests();
    let Some(Message::Tool { text, .. }) = asked[1].last() else {
        panic!("the model reads what came of its call: {:?}", asked[1]);
    };
    assert!(text.contains("no root of a negative number"), "{text}");
    assert!(text.contains("of = -4"), "{text}");
}

#[tokio::test]
async fn retries_are_bounded() {
    let mut model = Scripted::new();
    for of in 1..9 {
        model = model.calls("", [("root", format!(r#"{{"of": -{of}}}"#))]);
    }
    let agent = ContractAgent::builder(inner(&model))
        .recovery(Recovery::retry(2))
        .build();
    let result = agent.run("go").await;
    assert_eq!(result.statistics.retries, 2);
    assert_eq!(model.requests().len(), 3);
    assert!(matches!(result.error, Some(RunError::Contract { .. })));
}

#[tokio::test]
async fn a_rejected_answer_may_be_given_again() {
    let model = Scripted::new().text("perhaps 2").text("2");
    let agent = ContractAgent::builder(inner(&model))
        .recovery(Recovery::retry(1))
        .answer_post("certain", |answer| !answer.contains("perhaps"))
        .build();
    let result = agent.run("go").await;
    assert_eq!(result.answer.as_deref(), Some("2"));
    assert_eq!(result.iterations, 2);
    let asked = model.requests();
    let Some(Message::User { text }) = asked[1].last() else {
        panic!("the model is told: {:?}", asked[1]);
    };
    assert!(text.contains("this answer cannot be given"), "{text}");
}

#[tokio::test]
async fn a_finished_run_seeds_the_next() {
    let model = Scripted::new().text("2").text("3");
    let agent = ContractAgent::builder(inner(&model)).build();
    let first = agent.run("one").await;
    let second = agent
        .run_after(first.messages, contract_runtime::Context::new(), "two")
        .await;
    assert_eq!(second.answer.as_deref(), Some("3"));
    assert_eq!(second.messages.len(), 4);
    assert_eq!(model.requests()[1].len(), 3);
}
