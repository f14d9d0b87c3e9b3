//! A key appears nowhere.

use std::cell::RefCell;
use std::fmt::{Debug, Write as _};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use contract_agent::{GenaiBuildError, GenaiModel, Provider};
use contract_dialects::StrictDialect;
use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::{Event, Metadata, span};

use crate::server::{Server, says, status};
use crate::tools::{KEY, built, ended, model};
use crate::wire::SERVED;

thread_local! {
    /// What is told on this thread, once somebody listens.
    static TOLD: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// Writes down all that is told, of every crate and at every level.
struct Everything(AtomicU64);

/// Goes before everything that tells: whether a place in the source is listened to is decided when it is first reached.
pub(crate) fn listen() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        tracing::subscriber::set_global_default(Everything(AtomicU64::new(1)))
            .expect("nobody else listens");
    });
}

fn write(line: impl FnOnce(&mut String)) {
    TOLD.with(|told| {
        if let Ok(mut told) = told.try_borrow_mut()
            && let Some(told) = told.as_mut()
        {
            line(told);
        }
    });
}

struct Line<'t>(&'t mut String);

impl Visit for Line<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn Debug) {
        let _ = write!(self.0, " {}={value:?}", field.name());
    }
}

impl tracing::Subscriber for Everything {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, span: &span::Attributes<'_>) -> span::Id {
        write(|told| {
            let _ = write!(told, "\n{}:", span.metadata().name());
            span.record(&mut Line(told));
        });
        span::Id::from_u64(self.0.fetch_add(1, Ordering::Relaxed))
    }

    fn record(&self, _: &span::Id, values: &span::Record<'_>) {
        write(|told| values.record(&mut Line(told)));
    }

    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}

    fn event(&self, event: &Event<'_>) {
        write(|told| {
            let _ = write!(told, "\n{}:", event.metadata().target());
            event.record(&mut Line(told));
        });
    }

    fn enter(&self, _: &span::Id) {}

    fn exit(&self, _: &span::Id) {}
}

#[tokio::test]
async fn a_key_is_in_no_span_and_no_event() {
    TOLD.set(Some(String::new()));
    for provider in Provider::ALL {
        let busy = status(429, &[("retry-after", "0")], "busy");
        let server = Server::with([busy, says("done")]).await;
        let model = model(&server, provider).header("x-gateway", "another-secret");
        assert!(built(model).build().run("go").await.success);
        assert_eq!(
            server.asked()[0].header("x-gateway"),
            Some("another-secret")
        );
    }
    let told = TOLD.take().unwrap_or_default();
    assert!(
        told.contains("\nchat: otel.name=chat some-model-high"),
        "{told}"
    );
    assert!(told.contains("gen_ai.usage.output_tokens=5"), "{told}");
    assert!(told.contains("retrying the request"), "{told}");
    assert!(told.contains("\nhyper_util"), "other crates tell: {told}");
    assert!(!told.contains(KEY), "{told}");
    assert!(!told.contains("another-secret"), "{told}");
}

#[tokio::test]
async fn the_span_of_a_reply_has_the_model_that_replied_and_why_it_ended() {
    let length = json!({"model": SERVED, "choices": [{"message": {"content": "It"}, "finish_reason": "length"}]});
    let of = [
        (Provider::OpenAi, says("done"), "stop", ""),
        (Provider::Anthropic, says("done"), "end_turn", ""),
        (Provider::Gemini, says("done"), "STOP", ""),
        (
            Provider::OpenAi,
            status(
                200,
                &[("content-type", "application/json")],
                &length.to_string(),
            ),
            "length",
            " error.type=\"too_long\"",
        ),
    ];
    for (provider, answer, reason, error) in of {
        for streams in [true, false] {
            if streams && !error.is_empty() {
                continue;
            }
            let server = Server::with([answer.clone()]).await;
            TOLD.set(Some(String::new()));
            let model = model(&server, provider).streaming(streams);
            let result = built(model).build().run("go").await;
            assert_eq!(result.success, error.is_empty());
            let told = TOLD.take().unwrap_or_default();
            let ended = format!(
                " gen_ai.response.model=\"{SERVED}\" gen_ai.response.finish_reasons=[\"{reason}\"]"
            );
            assert_eq!(told.matches(&ended).count(), 1, "{told}");
            assert_eq!(
                told.matches(" error.type=\"too_long\"").count(),
                usize::from(!error.is_empty()),
                "{told}"
            );
        }
    }
}

#[tokio::test]
async fn a_key_that_the_server_repeats_is_in_no_error() {
    let body = format!(r#"{{"error": {{"message": "Incorrect API key provided: {KEY}."}}}}"#);
    for provider in Provider::ALL {
        for streams in [true, false] {
            let server = Server::with([status(401, &[], &body)]).await;
            let agent = built(model(&server, provider).streaming(streams)).build();
            let result = agent.run("go").await;
            assert_eq!(
                ended(&result),
                "the model failed: the provider answered with status 401: Incorrect API key provided: ***.; check the key"
            );
            assert!(!format!("{result:?}").contains(KEY));
        }
    }
}

#[tokio::test]
async fn debug_shows_neither_key_nor_query() {
    let server = Server::with([says("done")]).await;
    let builder = model(&server, Provider::OpenAi)
        .endpoint(format!("http://me:word@127.0.0.1/v1?code={KEY}"));
    let shown = format!("{builder:?}");
    assert!(shown.contains("http://127.0.0.1/v1"), "{shown}");
    let shown = shown + &format!("{:?}", builder.build().unwrap());
    assert!(!shown.contains(KEY) && !shown.contains("word"), "{shown}");
}

#[test]
fn what_cannot_be_used_is_said_when_the_model_is_built() {
    let of = |builder: contract_agent::GenaiModelBuilder| builder.build().unwrap_err();
    let gpt = || GenaiModel::builder("gpt-x").key("k");
    let variable = "CONTRACT_RUNTIME_NO_SUCH_KEY".to_owned();
    assert_eq!(
        of(gpt().key_from(&variable)),
        GenaiBuildError::NoKey { variable }
    );
    assert_eq!(of(GenaiModel::builder(" ")), GenaiBuildError::NoName);
    let given = "host/v1".to_owned();
    assert_eq!(
        of(gpt().endpoint("me:word@host/v1?key=1")),
        GenaiBuildError::Endpoint { given }
    );
    let error = of(gpt().key("two\nlines"));
    assert_eq!(
        error,
        GenaiBuildError::Header {
            header: "authorization".to_owned()
        }
    );
    let error = of(gpt().dialect(StrictDialect::Anthropic)).to_string();
    assert!(
        error.starts_with("openai does not accept tools in the dialect `anthropic-strict`"),
        "{error}"
    );
}

/// A key of the environment belongs to the provider's own endpoint.
#[tokio::test]
async fn another_endpoint_gets_no_key_that_was_not_chosen_for_it() {
    let server = Server::with([says("done")]).await;
    let model = GenaiModel::builder("some-model").endpoint(server.url());
    assert!(built(model).build().run("go").await.success);
    assert_eq!(server.asked()[0].header("authorization"), None);
}
