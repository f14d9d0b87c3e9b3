//! JSON-RPC batches over Streamable HTTP.

use std::convert::Infallible;

use futures_util::future::join_all;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};
use tokio::sync::oneshot;

use super::service::{HttpResponse, HttpService};

/// Answers the messages of one request concurrently, with one stream of all their events (Model Context Protocol,
/// "Transports: Streamable HTTP", 2025-03-26).
pub(super) async fn answer(
    server: &HttpService,
    parts: &Parts,
    messages: Vec<Vec<u8>>,
) -> HttpResponse {
    let mut parts = parts.clone();
    if let Some(session) = server.session(&parts) {
        parts.extensions.insert(session.turn());
    }
    let mut before = None;
    let answering = messages.into_iter().map(|message| {
        let (handed_over, turn) = oneshot::channel();
        let before = before.replace(turn);
        let parts = parts.clone();
        async move {
            // In their order, because a cancellation may follow its request; their bodies run side by side.
            if let Some(before) = before {
                let _: Result<Infallible, _> = before.await;
            }
            let answer = server.message(parts, Bytes::from(message)).await;
            drop(handed_over);
            events_of(answer).await
        }
    });
    let mut events = Vec::new();
    for answer in join_all(answering).await {
        match answer {
            Ok(of_message) => events.extend(of_message),
            Err(answer) => return *answer,
        }
    }
    let nothing = events.is_empty();
    let mut answer = Response::new(BoxBody::new(Full::new(Bytes::from(events))));
    if nothing {
        *answer.status_mut() = StatusCode::ACCEPTED;
    } else {
        let stream = HeaderValue::from_static("text/event-stream");
        answer.headers_mut().insert(CONTENT_TYPE, stream);
    }
    answer
}

/// The events of the answer to one message; the error is the answer to all of them.
async fn events_of(answer: HttpResponse) -> Result<Vec<u8>, Box<HttpResponse>> {
    let kind = answer.headers().get(CONTENT_TYPE).cloned();
    match (answer.status(), kind.as_ref().map(HeaderValue::as_bytes)) {
        (StatusCode::ACCEPTED, _) => Ok(Vec::new()),
        (StatusCode::OK, Some(b"text/event-stream")) => Ok(collect(answer).await.to_vec()),
        // A JSON-RPC error, which concerns only its message.
        (_, Some(b"application/json")) => {
            Ok([b"data: ", &*collect(answer).await, b"\n\n"].concat())
        }
        // An error of the headers or the session, which all messages share.
        _ => Err(Box::new(answer)),
    }
}

async fn collect(answer: HttpResponse) -> Bytes {
    match answer.into_body().collect().await {
        Ok(body) => body.to_bytes(),
        Err(never) => match never {},
    }
}
