//! What stands in the messages of a run in which answers were rejected, and what is told of such answers.

use contract_agent::{
    ConstrainedAgent, ContractAgent, Delta, Event, Events, Hook, InnerAgent, Message, ReActAgent,
    Recovery, RunResult, Scripted, ToolCallingAgent, Turn, stream_with,
};
use contract_runtime::prelude::*;

use crate::tools::registry;

const REJECTED: &str = "(a rejected answer)";

/// One call, the answer "2", which is not what is wanted, and another one.
fn agents() -> [Box<dyn InnerAgent>; 3] {
    let native = Scripted::new()
        .calls("I take 2 roots", [("root", r#"{"of":4}"#)])
        .text("2")
        .text("two");
    let text = Scripted::new()
        .text("Thought: I take 2 roots\nAction: root\nAction Input: {\"of\":4}")
        .text("Answer: 2")
        .text("Answer: two");
    let object = Scripted::new()
        .text(r#"{"reasoning":"I take 2 roots","type":"tool_call","tool":"root","arguments":{"of":4}}"#)
        .text(r#"{"reasoning":"it is 2 then","type":"answer","content":"2"}"#)
        .text(r#"{"type":"answer","content":"two"}"#);
    [
        Box::new(ToolCallingAgent::new(native, registry())),
        Box::new(ReActAgent::new(text, registry())),
        Box::new(ConstrainedAgent::new(object, registry())),
    ]
}

async fn rejected<A: InnerAgent>(agent: A, past: Vec<Message>) -> RunResult {
    ContractAgent::builder(agent)
        .answer_post("in words", |answer| answer != "2")
        .recovery(Recovery::retry(1))
        .build()
        .run_after(past, "how many are 2?")
        .await
}

fn said(result: &RunResult) -> Vec<String> {
    result
        .messages
        .iter()
        .filter_map(|message| match message {
            Message::Assistant { text, .. } => Some(text.clone()),
            _ => None,
        })
        .collect()
}

#[tokio::test]
async fn the_message_of_a_rejected_answer_is_kept_back_and_no_other() {
    for agent in agents() {
        let past = vec![
            Message::User {
                text: "this answer was rejected: is that so?".to_owned(),
            },
            Message::Assistant {
                text: "2 and 2".to_owned(),
                calls: Vec::new(),
                reasoning: None,
            },
        ];
        let result = rejected(agent, past.clone()).await;
        assert_eq!(result.answer.as_deref(), Some("two"));
        let said = said(&result);
        assert_eq!(said.len(), 4, "{said:?}");
        assert!(said[1].contains("I take 2 roots"), "{said:?}");
        assert_eq!(said[2], REJECTED);
        assert!(said[3].contains("two"), "{said:?}");
        let kept = |message: &Message| result.messages.contains(message);
        assert!(past.iter().all(kept), "{:?}", result.messages);
        let quoted = result.messages.iter().any(
            |message| matches!(message, Message::User { text } if text.contains("answer = \"2\"")),
        );
        assert!(
            !quoted,
            "what the model is told quotes its answer: {:?}",
            result.messages
        );
    }
}

/// The thought beside a rejected answer gives it away.
#[tokio::test]
async fn d7_nothing_that_stands_beside_a_rejected_answer_is_told() {
    for agent in agents() {
        let result = rejected(agent, Vec::new()).await;
        let told: Vec<_> = result
            .steps
            .iter()
            .filter_map(|event| match event {
                Event::Thought { text } => Some(text.as_str()),
                _ => None,
            })
            .collect();
        assert_eq!(told, ["I take 2 roots"]);
    }
}

/// Says its answer without saying which message it is.
struct Plain;

impl InnerAgent for Plain {
    fn stream(&self, turn: Turn) -> Events<'_> {
        stream_with(move |emitter| async move {
            for text in ["it is 2", "2", "two"] {
                turn.conversation.push(Message::Assistant {
                    text: text.to_owned(),
                    calls: Vec::new(),
                    reasoning: None,
                });
                if text == "it is 2" {
                    continue;
                }
                let text = text.to_owned();
                emitter.emit(Event::Answer { text }).await;
                if let Some(text) = turn.feedback() {
                    turn.conversation.push(Message::User { text });
                }
            }
        })
    }
}

#[tokio::test]
async fn where_nobody_says_which_message_it_is_all_that_hold_the_answer_are_kept_back() {
    let past = vec![Message::Assistant {
        text: "2 of old".to_owned(),
        calls: Vec::new(),
        reasoning: None,
    }];
    let result = rejected(Plain, past).await;
    assert_eq!(said(&result), ["2 of old", REJECTED, REJECTED, "two"]);
    assert!(!format!("{:?}", result.messages).contains("answer = "));
}

/// Under policies that reject no answer there is nothing to keep back.
#[tokio::test]
async fn a_condition_that_rejects_no_answer_keeps_no_piece_of_it_back() {
    for (policy, kept) in [
        (Policy::Ignore, false),
        (Policy::Observe, false),
        (Policy::Enforce, true),
        (Policy::QuickEnforce, true),
    ] {
        let pieces = ["it ", "is ", "two"].map(|text| Delta::Text(text.to_owned()));
        let model = Scripted::new().reply(pieces);
        let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry()))
            .answer_post(Hook::new("in words").policy(policy), |answer| {
                answer.contains("two")
            })
            .build();
        let mut events = agent.run("how many?").stream();
        let mut told = Vec::new();
        while let Some(event) = events.next().await {
            match event {
                Event::TextDelta { text } | Event::Answer { text } => told.push(text),
                _ => {}
            }
        }
        let expected: &[&str] = if kept {
            &["it is two"]
        } else {
            &["it ", "is ", "two", "it is two"]
        };
        assert_eq!(told, expected, "{policy:?}");
    }
}
