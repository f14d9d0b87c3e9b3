//! D8: the model is told what it broke, where the agent says so.

use contract_agent::{
    ConstrainedAgent, ContractAgent, InnerAgent, Message, ReActAgent, Recovery, RunError, Scripted,
    ToolCallingAgent,
};
use contract_runtime::prelude::*;
use contract_runtime::{Effect, Status};

use crate::tools::{inner, over_all, registry, words};

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
async fn every_model_is_told_the_message_and_the_values() {
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
        for part in ["no root of a negative number", "of = -4"] {
            assert!(read(1).contains(part), "{part}: {}", read(1));
        }
        assert!(read(3).contains("this answer was rejected"), "{}", read(3));
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
    assert!(text.contains("this answer was rejected"), "{text}");
}

#[tokio::test]
async fn a_finished_run_seeds_the_next() {
    let model = Scripted::new().text("2").text("3");
    let agent = ContractAgent::builder(inner(&model)).build();
    let first = agent.run("one").await;
    let second = agent.run_after(first.messages, "two").await;
    assert_eq!(second.answer.as_deref(), Some("3"));
    assert_eq!(second.messages.len(), 4);
    assert_eq!(model.requests()[1].len(), 3);
}

/// Every inner agent that is told to be brief, over a model that answers twice; with that model.
fn brief(registry: &Registry) -> [(Scripted, Box<dyn InnerAgent>); 3] {
    let answers = |answer: &str| Scripted::new().text(answer).text(answer);
    let (native, text) = (answers("done"), answers("Answer: done"));
    let object = answers(r#"{"type":"answer","content":"done"}"#);
    let constrained = ConstrainedAgent::new(object.clone(), registry.clone());
    [
        (
            native.clone(),
            Box::new(ToolCallingAgent::new(native, registry.clone()).system("Be brief.")),
        ),
        (
            text.clone(),
            Box::new(ReActAgent::new(text, registry.clone()).system("Be brief.")),
        ),
        (object, Box::new(constrained.system("Be brief."))),
    ]
}

fn systems(messages: &[Message]) -> Vec<&str> {
    let texts = messages.iter().map_while(|message| match message {
        Message::System { text, .. } => Some(text.as_str()),
        _ => None,
    });
    texts.collect()
}

/// A past without instructions, or with those of somebody else, does not take the place of them.
#[tokio::test]
async fn every_run_begins_with_the_instructions_of_its_agent() {
    let said = |text: &str| Message::User {
        text: text.to_owned(),
    };
    let other = Message::System {
        text: "Be polite.".to_owned(),
        by_agent: false,
    };
    for past in [vec![said("hello")], vec![other, said("hello")]] {
        for (way, (model, inner)) in brief(&registry()).into_iter().enumerate() {
            let agent = ContractAgent::builder(inner).build();
            let first = agent.run_after(past.clone(), "go").await;
            let second = agent.run_after(first.messages.clone(), "on").await;
            assert!(second.success, "{:?}", second.error);
            let asked = model.requests();
            for messages in [&asked[0], &asked[1], &second.messages] {
                let systems = systems(messages);
                assert_eq!(systems.len(), past.len(), "said once: {messages:?}");
                let own = systems[past.len() - 1];
                assert!(own.contains("Be brief."), "{own}");
                // The tools of the first are told beside the messages.
                assert!(way == 0 || own.contains("root"), "{own}");
            }
            let (before, after) = (asked[0].last(), asked[1].last());
            assert_eq!((before, after), (Some(&said("go")), Some(&said("on"))));
        }
    }
}

#[tokio::test]
async fn the_instructions_of_an_agent_replace_those_of_the_agent_before_it() {
    let mut past = vec![Message::System {
        text: "Be polite.".to_owned(),
        by_agent: false,
    }];
    for (way, (model, inner)) in brief(&registry()).into_iter().enumerate() {
        let agent = ContractAgent::builder(inner).build();
        past = agent.run_after(past, "go").await.messages;
        let asked = model.requests();
        let systems = systems(&asked[0]);
        assert_eq!(systems.len(), 2, "agent {way}: {systems:?}");
        assert_eq!(systems[0], "Be polite.");
        assert!(systems[1].contains("Be brief."), "{systems:?}");
    }
}

#[tokio::test]
async fn a_model_without_tools_is_not_told_how_to_use_one() {
    let none = Registry::builder().build().expect("no tool is wrong");
    for (model, inner) in brief(&none).into_iter().skip(1) {
        let agent = ContractAgent::builder(inner).build();
        assert!(agent.run("go").await.success);
        let asked = model.requests();
        let own = systems(&asked[0]).concat().to_lowercase();
        assert!(own.contains("answer"), "{own}");
        for word in [
            "these tools",
            "to use",
            "action",
            "tool_call",
            "observation",
        ] {
            assert!(!own.contains(word), "{word}: {own}");
        }
    }
    let model = Scripted::new().text("Let me see.").text("Answer: 3");
    let agent = ContractAgent::builder(ReActAgent::new(model.clone(), none)).build();
    assert!(agent.run("go").await.success);
    let told = format!("{:?}", model.requests()[1].last());
    assert!(
        !told.contains("Action") && told.contains("`Answer:`"),
        "{told}"
    );
}

/// The end of a conversation whose program stopped before it had all results.
fn open_past() -> Vec<Message> {
    let call = |id: &str| ToolCall::new(id, "root", r#"{"of":4}"#);
    let assistant = |ids: &[&str]| Message::Assistant {
        text: String::new(),
        calls: ids.iter().map(|id| call(id)).collect(),
        reasoning: None,
    };
    vec![
        Message::User {
            text: "roots".to_owned(),
        },
        assistant(&["a"]),
        Message::User {
            text: "go on".to_owned(),
        },
        assistant(&["b", "c", "d"]),
        Message::Tool {
            call_id: "c".to_owned(),
            tool: "root".to_owned(),
            status: Status::Ok,
            effect: Effect::Complete,
            text: "2".to_owned(),
        },
    ]
}

/// Every call with the text of the result that follows it.
fn results(messages: &[Message]) -> Vec<(String, String)> {
    let mut results = Vec::new();
    let mut messages = messages.iter().peekable();
    while let Some(message) = messages.next() {
        let Message::Assistant { calls, .. } = message else {
            continue;
        };
        let mut open: Vec<&str> = calls.iter().map(|call| call.id.as_str()).collect();
        while let Some(Message::Tool { call_id, text, .. }) =
            messages.next_if(|message| matches!(message, Message::Tool { .. }))
        {
            let place = open.iter().position(|id| id == call_id);
            open.remove(place.expect("a result has its call"));
            results.push((call_id.clone(), text.clone()));
        }
        assert!(open.is_empty(), "{open:?} have no result");
    }
    results
}

#[tokio::test]
async fn a_call_of_the_past_without_an_outcome_is_answered_before_the_model_is_asked() {
    const NOT_KNOWN: &str =
        "this call was not answered; it may have taken effect, so check before you repeat it";
    let calls = [("root", r#"{"of":9}"#)];
    for calls in [&calls[..], &[]] {
        for (model, inner) in over_all(calls, &["done"]) {
            let agent = ContractAgent::builder(inner).build();
            let result = agent.run_after(open_past(), "go").await;
            assert!(result.success, "{:?}", result.error);
            let requests = model.requests();
            for messages in requests.iter().chain([&result.messages]) {
                let [a, c, b, d, ..] = &results(messages)[..] else {
                    panic!("{messages:?}");
                };
                assert_eq!((a.0.as_str(), a.1.as_str()), ("a", NOT_KNOWN));
                assert_eq!((c.0.as_str(), c.1.as_str()), ("c", "2"));
                assert_eq!((b.0.as_str(), b.1.as_str()), ("b", NOT_KNOWN));
                assert_eq!((d.0.as_str(), d.1.as_str()), ("d", NOT_KNOWN));
            }
        }
    }
}
