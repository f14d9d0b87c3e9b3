//! D8: the model is told what it broke, where the agent says so.

use contract_runtime::agent::{ContractAgent, Message, Recovery, RunError, Scripted};

use crate::tools::{inner, over_all, words};

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

/// What a model reads of a call that broke a contract: which condition, with which values, whatever it is written in.
#[tokio::test]
async fn every_model_is_told_the_condition_the_message_and_the_values() {
    let calls = [("root", r#"{"of": -4}"#), ("root", r#"{"of": 4}"#)];
    for (model, inner) in over_all(&calls, &["perhaps", "2"]) {
        let agent = ContractAgent::builder(inner)
            .recovery(Recovery::retry(1))
            .answer_post("certain", |answer| answer != "perhaps")
            .build();
        let result = agent.run("go").await;
        assert_eq!(result.answer.as_deref(), Some("2"), "{:?}", result.error);
        assert_eq!(result.statistics.retries, 2);
        let asked = model.requests();
        assert_eq!(asked.len(), 4);
        let read = |request: usize| match asked[request].last() {
            Some(Message::User { text } | Message::Tool { text, .. }) => text.clone(),
            other => panic!("{other:?}"),
        };
        for part in ["no root of a negative number", "of >= 0.0", "of = -4"] {
            assert!(read(1).contains(part), "{part}: {}", read(1));
        }
        assert!(
            read(3).contains("this answer cannot be given"),
            "{}",
            read(3)
        );
        assert!(read(3).contains("perhaps"), "{}", read(3));
    }
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
async fn retries_are_bounded_in_the_whole_run_too() {
    let broken = [
        ("root", r#"{"of": -4}"#),
        ("root", r#"{"of": 40000}"#),
        ("hide", r#"{"what": "assert"}"#),
    ];
    for (in_total, asked) in [(2, 3), (3, 4)] {
        // Three conditions, each broken once.
        let model = broken
            .into_iter()
            .fold(Scripted::new(), |model, call| model.calls("", [call]))
            .text("done");
        let agent = ContractAgent::builder(inner(&model))
            .recovery(Recovery::Retry {
                attempts: 5,
                in_total,
            })
            .build();
        let result = agent.run("go").await;
        assert_eq!(result.statistics.retries, u64::from(in_total));
        assert_eq!(model.requests().len(), asked);
        assert_eq!(result.success, in_total == 3, "{:?}", result.error);
    }
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
