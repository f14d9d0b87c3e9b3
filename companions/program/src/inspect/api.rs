//! The page's API. Arguments are sent as text, so that JavaScript does not round numbers.

use std::sync::Arc;
use std::time::Instant;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use contract_manifest::Inspect as _;
use contract_runtime::ToolCall;
use contract_runtime::approval::Answer;
use serde::Deserialize;
use serde_json::{Value, json};

use super::call_reporter::CallReporter;
use super::page_json;
use super::server::Shared;
use crate::explain::evaluate_all;

type Server = State<Arc<Shared>>;

/// A call as the page makes it.
#[derive(Deserialize)]
pub(super) struct CallRequest {
    name: String,
    /// JSON text.
    arguments: String,
    /// What the user of the page answers to an equal call that asked.
    answer: Option<Answer>,
}

#[derive(Deserialize)]
pub(super) struct Named {
    name: String,
}

pub(super) async fn tools(State(shared): Server) -> Json<Value> {
    Json(page_json::tools(&shared.registry))
}

/// One tool in its four forms, as text.
pub(super) async fn explain(State(shared): Server, Query(named): Query<Named>) -> Response {
    match shared.registry.explain(&named.name) {
        Some(text) => text.into_response(),
        None => (StatusCode::NOT_FOUND, "there is no tool of that name\n").into_response(),
    }
}

/// Does everything but run the body, and reports which conditions were evaluated: all, if the arguments can be decoded.
pub(super) async fn check(State(shared): Server, Json(wanted): Json<CallRequest>) -> Json<Value> {
    let began = Instant::now();
    let call = ToolCall::new("check", wanted.name, wanted.arguments);
    let (judged, outcome) = evaluate_all(&shared.registry, call).await;
    let mut shown = page_json::outcome(&outcome, began.elapsed());
    shown["judged"] = json!(judged);
    Json(shown)
}

/// Makes a call. If the page aborts the request, this future is dropped, which cancels the call.
pub(super) async fn call(State(shared): Server, Json(wanted): Json<CallRequest>) -> Json<Value> {
    let call = ToolCall::new("page", wanted.name, wanted.arguments);
    let reporter = PendingReport(CallReporter::new(&shared.events));
    reporter.0.begin(&shared.registry, &call, "page");
    let context = reporter.0.context();
    let context = match wanted.answer {
        Some(answer) => context.answer(answer),
        None => context,
    };
    let outcome = shared.registry.call(call).context(context).await;
    Json(reporter.0.end(&outcome))
}

/// Reports the call as cancelled when the page stops waiting, although an abandoned body still holds it.
struct PendingReport(Arc<CallReporter>);

impl Drop for PendingReport {
    fn drop(&mut self) {
        self.0.break_off();
    }
}

/// Streams events, starting after the last one that the reader has seen.
pub(super) async fn events(State(shared): Server, headers: HeaderMap) -> Response {
    let after = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok()?.parse().ok())
        .unwrap_or_default();
    match shared.events.subscribe(after) {
        Some(subscription) => {
            let kind = [(header::CONTENT_TYPE, "text/event-stream")];
            (kind, Body::from_stream(subscription)).into_response()
        }
        None => (
            StatusCode::SERVICE_UNAVAILABLE,
            "too many pages are following the calls; close one\n",
        )
            .into_response(),
    }
}
