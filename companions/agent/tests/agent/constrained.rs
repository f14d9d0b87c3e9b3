//! Models that write text, each reply one JSON object.

use contract_agent::{
    ConstrainedAgent, ContractAgent, Event, InnerAgent, Message, ReActAgent, Recovery, RunError,
    Scripted, ToolCallingAgent, reply_schema,
};
use contract_runtime::prelude::*;
use serde_json::Value;

use crate::tools::{registry, words};

const ANSWER: &str = r#"{"type":"answer","content":"done"}"#;

fn inner(model: &Scripted) -> ConstrainedAgent<Scripted> {
    ConstrainedAgent::new(model.clone(), registry())
}

fn call(tool: &str, arguments: &str) -> String {
    format!(r#"{{"type":"tool_call","tool":"{tool}","arguments":{arguments}}}"#)
}

#[tokio::test]
async fn calls_and_answers_are_events_like_those_of_any_agent() {
    let model = Scripted::new()
        .text(r#"{"reasoning":"I need a root.","type":"tool_call","tool":"root","arguments":{"of":9}}"#)
        .text(r#"{"reasoning":"So it is 3.","type":"answer","content":"3"}"#);
    let agent = ContractAgent::builder(inner(&model)).build();
    let result = agent.run("the root of 9").await;
    assert_eq!(result.answer.as_deref(), Some("3"));
    assert_eq!(
        words(&result.steps),
        [
            "thought",
            "check root.pre[0]",
            "action root",
            "check root.post[1]",
            "observation ok",
            "thought",
            "answer 3",
        ]
    );
    let thoughts: Vec<_> = result
        .steps
        .iter()
        .filter_map(|step| match step {
            Event::Thought { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(thoughts, ["I need a root.", "So it is 3."]);
    assert_eq!(result.iterations, 2);
    let asked = model.requests();
    let Some(Message::User { text }) = asked[1].last() else {
        panic!("the model reads what came of its call: {:?}", asked[1]);
    };
    assert_eq!(text, r#"{"tool":"root","status":"ok","result":"3.0"}"#);
}

/// D16: bounds, and the sentences of what no schema says, reach the model.
#[tokio::test]
async fn d16_the_model_is_told_of_its_replies_and_of_every_condition() {
    let model = Scripted::new().text(ANSWER);
    let agent = ContractAgent::builder(inner(&model).system("Be brief.")).build();
    agent.run("go").await;
    let asked = model.requests();
    let [Message::System { text, .. }, Message::User { .. }] = asked[0].as_slice() else {
        panic!("{:?}", asked[0]);
    };
    for told in [
        "Be brief.",
        "Tool `root`: Take a square root.",
        "Ensures:",
        r#""minimum":0"#,
        r#"{"reasoning":"..","type":"answer","content":".."}"#,
    ] {
        assert!(text.contains(told), "{told}\n{text}");
    }
}

/// D15: no reply says what it thinks, and the invariants are judged all the same.
#[tokio::test]
async fn d15_invariants_are_judged_at_each_step_without_reasoning() {
    let mut model = Scripted::new();
    for of in 0..9 {
        model = model.text(call("root", &format!(r#"{{"of":{of}}}"#)));
    }
    let agent = inner(&model).without_reasoning();
    let agent = ContractAgent::builder(agent)
        .invariant("two steps", |state| state.iterations <= 2)
        .build();
    let result = agent.run("go").await;
    assert!(matches!(result.error, Some(RunError::Contract { .. })));
    let words = words(&result.steps);
    assert_eq!(
        words
            .iter()
            .filter(|word| *word == "check agent.invariant.two steps")
            .count(),
        3
    );
    assert_eq!(
        words.iter().filter(|word| *word == "action root").count(),
        2
    );
    assert_eq!(model.requests().len(), 3);
}

/// D6: the postcondition is judged on the number, not on its text, with the parameters by name.
#[tokio::test]
async fn d6_a_postcondition_sees_the_raw_result() {
    let model = Scripted::new()
        .text(call("root", r#"{"of":40000}"#))
        .text(ANSWER);
    let agent = ContractAgent::builder(inner(&model)).build();
    let result = agent.run("go").await;
    let words = words(&result.steps);
    assert_eq!(
        words[words.len() - 3..],
        ["check root.post[1]", "violation root.post[1]", "error"]
    );
    let model = Scripted::new()
        .text(call("root", r#"{"of":81}"#))
        .text(ANSWER);
    let agent = ContractAgent::builder(inner(&model)).build();
    assert!(agent.run("go").await.success);
}

/// Take a part of a number, and promise something about both.
#[tool]
#[post(|part| *part <= number, "a part is no more than the whole")]
#[post(|part| old(number.abs()) >= part.abs())]
fn part(number: i64, of: i64) -> i64 {
    number / of.clamp(-9, -1)
}

/// D6: a postcondition that reads an argument reads the one that was sent, whatever the body made of it.
#[tokio::test]
async fn d6_a_postcondition_reads_the_arguments() {
    let registry = Registry::builder()
        .tool(part)
        .build()
        .expect("the tool is sound");
    for (arguments, ends) in [
        (r#"{"number":8,"of":-2}"#, "answer done"),
        (r#"{"number":-8,"of":-2}"#, "error"),
    ] {
        let native = Scripted::new()
            .calls("", [("part", arguments)])
            .text("done");
        let text = Scripted::new()
            .text(format!("Action: part\nAction Input: {arguments}"))
            .text("Answer: done");
        let object = Scripted::new().text(call("part", arguments)).text(ANSWER);
        let agents: [Box<dyn InnerAgent>; 3] = [
            Box::new(ToolCallingAgent::new(native, registry.clone())),
            Box::new(ReActAgent::new(text, registry.clone())),
            Box::new(ConstrainedAgent::new(object, registry.clone())),
        ];
        for agent in agents {
            let result = ContractAgent::builder(agent).build().run("go").await;
            let words = words(&result.steps);
            assert_eq!(words.last().map(String::as_str), Some(ends), "{words:?}");
            let broken = words.contains(&"violation part.post[0]".to_owned());
            assert_eq!(broken, ends == "error", "{words:?}");
        }
    }
}

/// D11: the tool hides its broken assertion, and the run ends.
#[tokio::test]
async fn d11_an_assertion_that_a_tool_hides_ends_the_run() {
    let model = Scripted::new()
        .text(call("hide", r#"{"what":"assert"}"#))
        .text(ANSWER);
    let agent = ContractAgent::builder(inner(&model)).build();
    let result = agent.run("go").await;
    assert!(matches!(result.error, Some(RunError::Contract { .. })));
    assert_eq!(model.requests().len(), 1);
}

/// D17: the arguments of a call are part of the grammar.
#[tokio::test]
async fn d17_arguments_that_break_a_bound_reach_no_tool() {
    let model = Scripted::new()
        .text(call("root", r#"{"of":-4}"#))
        .text(ANSWER);
    let agent = ContractAgent::builder(inner(&model))
        .recovery(Recovery::retry(1))
        .build();
    let result = agent.run("go").await;
    assert_eq!(result.answer.as_deref(), Some("done"));
    let words = words(&result.steps);
    assert_eq!(
        words,
        [
            "thought",
            "check root.pre[0]",
            "violation root.pre[0]",
            "retry 1",
            "action root",
            "observation violation",
            "answer done"
        ]
    );
}

#[tokio::test]
async fn text_around_the_object_is_refused_and_the_model_is_asked_again() {
    let model = Scripted::new()
        .text(format!("Sure! {ANSWER}"))
        .text(format!("```json\n{ANSWER}\n```"))
        .text(format!("  {ANSWER}\n"));
    let agent = ContractAgent::builder(inner(&model)).build();
    let result = agent.run("go").await;
    assert_eq!(words(&result.steps), ["retry 1", "retry 2", "answer done"]);
    assert_eq!(result.statistics.retries, 2);
    assert_eq!(result.iterations, 1);
}

#[tokio::test]
async fn asking_again_is_bounded() {
    let mut model = Scripted::new();
    for _ in 0..9 {
        model = model.text("I would rather talk.");
    }
    let agent = inner(&model).attempts(2);
    let agent = ContractAgent::builder(agent).build();
    let result = agent.run("go").await;
    assert_eq!(words(&result.steps), ["retry 1", "retry 2", "error"]);
    assert_eq!(model.requests().len(), 3);
    let error = result.error.expect("there is no answer").to_string();
    assert!(
        error.contains("its reply is not a JSON object of the requested form"),
        "{error}"
    );
}

#[tokio::test]
async fn an_engine_that_promised_and_did_not_keep_it_ends_the_run() {
    let model = Scripted::new().text("I would rather talk.").text(ANSWER);
    let agent = inner(&model).attempts(0);
    let result = ContractAgent::builder(agent).build().run("go").await;
    assert_eq!(words(&result.steps), ["error"]);
    assert_eq!(model.requests().len(), 1);
}

#[tokio::test]
async fn replies_that_are_json_and_no_reply_are_refused() {
    for reply in [
        "[]",
        "{}",
        r#"{"type":"answer"}"#,
        r#"{"type":"answer","content":3}"#,
        r#"{"type":"answer","content":"a","tool":"root"}"#,
        r#"{"type":"tool_call","tool":"root"}"#,
        r#"{"type":"thought","content":"a"}"#,
        r#"{"type":"answer","content":"a","content":"b"}"#,
        r#"{"type":"answer","content":"a","more":1}"#,
        r#"{"type":"answer","content":"a"#,
        "",
    ] {
        let model = Scripted::new().text(reply).text(ANSWER);
        let agent = ContractAgent::builder(inner(&model)).build();
        let result = agent.run("go").await;
        assert_eq!(words(&result.steps), ["retry 1", "answer done"], "{reply}");
    }
}

#[tokio::test]
async fn a_native_call_is_no_reply() {
    let model = Scripted::new()
        .calls("", [("root", r#"{"of":4}"#)])
        .text(ANSWER);
    let agent = ContractAgent::builder(inner(&model)).build();
    let result = agent.run("go").await;
    assert_eq!(words(&result.steps), ["retry 1", "answer done"]);
}

#[tokio::test]
async fn a_rejected_answer_and_a_second_task_go_on_in_the_same_conversation() {
    let model = Scripted::new()
        .text(r#"{"type":"answer","content":"perhaps"}"#)
        .text(ANSWER)
        .text(ANSWER);
    let agent = ContractAgent::builder(inner(&model))
        .recovery(Recovery::retry(1))
        .answer_post("certain", |answer| answer != "perhaps")
        .build();
    let first = agent.run("go").await;
    assert_eq!(first.answer.as_deref(), Some("done"));
    let second = agent.run_after(first.messages, "again").await;
    assert_eq!(second.answer.as_deref(), Some("done"));
    let systems = second
        .messages
        .iter()
        .filter(|message| matches!(message, Message::System { .. }));
    assert_eq!(systems.count(), 1);
}

/// A tree of numbers.
#[derive(serde::Deserialize, schemars::JsonSchema)]
struct Tree {
    leaf: i64,
    below: Vec<Tree>,
}

/// Add up a tree.
#[tool]
#[pre((1..=9).contains(&most))]
fn add_up(tree: Tree, most: u8) -> i64 {
    let below = tree.below.into_iter().map(|tree| add_up(tree, most));
    tree.leaf + below.sum::<i64>()
}

/// An independent implementation of JSON Schema reads it, with the references of a recursive type.
#[test]
fn the_schema_of_replies_admits_the_replies_that_are_read() {
    let registry = Registry::builder()
        .tool(add_up)
        .build()
        .expect("the tool is sound");
    let schemas = [true, false].map(|reasoning| {
        let schema = reply_schema(&registry, reasoning);
        jsonschema::validator_for(&schema).expect("it is a schema")
    });
    for (reply, with_reasoning, without) in [
        (ANSWER.to_owned(), true, true),
        (
            r#"{"reasoning":"a","type":"answer","content":"b"}"#.to_owned(),
            true,
            false,
        ),
        (r#"{"type":"answer"}"#.to_owned(), false, false),
        (
            call(
                "add_up",
                r#"{"tree":{"leaf":1,"below":[{"leaf":2,"below":[]}]},"most":3}"#,
            ),
            true,
            true,
        ),
        (
            call(
                "add_up",
                r#"{"tree":{"leaf":1,"below":[{"leaf":"2","below":[]}]},"most":3}"#,
            ),
            false,
            false,
        ),
        (
            call("add_up", r#"{"tree":{"leaf":1,"below":[]},"most":10}"#),
            false,
            false,
        ),
        (call("subtract", "{}"), false, false),
    ] {
        let value: Value = serde_json::from_str(&reply).expect("it is JSON");
        let admitted = schemas.each_ref().map(|schema| schema.is_valid(&value));
        assert_eq!(admitted, [with_reasoning, without], "{reply}");
    }
}
