//! JSON-RPC batches over Streamable HTTP.

use futures_util::future::join_all;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Response, StatusCode};

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
    let answering = messages
        .into_iter()
        .map(|message| server.message(parts.clone(), Bytes::from(message)));
    let mut events = Vec::new();
    for answer in join_all(answering).await {
        let kind = answer.headers().get(CONTENT_TYPE).cloned();
        match (answer.status(), kind.as_ref().map(HeaderValue::as_bytes)) {
            (StatusCode::ACCEPTED, _) => {}
            (StatusCode::OK, Some(b"text/event-stream")) => events.extend(collect(answer).await),
            // A JSON-RPC error, which concerns only its message.
            (_, Some(b"application/json")) => {
                events.extend_from_slice(b"data: ");
                events.extend(collect(answer).await);
                events.extend_from_slice(b"\n\n");
            }
            // An error of the headers or the session, which all messages share.
            _ => return answer,
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

async fn collect(answer: HttpResponse) -> Bytes {
    match answer.into_body().collect().await {
        Ok(body) => body.to_bytes(),
        Err(never) => match never {},
    }
}
