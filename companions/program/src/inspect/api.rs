//! What the page asks for. Arguments travel as text, so that no number is rounded on the way.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use axum::Json;
use axum::body::Body;
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::{Value, json};

use super::followed::Followed;
use super::server::Shared;
use super::shown;
use crate::{Context, Run, ToolCall, Watched};

type Server = State<Arc<Shared>>;

/// A call as the page makes it.
#[derive(Deserialize)]
pub(super) struct Wanted {
    name: String,
    /// JSON text.
    arguments: String,
}

#[derive(Deserialize)]
pub(super) struct Named {
    name: String,
}

pub(super) async fn tools(State(shared): Server) -> Json<Value> {
    Json(shown::tools(&shared.registry))
}

/// One tool in its four forms, as text.
pub(super) async fn explain(State(shared): Server, Query(named): Query<Named>) -> Response {
    match shared.registry.explain(&named.name) {
        Some(text) => text.into_response(),
        None => (StatusCode::NOT_FOUND, "there is no tool of that name\n").into_response(),
    }
}

/// Does everything up to the body, and says which conditions were judged on the way.
pub(super) async fn check(State(shared): Server, Json(wanted): Json<Wanted>) -> Json<Value> {
    let began = Instant::now();
    let judged = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&judged);
    let run = Run::new()
        .watch(move |watched| {
            if let Watched::Check(check) = watched {
                let mut judged = heard.lock().unwrap_or_else(PoisonError::into_inner);
                judged.push(check.contract);
            }
        })
        // Nobody else is told: it is not a call, and it happens at every key.
        .on_violation(|_| ());
    let call = ToolCall::new("check", wanted.name, wanted.arguments);
    let context = Context::new().run(&run);
    let outcome = shared.registry.check_with(call, context).await;
    let mut shown = shown::outcome(&outcome, began.elapsed());
    let judged = std::mem::take(&mut *judged.lock().unwrap_or_else(PoisonError::into_inner));
    shown["judged"] = json!(judged);
    Json(shown)
}

/// Makes a call. When the page breaks the request off, this future is dropped, and that cancels the call.
pub(super) async fn call(State(shared): Server, Json(wanted): Json<Wanted>) -> Json<Value> {
    let call = ToolCall::new("page", wanted.name, wanted.arguments);
    let followed = Waiting(Followed::new(&shared.events));
    followed.0.begin(&shared.registry, &call, "page");
    let context = Context::new().run(&followed.0.run());
    let outcome = shared.registry.call_with(call, context).await;
    Json(followed.0.end(&outcome))
}

/// A page that waits for its call; a body that goes on without it holds the call as well.
struct Waiting(Arc<Followed>);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.break_off();
    }
}

/// What has happened and what happens, from the event that the reader had last.
pub(super) async fn events(State(shared): Server, headers: HeaderMap) -> Response {
    let after = headers
        .get("last-event-id")
        .and_then(|value| value.to_str().ok()?.parse().ok())
        .unwrap_or_default();
    match shared.events.follow(after) {
        Some(following) => {
            let kind = [(header::CONTENT_TYPE, "text/event-stream")];
            (kind, Body::from_stream(following)).into_response()
        }
        None => (
            StatusCode::SERVICE_UNAVAILABLE,
            "too many pages follow the calls; close one\n",
        )
            .into_response(),
    }
}
