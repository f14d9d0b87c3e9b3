//! An agent of rig, with a scripted model.

use std::future::ready;
use std::sync::Arc;

use adapter_rig::{Approvals, tools};
use contract_runtime::approval::{Approval, Decision};
use contract_runtime::prelude::*;
use rig::agent::AgentBuilder;
use rig::message::{Message, ToolResult, UserContent};
use rig::test_utils::{MockCompletionModel, MockTurn};
use scripted::{Heard, Reply, Scene};
use serde_json::json;

fn turn(reply: Reply) -> MockTurn {
    match reply {
        Reply::Text(text) => MockTurn::text(text),
        Reply::Call(name, arguments) => MockTurn::tool_call("", name, arguments.into()),
    }
}

/// What the model read of its calls, in its last request.
fn results(model: &MockCompletionModel) -> Vec<ToolResult> {
    let requests = model.requests();
    let messages = requests.iter().next_back().map(|last| &last.chat_history);
    let results = messages.into_iter().flatten().filter_map(|message| {
        let Message::User { content } = &**message else {
            return None;
        };
        match &content[0] {
            UserContent::ToolResult(result) => Some(result.clone()),
            _ => None,
        }
    });
    results.collect()
}

fn text(result: &ToolResult) -> String {
    result.content[0].as_text().unwrap().to_owned()
}

async fn talk(scene: Scene) -> Heard {
    let model = MockCompletionModel::from_turns(scene.replies.into_iter().map(turn));
    let agent = AgentBuilder::new(model.clone())
        .dynamic_tools(tools(&scene.registry).unwrap())
        .add_hook(Approvals {
            registry: scene.registry,
            decide: move |request| ready(scene.person.approve(&request)),
        })
        .build();
    let answer = agent.prompt("Go.").max_turns(9).await.unwrap();
    Heard {
        results: results(&model).iter().map(text).collect(),
        answer: answer.output(),
    }
}

scripted::promises!(talk);

/// The result that the model reads of one call, by an agent without the hook.
async fn result(name: &str, arguments: serde_json::Value) -> (String, bool) {
    let model = MockCompletionModel::from_turns([
        MockTurn::tool_call("", name, arguments),
        MockTurn::text("Done."),
    ]);
    let registry = adapter_tools::desk(&Arc::default()).unwrap();
    let agent = AgentBuilder::new(model.clone())
        .dynamic_tools(tools(&registry).unwrap())
        .build();
    agent.prompt("Go.").max_turns(9).await.unwrap();
    let results = results(&model);
    let [result] = results.as_slice() else {
        panic!("{results:?}")
    };
    (text(result), result.is_error)
}

#[tokio::test]
async fn a_refused_call_is_a_failed_result() {
    let (text, is_error) = result("book_room", json!({"start": 2, "end": 1})).await;
    let wrong = "the end (1) must come after the start (2)";
    assert_eq!((text.as_str(), is_error), (wrong, true));
    let (text, is_error) = result("book_room", json!({"start": 1, "end": 2})).await;
    assert_eq!((text.as_str(), is_error), ("1", false));
}

#[tokio::test]
async fn without_the_hook_a_call_that_asks_is_not_made() {
    let (text, is_error) = result("refund", json!({"guest": "ada", "cents": 25_000})).await;
    let why = "not started, because a person must be asked first: Refund 25000 cents to \"ada\"?";
    assert_eq!((text.as_str(), is_error), (why, true));
}

#[test]
fn rig_knows_which_tools_change_nothing() {
    let registry = adapter_tools::desk(&Arc::default()).unwrap();
    let tools = tools(&registry).unwrap();
    let read_only = tools.iter().map(|tool| {
        let definition = tool.definition();
        (
            definition.name.to_string(),
            definition.annotations.read_only(),
        )
    });
    let expected = [
        ("book_room", false),
        ("price_breakfast", true),
        ("refund", false),
    ];
    assert!(read_only.eq(expected.map(|(name, hint)| (name.to_owned(), hint))));
}

/// List who is there.
#[tool(read_only)]
fn list_guests() -> &'static str {
    "ada"
}

/// What the model reads of one call, whose arguments are text, by an agent with the hook.
async fn read(name: &str, arguments: &str) -> Vec<String> {
    let model = MockCompletionModel::from_turns([
        MockTurn::tool_call("", name, arguments.into()),
        MockTurn::tool_call("", "list_guests", json!({})),
        MockTurn::text("Done."),
    ]);
    let registry = Registry::builder().tool(list_guests).build().unwrap();
    let agent = AgentBuilder::new(model.clone())
        .dynamic_tools(tools(&registry).unwrap())
        .add_hook(Approvals {
            registry,
            decide: |_| ready(Decision::Approved(Approval::Once)),
        })
        .build();
    let answer = agent.prompt("Go.").max_turns(9).await.unwrap();
    assert_eq!(answer.output(), "Done.");
    results(&model).iter().map(text).collect()
}

#[tokio::test]
async fn a_tool_that_does_not_exist_ends_no_agent() {
    let why = "there is no tool of that name; did you mean `list_guests`?";
    assert_eq!(read("list_guest", "{}").await, [why, "ada"]);
}

#[tokio::test]
async fn arguments_that_are_no_object_end_no_agent() {
    for arguments in ["", "null", "[]", "\"{}\"", "7"] {
        let read = read("list_guests", arguments).await;
        assert_eq!(
            read.last().map(String::as_str),
            Some("ada"),
            "{arguments}: {read:?}"
        );
    }
}
