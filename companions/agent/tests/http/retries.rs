//! Servers that are busy, fail, or go away.

use std::time::{Duration, Instant};

use contract_agent::Provider;

use crate::server::{Answer, Piece, Server, says, status};
use crate::tools::{built, ended, model};
use crate::wire;

#[tokio::test]
async fn a_busy_server_is_asked_again_after_the_wait_that_it_asks_for() {
    for (code, provider, streams) in [
        (408, Provider::OpenAi, false),
        (429, Provider::OpenAi, true),
        (500, Provider::Gemini, true),
        (502, Provider::Anthropic, false),
        (503, Provider::OpenAi, false),
        (504, Provider::OpenAi, true),
        (529, Provider::Anthropic, true),
    ] {
        let busy = status(code, &[("retry-after-ms", "120")], "busy");
        let server = Server::with([busy.clone(), busy, says("done")]).await;
        let began = Instant::now();
        let agent = built(model(&server, provider).streaming(streams)).build();
        let result = agent.run("go").await;
        assert_eq!(result.answer.as_deref(), Some("done"), "{:?}", result.error);
        assert_eq!(server.asked().len(), 3);
        assert!(began.elapsed() >= Duration::from_millis(240));
    }
}

#[tokio::test]
async fn the_wait_is_in_seconds() {
    let busy = status(429, &[("retry-after", "1")], "busy");
    let server = Server::with([busy, says("done")]).await;
    let began = Instant::now();
    let result = built(model(&server, Provider::OpenAi))
        .build()
        .run("go")
        .await;
    assert!(result.success, "{:?}", result.error);
    assert!(began.elapsed() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_server_that_stays_busy_ends_the_run() {
    let body = r#"{"error": {"message": "slow down"}}"#;
    for (retries, asked, said) in [(2, 3, "429, 3 times, and asks"), (0, 1, "429 and asks")] {
        let server = Server::with([status(429, &[("retry-after", "0")], body)]).await;
        let agent = built(model(&server, Provider::OpenAi).retries(retries)).build();
        let error = ended(&agent.run("go").await);
        let said = format!(
            "the model failed: the provider answered with status {said} to wait 0ns: slow down"
        );
        assert_eq!(error, said);
        assert_eq!(server.asked().len(), asked);
    }
}

#[tokio::test]
async fn a_wait_that_is_too_long_is_not_waited_for() {
    let server = Server::with([status(429, &[("retry-after", "3600")], "tomorrow")]).await;
    let began = Instant::now();
    let error = ended(
        &built(model(&server, Provider::OpenAi))
            .build()
            .run("go")
            .await,
    );
    assert!(error.contains("asks to wait 3600s: tomorrow"), "{error}");
    assert_eq!(server.asked().len(), 1);
    assert!(began.elapsed() < Duration::from_secs(30));
}

#[tokio::test]
async fn a_connection_that_is_lost_before_the_first_piece_is_made_again() {
    for provider in Provider::ALL {
        for streams in [true, false] {
            let lost = Answer::Events(vec![Piece::Break]);
            let server = Server::with([lost, says("done")]).await;
            let agent = built(model(&server, provider).streaming(streams)).build();
            let result = agent.run("go").await;
            assert_eq!(result.answer.as_deref(), Some("done"), "{:?}", result.error);
            assert_eq!(server.asked().len(), 2, "{provider} {streams}");
        }
    }
}

/// What was begun without a piece that was given out, such as a call, is no reply yet.
#[tokio::test]
async fn a_call_of_which_the_rest_is_lost_is_asked_for_again_and_made_once() {
    let call = wire::events(
        Provider::OpenAi,
        &crate::server::calls("note", r#"{"text":"x"}"#),
    );
    let mut pieces: Vec<_> = call.into_iter().take(3).map(Piece::Send).collect();
    pieces.push(Piece::Break);
    let whole = crate::server::calls("note", r#"{"text":"x"}"#);
    let server = Server::with([Answer::Events(pieces), whole, says("done")]).await;
    let result = built(model(&server, Provider::OpenAi))
        .build()
        .run("go")
        .await;
    assert_eq!(result.answer.as_deref(), Some("done"), "{:?}", result.error);
    assert_eq!(crate::tools::observed(&result).len(), 1);
    assert_eq!(server.asked().len(), 3);
}

#[tokio::test]
async fn a_request_that_is_at_fault_is_not_made_again() {
    for code in [400, 401, 404, 422] {
        let server = Server::with([status(code, &[], "no"), says("done")]).await;
        let result = built(model(&server, Provider::OpenAi))
            .build()
            .run("go")
            .await;
        assert!(!result.success, "{code}");
        assert_eq!(server.asked().len(), 1, "{code}");
    }
}
