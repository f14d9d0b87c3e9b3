//! Streams events as server-sent events (WHATWG, "HTML", section 9.2).

use std::convert::Infallible;
use std::sync::Arc;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use contract_agent::stream_with;
use serde::Serialize;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::contract::Problem;
use crate::runs::{Engine, Run};

/// The state of the endpoints.
pub(super) struct Shared {
    pub(super) engine: Arc<Engine>,
    pub(super) followers: Arc<Semaphore>,
    pub(super) closing: CancellationToken,
}

/// When a stream ends.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Until {
    /// When the run asks or ends; the response comes last.
    Rest,
    /// When the run ends.
    Over,
}

/// Streams everything after an event.
///
/// A slow reader does not slow down the run: it reads the recorded events at its own pace.
pub(super) fn follow(
    shared: &Arc<Shared>,
    run: Arc<Run>,
    after: u64,
    until: Until,
) -> Result<Response, Problem> {
    let place = Arc::clone(&shared.followers).try_acquire_owned();
    let place = place.map_err(|_| {
        let message = "too many clients follow already; try again later, or ask `/api/chat`";
        Problem::new(503, "busy", message)
    })?;
    let (shared, mut news) = (Arc::clone(shared), run.news());
    let events = stream_with(move |emitter| async move {
        let _place = place;
        let mut after = after;
        loop {
            news.borrow_and_update();
            // Before the events are read, so that none comes in between.
            let is_last = match until {
                Until::Rest => run.rests(),
                Until::Over => run.state().is_over(),
            };
            for event in run.after(after) {
                after = event.sequence;
                let value = serde_json::to_value(&event).unwrap_or_default();
                let kind = value["type"].as_str().unwrap_or("message");
                let frame = frame(kind, &value).id(after.to_string());
                emitter.emit(Ok::<_, Infallible>(frame)).await;
            }
            if is_last {
                break;
            }
            tokio::select! {
                _ = news.changed() => {}
                () = shared.closing.cancelled() => return,
            }
        }
        if until == Until::Rest {
            let response = shared.engine.response(&run);
            emitter.emit(Ok(frame("response", &response))).await;
        }
    });
    let events = Sse::new(events).keep_alive(KeepAlive::default());
    Ok(events.into_response())
}

fn frame(kind: &str, value: &impl Serialize) -> Event {
    // JSON escapes line breaks, so that it is one line.
    let data = serde_json::to_string(value).unwrap_or_default();
    Event::default().event(kind).data(data)
}
