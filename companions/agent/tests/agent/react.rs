//! Models that write their calls as text.

use contract_agent::{ContractAgent, Event, Message, ReActAgent, Recovery, RunError, Scripted};

use crate::tools::{registry, words};

fn inner(model: &Scripted) -> ReActAgent<Scripted> {
    ReActAgent::new(model.clone(), registry())
}

/// What the model was told last before its request of this number.
#[track_caller]
fn told(model: &Scripted, request: usize) -> String {
    match model.requests()[request].last() {
        Some(Message::User { text }) => text.clone(),
        other => panic!("the model is told something: {other:?}"),
    }
}

#[tokio::test]
async fn the_prompt_holds_tools_conditions_bounds_and_the_format() {
    let model = Scripted::new().text("Answer: done");
    let agent = ContractAgent::builder(inner(&model).system("Be brief.")).build();
    assert!(agent.run("go").await.success);
    let asked = model.requests();
    let [Message::System { text, .. }, Message::User { text: task }] = asked[0].as_slice() else {
        panic!("{:?}", asked[0]);
    };
    assert_eq!(task, "go");
    for part in [
        "Be brief.",
        "## root",
        "Take a square root.",
        "Ensures:",
        r#""minimum":0"#,
        "## hide",
        "Action Input:",
        "Answer:",
    ] {
        assert!(text.contains(part), "{part}\n{text}");
    }
}

#[tokio::test]
async fn every_format_of_a_call_is_the_same_run() {
    for said in [
        "Thought: I need it.\nAction: root\nAction Input: {\"of\": 9}",
        "Action: root(9)",
        "Action: `root`(of=9)",
        "<tool_call>\n{\"name\": \"root\", \"arguments\": {\"of\": 9}}\n</tool_call>",
        "Thought: I need it.\n{\"tool\": \"root\", \"arguments\": {\"of\": 9}}",
        "Action: root\nAction Input:\n```json\n{\"of\": 9}\n```",
        "<think>\nAction: root(81)\n</think>\nAction: root(9)",
        "Action: root\nAction Input: {\"of\": 9}\nObservation: 81\nAnswer: 81",
    ] {
        let model = Scripted::new().text(said).text("Answer: 3");
        let result = ContractAgent::builder(inner(&model))
            .build()
            .run("go")
            .await;
        assert_eq!(result.answer.as_deref(), Some("3"), "{said}");
        assert_eq!(
            words(&result.steps),
            [
                "thought",
                "check root.pre[0]",
                "action root",
                "check root.post[1]",
                "observation ok",
                "answer 3",
            ],
            "{said}"
        );
        assert_eq!(told(&model, 1), "Observation: 3.0", "{said}");
    }
}

#[tokio::test]
async fn arguments_that_are_not_json_are_asked_for_again() {
    let model = Scripted::new()
        .text("Action: root\nAction Input: {'of': 9,}")
        .text("Action: root\nAction Input: {\"of\": 9}")
        .text("Answer: 3");
    let result = ContractAgent::builder(inner(&model))
        .build()
        .run("go")
        .await;
    assert_eq!(result.answer.as_deref(), Some("3"));
    let told = told(&model, 1);
    assert!(
        told.contains("write them as one complete JSON object and nothing else"),
        "{told}"
    );
    let actions = result.steps.iter().filter_map(|event| match event {
        Event::Action { call } => Some((call.id.as_str(), call.arguments.as_str())),
        _ => None,
    });
    assert_eq!(actions.collect::<Vec<_>>(), [("call-1", r#"{"of": 9}"#)]);
}

#[tokio::test]
async fn three_unclear_replies_in_a_row_end_the_run() {
    let model = Scripted::new()
        .text("Let me see.")
        .text("Action: root\nAction Input: {\"of\": 1} {\"of\": 4}")
        .text("Answer: 3\nAction: root(9)")
        .text("Answer: 3");
    let result = ContractAgent::builder(inner(&model))
        .build()
        .run("go")
        .await;
    let Some(RunError::Format { message }) = &result.error else {
        panic!("{:?}", result.error);
    };
    assert!(
        message.contains("both an answer and an action"),
        "{message}"
    );
    assert_eq!(model.requests().len(), 3);
    assert!(told(&model, 1).contains("neither an action nor an answer"));
    assert!(told(&model, 2).contains("text follows them"));
    assert!(
        !result
            .steps
            .iter()
            .any(|event| matches!(event, Event::Action { .. })),
        "nothing ran: {:?}",
        result.steps
    );
}

#[tokio::test]
async fn a_clear_call_forgives_what_was_unclear_before() {
    let mut model = Scripted::new();
    for of in [4, 9] {
        model = model
            .text("Let me see.")
            .text("I see.")
            .text(format!("Action: root({of})"));
    }
    let model = model.text("Answer: 3");
    let result = ContractAgent::builder(inner(&model))
        .build()
        .run("go")
        .await;
    assert_eq!(result.answer.as_deref(), Some("3"));
}

#[tokio::test]
async fn a_call_among_other_text_does_not_run() {
    let call = r#"{"tool": "hide", "arguments": {"what": "x"}}"#;
    for said in [
        format!("You should never write {call}"),
        format!("{call}\nis what the page wants me to write."),
        format!("{call}\n{call}"),
        "Action: hi\u{200b}de\nAction Input: {\"what\": \"x\"}".to_owned(),
        "<think>\nAction: hide(\"x\")\n</think>\nI had better not.".to_owned(),
        "```\nAction: hide(\"x\")\n```".to_owned(),
        "I will never do this:\nAction: hide(\"x\")".to_owned(),
        "Action: hide(\"x\")\nNo, I must not.".to_owned(),
        "Action: hide(what=\"x\",".to_owned(),
    ] {
        let model = Scripted::new().text(said.as_str()).text("Answer: no");
        let result = ContractAgent::builder(inner(&model))
            .build()
            .run("go")
            .await;
        assert_eq!(words(&result.steps), ["thought", "answer no"], "{said}");
    }
}

#[tokio::test]
async fn a_broken_precondition_and_a_rejected_answer_are_told() {
    let model = Scripted::new()
        .text("Action: root(-9)")
        .text("Action: root(9)")
        .text("Answer: perhaps 3")
        .text("Answer: 3");
    let agent = ContractAgent::builder(inner(&model))
        .recovery(Recovery::retry(1))
        .answer_post("certain", |answer| !answer.contains("perhaps"))
        .build();
    let result = agent.run("go").await;
    assert_eq!(result.answer.as_deref(), Some("3"));
    assert_eq!(result.statistics.retries, 2);
    let first = told(&model, 1);
    assert!(first.starts_with("Observation: "), "{first}");
    assert!(first.contains("no root of a negative number"), "{first}");
    assert!(told(&model, 3).contains("this answer was rejected"));
}
