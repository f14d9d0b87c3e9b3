//! Servers that are busy.

use std::time::{Duration, Instant};

use contract_runtime::agent::Provider;

use crate::server::{Server, says, status};
use crate::tools::{built, ended, model};

#[tokio::test]
async fn a_busy_server_is_asked_again_after_the_wait_that_it_asks_for() {
    for (code, provider, streams) in [
        (429, Provider::OpenAi, true),
        (503, Provider::OpenAi, false),
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
