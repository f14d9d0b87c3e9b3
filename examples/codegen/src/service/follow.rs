//! Streams events as server-sent events (WHATWG, "HTML", section 9.2).

use std::convert::Infallible;
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use axum::http::header::CONTENT_TYPE;
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, watch};
use tokio_util::sync::CancellationToken;

use super::problem::Problem;
use super::server::Shared;
use crate::runs::{Engine, Run};

/// How often a stream on which nothing happens shows that it is there.
const STILL_HERE: Duration = Duration::from_secs(15);

/// When a stream ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// When the run asks or ends; the response comes last.
    Rest,
    /// When the run ends.
    Over,
}

struct Following {
    engine: Arc<Engine>,
    run: Arc<Run>,
    news: watch::Receiver<u64>,
    after: u64,
    until: Until,
    over: bool,
    closing: CancellationToken,
    _place: OwnedSemaphorePermit,
}

/// A stream of everything after an event.
///
/// A slow reader does not slow down the run: it reads the stored events at its own pace.
pub(super) fn follow(
    shared: &Shared,
    run: Arc<Run>,
    after: u64,
    until: Until,
) -> Result<Response, Problem> {
    let place = Arc::clone(&shared.followers).try_acquire_owned();
    let place = place.map_err(|_| {
        let message = "too many clients follow already; try again later, or ask `/api/chat`";
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "busy", message)
    })?;
    let following = Following {
        engine: Arc::clone(&shared.engine),
        news: run.news(),
        run,
        after,
        until,
        over: false,
        closing: shared.closing.clone(),
        _place: place,
    };
    let pieces = futures_util::stream::unfold(following, async |mut following| {
        let text = following.next().await?;
        Some((Ok::<_, Infallible>(Bytes::from(text)), following))
    });
    let kind = [(CONTENT_TYPE, "text/event-stream")];
    Ok((kind, Body::from_stream(pieces)).into_response())
}

impl Following {
    async fn next(&mut self) -> Option<String> {
        while !self.over {
            self.news.borrow_and_update();
            // Before the events are read, so that none comes in between.
            let ends = match self.until {
                Until::Rest => self.run.rests(),
                Until::Over => self.run.state().is_over(),
            };
            let mut text = String::new();
            for event in self.run.after(self.after) {
                self.after = event.sequence;
                let value = serde_json::to_value(&event).unwrap_or_default();
                frame(&mut text, Some(event.sequence), &value);
            }
            if ends {
                self.over = true;
                if self.until == Until::Rest {
                    let response =
                        serde_json::to_value(self.engine.response(&self.run)).unwrap_or_default();
                    let _ = write!(text, "event: response\ndata: {response}\n\n");
                }
            }
            if !text.is_empty() {
                return Some(text);
            }
            tokio::select! {
                _ = self.news.changed() => {}
                () = tokio::time::sleep(STILL_HERE) => return Some(": still here\n\n".to_owned()),
                () = self.closing.cancelled() => self.over = true,
            }
        }
        None
    }
}

fn frame(text: &mut String, id: Option<u64>, value: &Value) {
    if let Some(id) = id {
        let _ = writeln!(text, "id: {id}");
    }
    let kind = value["type"].as_str().unwrap_or("message");
    // JSON has no line breaks outside of its texts, and escapes them there.
    let _ = write!(text, "event: {kind}\ndata: {value}\n\n");
}
