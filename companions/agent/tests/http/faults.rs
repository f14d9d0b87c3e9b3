//! Servers that fail: the run ends, and says what happened.

use std::time::Duration;

use contract_agent::{Event, ModelError, Provider, RunError};
use serde_json::json;

use crate::server::{Answer, Piece, Server, says, status};
use crate::tools::{agent, built, ended, model};
use crate::wire::{self, DONE, chunk, data, named};

/// The sentence of a run over one answer, which is given once.
async fn after(answer: Answer, provider: Provider, streams: bool) -> String {
    let server = Server::with([answer]).await;
    let model = model(&server, provider).streaming(streams).retries(0);
    let error = ended(&built(model).build().run("go").await);
    assert_eq!(server.asked().len(), 1, "nobody asks again: {error}");
    error
}

#[tokio::test]
async fn a_slow_reply_is_a_reply() {
    let events = wire::events(Provider::OpenAi, &says("slow and steady"));
    let wait = Piece::Wait(Duration::from_millis(300));
    let pieces = events.into_iter().map(Piece::Send);
    let pieces = pieces.flat_map(|piece| [wait.clone(), piece]).collect();
    let server = Server::with([Answer::Events(pieces)]).await;
    // More in all than it may be silent, and less each time.
    let model = model(&server, Provider::OpenAi).timeout(Duration::from_millis(1_500));
    let result = built(model).build().run("go").await;
    assert_eq!(
        result.answer.as_deref(),
        Some("slow and steady"),
        "{:?}",
        result.error
    );
}

#[tokio::test]
async fn an_error_of_the_server_ends_the_run_with_what_it_said() {
    let body = r#"{"error": {"message": "the kitchen is on fire", "type": "server_error"}}"#;
    for provider in Provider::ALL {
        for streams in [true, false] {
            let error = after(status(500, &[], body), provider, streams).await;
            assert_eq!(
                error,
                "the model failed: the provider answered with status 500: the kitchen is on fire"
            );
        }
    }
    let error = after(status(404, &[], ""), Provider::OpenAi, true).await;
    let advice = "Not Found; check the endpoint and the name of the model";
    assert!(error.ends_with(advice), "{error}");
}

#[tokio::test]
async fn a_long_error_is_shortened() {
    let error = after(
        status(500, &[], &"é".repeat(100_000)),
        Provider::OpenAi,
        true,
    )
    .await;
    assert!(error.chars().count() < 1_200, "{}", error.len());
}

#[tokio::test]
async fn invalid_json_is_no_reply() {
    let broken = |kind: &str| status(200, &[("content-type", kind)], "data: {\"choices\": [\n\n");
    for provider in [Provider::OpenAi, Provider::Gemini] {
        let error = after(broken("text/event-stream"), provider, true).await;
        assert!(
            error.contains("cannot be read: it is not JSON"),
            "{provider}: {error}"
        );
    }
    for provider in Provider::ALL {
        let error = after(broken("application/json"), provider, false).await;
        assert!(
            error.contains("cannot be read: it is not JSON"),
            "{provider}: {error}"
        );
    }
    let event = "event: content_block_start\ndata: {\"index\"\n\n";
    let answer = status(200, &[("content-type", "text/event-stream")], event);
    let error = after(answer, Provider::Anthropic, true).await;
    assert!(error.contains("cannot be read: it is not JSON"), "{error}");
}

#[tokio::test]
async fn a_page_is_no_reply() {
    for (provider, streams) in [(Provider::OpenAi, true), (Provider::Anthropic, true)] {
        let page = status(
            200,
            &[("content-type", "text/html")],
            "<html>Welcome</html>",
        );
        let error = after(page, provider, streams).await;
        assert!(error.contains("it contains no event"), "{error}");
    }
    let page = status(
        200,
        &[("content-type", "text/html")],
        "<html>Welcome</html>",
    );
    let error = after(page, Provider::OpenAi, false).await;
    assert!(error.contains("it is `text/html`, not JSON"), "{error}");
    let json = status(
        200,
        &[("content-type", "application/json")],
        r#"{"ok": true}"#,
    );
    let error = after(json, Provider::OpenAi, false).await;
    assert!(error.contains("it does not say why it ended"), "{error}");
}

#[tokio::test]
async fn an_error_inside_of_a_reply_ends_the_run_with_what_it_said() {
    let openai = vec![
        Piece::Send(chunk(&json!({"content": "It"}), None)),
        Piece::Send(data(&json!({"error": {"message": "out of memory"}}))),
    ];
    let error = after(Answer::Events(openai), Provider::OpenAi, true).await;
    assert_eq!(error, "the model failed: out of memory");
    let anthropic = named("error", json!({"error": {"message": "Overloaded"}}));
    let answer = Answer::Events(vec![Piece::Send(anthropic)]);
    let error = after(answer, Provider::Anthropic, true).await;
    assert_eq!(error, "the model failed: Overloaded");
    let whole = r#"{"error": {"message": "no credit"}}"#;
    let whole = status(200, &[("content-type", "application/json")], whole);
    let error = after(whole, Provider::OpenAi, false).await;
    assert_eq!(error, "the model failed: no credit");
}

/// Gemini ends a call that it could not write with a reason and without a word.
#[tokio::test]
async fn a_reply_that_says_nothing_for_a_reason_is_no_answer() {
    let candidate = json!({"finishReason": "MALFORMED_FUNCTION_CALL"});
    for streams in [true, false] {
        let body = json!({"candidates": [candidate]});
        let answer = if streams {
            Answer::Events(vec![Piece::Send(data(&body))])
        } else {
            status(
                200,
                &[("content-type", "application/json")],
                &body.to_string(),
            )
        };
        let error = after(answer, Provider::Gemini, streams).await;
        assert!(
            error.contains("ended the reply: MALFORMED_FUNCTION_CALL"),
            "{error}"
        );
    }
}

#[tokio::test]
async fn a_server_that_is_not_there_cannot_be_reached() {
    let nobody = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = nobody.local_addr().unwrap();
    drop(nobody);
    for streams in [true, false] {
        let server = Server::with([says("")]).await;
        let model = model(&server, Provider::OpenAi)
            .endpoint(format!("http://{address}/v1"))
            .streaming(streams);
        let error = ended(&built(model).build().run("go").await);
        assert!(
            error.contains("cannot be reached") && error.contains("refused"),
            "{error}"
        );
        assert!(server.asked().is_empty());
    }
}

/// A key would travel along.
#[tokio::test]
async fn a_redirect_is_not_followed() {
    let other = Server::with([says("caught")]).await;
    let to = format!("{}/messages", other.url());
    for provider in Provider::ALL {
        for code in [301, 302, 303, 307, 308] {
            for streams in [true, false] {
                let moved = status(code, &[("location", &to)], "");
                let error = after(moved, provider, streams).await;
                assert!(error.contains(&format!("status {code}")), "{error}");
            }
        }
    }
    assert!(other.asked().is_empty());
}

/// A refusal in the place of a reply, or in the middle of one, keeps its words.
#[tokio::test]
async fn a_refusal_is_told_in_the_words_of_the_provider() {
    const WORDS: &str = "I cannot help with that.";
    let openai = |streams| {
        let said = json!({"refusal": WORDS});
        if streams {
            let halves = ["I cannot ", "help with that."];
            let pieces = halves.map(|half| chunk(&json!({"refusal": half}), None));
            let last = chunk(&json!({}), Some("stop"));
            let pieces = pieces.into_iter().chain([last, DONE.to_owned()]);
            return Answer::Events(pieces.map(Piece::Send).collect());
        }
        json_of(&json!({"choices": [{"message": said, "finish_reason": "stop"}]}))
    };
    let filtered = |streams| {
        if streams {
            let said = chunk(&json!({"content": WORDS}), None);
            let last = chunk(&json!({}), Some("content_filter"));
            return Answer::Events([said, last, DONE.to_owned()].map(Piece::Send).to_vec());
        }
        let said = json!({"content": WORDS});
        json_of(&json!({"choices": [{"message": said, "finish_reason": "content_filter"}]}))
    };
    let anthropic = |streams| {
        if streams {
            let text = json!({"index": 0, "content_block": {"type": "text", "text": ""}});
            let delta = json!({"index": 0, "delta": {"type": "text_delta", "text": WORDS}});
            let end = json!({"delta": {"stop_reason": "refusal"}, "usage": {}});
            let events = [
                named("message_start", json!({"message": {}})),
                named("content_block_start", text),
                named("content_block_delta", delta),
                named("message_delta", end),
                named("message_stop", json!({})),
            ];
            return Answer::Events(events.map(Piece::Send).to_vec());
        }
        let content = json!([{"type": "text", "text": WORDS}]);
        json_of(&json!({"type": "message", "content": content, "stop_reason": "refusal"}))
    };
    let gemini = |streams| {
        let candidate = json!({"finishReason": "SAFETY", "finishMessage": WORDS});
        let body = json!({"candidates": [candidate]});
        if streams {
            return Answer::Events(vec![Piece::Send(data(&body))]);
        }
        json_of(&body)
    };
    for streams in [true, false] {
        for (provider, answer, reason) in [
            (Provider::OpenAi, openai(streams), "refusal"),
            (Provider::OpenAi, filtered(streams), "content_filter"),
            (Provider::Anthropic, anthropic(streams), "refusal"),
            (Provider::Gemini, gemini(streams), "SAFETY"),
        ] {
            let server = Server::with([answer]).await;
            let model = model(&server, provider).streaming(streams);
            let result = built(model).build().run("go").await;
            let said = format!("the model failed: the provider ended the reply: {reason}: {WORDS}");
            assert_eq!(ended(&result), said, "{provider} {streams}");
            let Some(RunError::Model { error }) = result.error else {
                panic!("{:?}", result.error);
            };
            let expected = ModelError::Withheld {
                reason: reason.to_owned(),
                said: WORDS.to_owned(),
            };
            assert_eq!(error, expected);
            assert_eq!(server.asked().len(), 1, "nobody asks again");
        }
    }
}

/// Gemini gives no candidate at all where it blocks what it was asked.
#[tokio::test]
async fn a_question_that_is_blocked_says_why() {
    let feedback = json!({"blockReason": "PROHIBITED_CONTENT", "blockReasonMessage": "not this"});
    let body = json!({"promptFeedback": feedback, "usageMetadata": {}});
    let answer = Answer::Events(vec![Piece::Send(data(&body))]);
    let error = after(answer, Provider::Gemini, true).await;
    let said = "the model failed: the provider ended the reply: PROHIBITED_CONTENT: not this";
    assert_eq!(error, said);
}

fn json_of(body: &serde_json::Value) -> Answer {
    let headers = [("content-type", "application/json")];
    status(200, &headers, &body.to_string())
}

#[test]
fn outside_of_a_runtime_the_run_ends_with_a_sentence() {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let server = runtime.block_on(Server::with([says("done")]));
    let agent = agent(&server);
    let mut events = agent.run("go").stream();
    let mut task = std::task::Context::from_waker(std::task::Waker::noop());
    let mut next = std::pin::pin!(events.next());
    let std::task::Poll::Ready(Some(Event::Error { error })) = next.as_mut().poll(&mut task) else {
        panic!("it ends at once");
    };
    assert!(
        error.to_string().contains("need a tokio runtime"),
        "{error}"
    );
}
