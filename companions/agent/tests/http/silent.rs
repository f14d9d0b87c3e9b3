//! Servers that say nothing.

use std::time::{Duration, Instant};

use contract_agent::Provider;
use serde_json::json;

use crate::server::{Answer, Piece, Server};
use crate::tools::{built, ended, model};
use crate::wire::chunk;

#[tokio::test]
async fn a_server_that_never_answers_is_not_waited_for() {
    for provider in Provider::ALL {
        for streams in [true, false] {
            let server = Server::with([Answer::Silence]).await;
            let model = model(&server, provider)
                .streaming(streams)
                .timeout(Duration::from_millis(400));
            let began = Instant::now();
            let error = ended(&built(model).build().run("go").await);
            assert_eq!(
                error,
                "the model failed: the provider sent nothing for 400ms; allow more time, or ask for less"
            );
            assert!(began.elapsed() >= Duration::from_millis(400));
            server.is_left().await;
        }
    }
}

#[tokio::test]
async fn a_server_that_falls_silent_in_the_middle_is_not_waited_for() {
    let piece = chunk(&json!({"content": "It is"}), None);
    let server = Server::with([Answer::Events(vec![Piece::Send(piece), Piece::Hang])]).await;
    let model = model(&server, Provider::OpenAi).timeout(Duration::from_millis(400));
    let error = ended(&built(model).build().run("go").await);
    assert!(error.contains("sent nothing for 400ms"), "{error}");
    assert_eq!(server.asked().len(), 1);
}
