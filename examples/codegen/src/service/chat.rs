//! The `/api/chat` and `/api/chat/stream` endpoints.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{FromRequest as _, Request, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde::de::DeserializeOwned;
use tokio::time::timeout;

use super::follow::{Until, follow};
use super::problem::Problem;
use super::runs_api::{json, number};
use super::server::Shared;
use crate::contract::ChatRequest;
use crate::runs::Run;

/// How slowly a body may arrive.
const BODY_TIME: Duration = Duration::from_secs(10);

/// How long an answer is waited for, unless the client says otherwise.
const PATIENCE: u64 = 25;

/// The longest that it may say.
const MOST_PATIENCE: u64 = 300;

/// `POST /api/chat`: answers when the run asks or ends, and after `wait` seconds in any case.
pub(super) async fn answer(
    State(shared): State<Arc<Shared>>,
    address: Uri,
    request: Request,
) -> Result<Response, Problem> {
    let wait = number(&address, "wait")?;
    let (run, _) = take(&shared, request).await?;
    let patience = wait.unwrap_or(PATIENCE).min(MOST_PATIENCE);
    tokio::select! {
        // One that is not over by then says so, and what to do.
        _ = timeout(Duration::from_secs(patience), run.rested()) => {}
        () = shared.closing.cancelled() => {}
    }
    Ok(json(&shared.engine.response(&run)))
}

/// `POST /api/chat/stream`: tells what happens from now on, and ends with the same response.
pub(super) async fn stream(
    State(shared): State<Arc<Shared>>,
    request: Request,
) -> Result<Response, Problem> {
    let (run, after) = take(&shared, request).await?;
    follow(&shared, run, after, Until::Rest)
}

/// The run that a request is about, and the number of its last event before the request.
async fn take(shared: &Shared, request: Request) -> Result<(Arc<Run>, u64), Problem> {
    let ChatRequest {
        session_id,
        message,
        answers,
    } = read(request, "request").await?;
    let Some(id) = session_id else {
        if !answers.is_empty() {
            return Err(Problem::new(
                StatusCode::BAD_REQUEST,
                "wrong_answers",
                "there are answers and no `session_id`; send that of the response with the questions",
            ));
        }
        return Ok((shared.engine.begin(&message).await?, 0));
    };
    let id = id.parse().map_err(|_| Problem::unknown())?;
    let run = shared.engine.run(id).await?;
    let after = run.after(0).last().map_or(0, |event| event.sequence);
    // Without anything to say, it is asked how far it has come.
    if !message.trim().is_empty() || !answers.is_empty() {
        shared.engine.answer(id, &message, &answers).await?;
    }
    Ok((run, after))
}

/// A body, in the form that `contracts/` has under this name.
pub(super) async fn read<T: DeserializeOwned>(request: Request, form: &str) -> Result<T, Problem> {
    let kind = request.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
    let kind = kind.split(';').next().unwrap_or("").trim();
    if !kind.eq_ignore_ascii_case("application/json") {
        return Err(Problem::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "not_json",
            "send `Content-Type: application/json`",
        ));
    }
    let body = timeout(BODY_TIME, Bytes::from_request(request, &())).await;
    let body = body.map_err(|_| {
        let message = "the body did not arrive in 10 s; send it at once";
        Problem::new(StatusCode::REQUEST_TIMEOUT, "slow_body", message)
    })?;
    let body = body.map_err(|rejection| match rejection.into_response().status() {
        StatusCode::PAYLOAD_TOO_LARGE => Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            "large_body",
            "the body has more than 256 KiB; put long texts into files of the project",
        ),
        status => Problem::new(status, "broken_body", "the body broke off; send it again"),
    })?;
    if !body.trim_ascii_start().starts_with(b"{") {
        let message = format!("the body is not a JSON object; see contracts/{form}.json");
        return Err(Problem::new(StatusCode::BAD_REQUEST, "not_json", message));
    }
    serde_json::from_slice(&body).map_err(|error| {
        let place = format!("line {}, column {}", error.line(), error.column());
        // The error's own text would repeat what was sent.
        let what = if error.is_data() {
            format!("does not have the right form; see contracts/{form}.json")
        } else {
            "is not JSON".to_owned()
        };
        let message = format!("the body {what}, at {place}");
        Problem::new(StatusCode::BAD_REQUEST, "not_json", message)
    })
}
