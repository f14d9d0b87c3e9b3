//! What kind of fault ended a run, as data.

use std::time::Duration;

use contract_agent::{ModelError, Provider, RunError};

use crate::server::{Answer, Piece, Server, says, status};
use crate::tools::{built, model};
use crate::wire;

/// The fault of a run over one answer, which is the same when it is written and read again.
async fn fault(answer: Answer, streams: bool) -> ModelError {
    let server = Server::with([answer]).await;
    let model = model(&server, Provider::OpenAi)
        .streaming(streams)
        .retries(0)
        .timeout(Duration::from_secs(5));
    let result = built(model).build().run("go").await;
    let error = result.error.expect("an error");
    let written = serde_json::to_string(&error).expect("errors serialise");
    let read: RunError = serde_json::from_str(&written).expect("and are read back");
    assert_eq!(read, error);
    match error {
        RunError::Model { error } => error,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_status_is_kept_with_the_wait_and_what_was_said() {
    for streams in [true, false] {
        let body = r#"{"error": {"message": "slow down"}}"#;
        let busy = status(429, &[("retry-after", "7")], body);
        let expected = ModelError::Status {
            status: 429,
            retry_after: Some(Duration::from_secs(7)),
            tries: 1,
            message: "slow down".to_owned(),
        };
        assert_eq!(fault(busy, streams).await, expected);
        let expected = ModelError::Status {
            status: 500,
            retry_after: None,
            tries: 1,
            message: "no sentence at all".to_owned(),
        };
        let failed = status(500, &[], "no sentence at all");
        assert_eq!(fault(failed, streams).await, expected);
    }
}

#[tokio::test]
async fn every_other_kind_is_told_from_the_rest() {
    let page = status(200, &[("content-type", "text/html")], "<html>");
    assert!(matches!(
        fault(page, false).await,
        ModelError::Unreadable { .. }
    ));
    let mut events = wire::events(Provider::OpenAi, &says("cut off"));
    events.truncate(1);
    let cut = events.into_iter().map(Piece::Send).collect();
    assert_eq!(fault(Answer::Events(cut), true).await, ModelError::Cut);
    let said = wire::data(&serde_json::json!({"error": {"message": "out of memory"}}));
    let expected = ModelError::Provider {
        message: "out of memory".to_owned(),
    };
    let told = Answer::Events(vec![Piece::Send(said)]);
    assert_eq!(fault(told, true).await, expected);
}
