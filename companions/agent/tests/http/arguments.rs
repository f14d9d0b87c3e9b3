//! Calls as models make them: broken, unknown, and many at once.

use contract_agent::Provider;
use contract_runtime::Status;
use serde_json::json;

use crate::server::{Answer, Piece, Server, calls, says};
use crate::tools::{agent, built, ended, model, observed};
use crate::wire::{DONE, chunk};

/// The providers that stream arguments as text.
const AS_TEXT: [Provider; 2] = [Provider::OpenAi, Provider::Anthropic];

#[tokio::test]
async fn a_call_with_broken_json_is_refused_and_the_model_tries_again() {
    for provider in AS_TEXT {
        let server = Server::with([
            calls("root", r#"{"of": 9, "#),
            calls("root", r#"{"of": 9}"#),
            says("3"),
        ])
        .await;
        let agent = built(model(&server, provider)).build();
        let result = agent.run("go").await;
        assert_eq!(
            result.answer.as_deref(),
            Some("3"),
            "{provider}: {:?}",
            result.error
        );
        let observed = observed(&result);
        assert_eq!(observed[0].0, Status::InvalidArguments);
        assert_eq!(observed[1], (Status::Ok, "3.00".to_owned()));
        // What it wrote goes back to it inside of an object, which every provider accepts, with what is wrong.
        let body = server.asked()[1].body["messages"].to_string();
        assert!(body.contains("invalid_json"), "{body}");
        assert!(body.contains("text that ends too early"), "{body}");
    }
}

#[tokio::test]
async fn equal_keys_are_refused_where_arguments_come_as_text() {
    for provider in AS_TEXT {
        let server = Server::with([calls("root", r#"{"of": 9, "of": 4}"#), says("done")]).await;
        let agent = built(model(&server, provider)).build();
        let observed = observed(&agent.run("go").await);
        assert_eq!(observed[0].0, Status::InvalidArguments, "{provider}");
        assert!(observed[0].1.contains("more than once"), "{observed:?}");
    }
}

#[tokio::test]
async fn an_unknown_tool_is_an_outcome_that_the_model_reads() {
    for provider in Provider::ALL {
        let server = Server::with([calls("rood", "{}"), says("sorry")]).await;
        let result = built(model(&server, provider)).build().run("go").await;
        assert_eq!(result.answer.as_deref(), Some("sorry"), "{provider}");
        let observed = observed(&result);
        assert_eq!(observed[0].0, Status::UnknownTool);
        assert!(observed[0].1.contains("root"), "{observed:?}");
    }
}

#[tokio::test]
async fn ten_calls_of_one_reply_all_run_and_their_results_go_back_in_order() {
    for provider in Provider::ALL {
        let ten = (0..10).map(|number| {
            let arguments = format!(r#"{{"of":{},"digits":0}}"#, number * number);
            (format!("id_{number}"), "root".to_owned(), arguments)
        });
        let server = Server::with([Answer::Calls(ten.collect()), says("done")]).await;
        let result = built(model(&server, provider)).build().run("go").await;
        assert!(result.success, "{provider}: {:?}", result.error);
        let texts: Vec<String> = observed(&result)
            .into_iter()
            .map(|(_, text)| text)
            .collect();
        let expected: Vec<String> = (0..10).map(|number| number.to_string()).collect();
        assert_eq!(texts, expected, "{provider}");
        let sent = server.asked()[1].body.to_string();
        let places: Vec<usize> = (0..10)
            .map(|number| sent.rfind(&format!("\"id_{number}\"")).expect("an id"))
            .collect();
        assert!(places.is_sorted(), "{provider}: {places:?}");
    }
}

/// genai drops a piece of a call that has no index.
#[tokio::test]
async fn a_call_without_an_index_is_no_answer() {
    let call = json!({"id": "a", "function": {"name": "note", "arguments": "{}"}});
    let piece = chunk(&json!({"tool_calls": [call]}), None);
    let last = chunk(&json!({}), Some("tool_calls"));
    let events = [piece, last, DONE.to_owned()].map(Piece::Send);
    let server = Server::with([Answer::Events(events.to_vec())]).await;
    let error = ended(&agent(&server).run("go").await);
    assert!(error.contains("has none with an index"), "{error}");
}

/// genai makes one call of all that have one index, and the first may be lost.
#[tokio::test]
async fn calls_that_share_an_index_are_no_answer() {
    let call = |id| {
        let call = json!({"index": 0, "id": id, "function": {"name": "note", "arguments": ""}});
        chunk(&json!({"tool_calls": [call]}), None)
    };
    let last = chunk(&json!({}), Some("tool_calls"));
    let events = [call("a"), call("a"), call("b"), last, DONE.to_owned()].map(Piece::Send);
    let server = Server::with([Answer::Events(events.to_vec())]).await;
    let error = ended(&agent(&server).run("go").await);
    assert!(
        error.contains("several of its calls have one index"),
        "{error}"
    );
}

#[tokio::test]
async fn a_call_without_arguments_has_none() {
    let server = Server::with([calls("root", ""), says("done")]).await;
    let observed = observed(&agent(&server).run("go").await);
    assert_eq!(observed[0].0, Status::InvalidArguments);
    assert!(observed[0].1.contains("/of"), "{observed:?}");
    let body = &server.asked()[1].body;
    assert_eq!(
        body["messages"][2]["tool_calls"][0]["function"]["arguments"],
        "{}"
    );
}
