//! Replies that end before their end.

use contract_agent::Provider;
use serde_json::json;

use crate::server::{Answer, Piece, Server};
use crate::tools::{built, ended, model};
use crate::wire::{chunk, data, named};

const CUT: &str = "the model failed: the reply was cut off before its end; ask again";

/// The first piece of a reply in each protocol.
fn begun(provider: Provider) -> Vec<Piece> {
    let events = match provider {
        Provider::OpenAi => vec![chunk(&json!({"content": "It is"}), None)],
        Provider::Anthropic => {
            let text = json!({"index": 0, "content_block": {"type": "text", "text": ""}});
            let delta = json!({"index": 0, "delta": {"type": "text_delta", "text": "It is"}});
            vec![
                named("message_start", json!({"message": {}})),
                named("content_block_start", text),
                named("content_block_delta", delta),
            ]
        }
        _ => {
            let parts = json!([{"text": "It is"}]);
            vec![data(
                &json!({"candidates": [{"content": {"parts": parts}}]}),
            )]
        }
    };
    events.into_iter().map(Piece::Send).collect()
}

#[tokio::test]
async fn a_connection_that_breaks_in_the_middle_of_a_reply_ends_the_run() {
    for provider in Provider::ALL {
        let mut pieces = begun(provider);
        pieces.push(Piece::Break);
        let server = Server::with([Answer::Events(pieces)]).await;
        let result = built(model(&server, provider)).build().run("go").await;
        assert_eq!(ended(&result), CUT, "{provider}");
        // A piece has been given out, so nobody asks again.
        assert_eq!(server.asked().len(), 1);
    }
}

/// The connection ends in good order, and the reply does not.
#[tokio::test]
async fn a_reply_that_stops_without_an_end_is_no_answer() {
    for provider in Provider::ALL {
        let server = Server::with([Answer::Events(begun(provider))]).await;
        let result = built(model(&server, provider)).build().run("go").await;
        assert_eq!(ended(&result), CUT, "{provider}");
    }
}

#[tokio::test]
async fn calls_of_a_reply_that_is_cut_are_not_made() {
    let function = json!({"name": "note", "arguments": r#"{"text":"x"}"#});
    let call = json!({"index": 0, "id": "a", "type": "function", "function": function});
    let piece = chunk(&json!({"tool_calls": [call]}), None);
    let server = Server::with([Answer::Events(vec![Piece::Send(piece), Piece::Break])]).await;
    let result = built(model(&server, Provider::OpenAi))
        .build()
        .run("go")
        .await;
    assert_eq!(ended(&result), CUT);
    assert_eq!(result.iterations, 0);
}

/// A reply of chat completions ends with `[DONE]`.
#[tokio::test]
async fn a_reply_without_its_last_mark_is_cut_off() {
    let events = [
        chunk(&json!({"content": "3"}), None),
        chunk(&json!({}), Some("stop")),
    ];
    let server = Server::with([Answer::Events(events.map(Piece::Send).to_vec())]).await;
    let agent = built(model(&server, Provider::OpenAi)).build();
    assert_eq!(ended(&agent.run("go").await), CUT);
}

#[tokio::test]
async fn a_whole_reply_that_is_cut_ends_the_run() {
    let server = Server::with([Answer::Events(vec![
        Piece::Send(r#"{"choices": [{"#.to_owned()),
        Piece::Break,
    ])])
    .await;
    let model = model(&server, Provider::OpenAi).streaming(false);
    assert_eq!(ended(&built(model).build().run("go").await), CUT);
}
