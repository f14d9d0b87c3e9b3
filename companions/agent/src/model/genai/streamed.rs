//! A reply that comes piece by piece.

use std::future::poll_fn;
use std::pin::Pin;

use futures_core::Stream as _;
use genai::chat::{ChatOptions, ChatRequest, ChatStreamEvent, StopReason, StreamEnd};

use super::GenaiModel;
use super::calls::Calls;
use super::fault::Faults;
use super::frames::Frames;
use super::provider::Provider;
use super::spoken::{Spoken, usage};
use crate::agent::model::ModelError;

pub(super) async fn reply(
    model: &GenaiModel,
    chat: ChatRequest,
    options: ChatOptions,
    spoken: &mut Spoken,
    faults: Faults<'_>,
) -> Result<(), ModelError> {
    let provider = model.provider();
    let frames = Frames::default();
    let options = options.with_raw_frame_fn({
        let frames = frames.clone();
        move |_, frame| {
            frames.event(frame.data);
            if provider == Provider::OpenAi {
                frames.chunk(frame.data);
            }
        }
    });
    let reply = model
        .client
        .exec_chat_stream(model.target(), chat, Some(&options))
        .await
        .map_err(|error| faults.of(error))?;
    let mut events = reply.stream;
    let mut calls = Calls::default();
    let mut end = None;
    while let Some(event) = poll_fn(|task| Pin::new(&mut events).poll_next(task)).await {
        match event.map_err(|error| faults.of(error))? {
            ChatStreamEvent::Chunk(piece) => spoken.text(piece.content).await,
            ChatStreamEvent::ToolCallChunk(piece) if provider != Provider::OpenAi => {
                calls.told(&piece.tool_call);
            }
            ChatStreamEvent::End(reached) => {
                end = Some(reached);
                break;
            }
            _ => {}
        }
    }
    // Closed here where the server has more to say.
    drop(events);
    let mut seen = std::mem::take(&mut *frames.locked());
    if !seen.any {
        return Err(faults.unreadable("it holds no event"));
    }
    if provider == Provider::OpenAi {
        // Some servers leave the last mark out, but each says why a reply ended.
        if end.is_none() && seen.reason.is_none() {
            return Err(ModelError::Cut);
        }
        let reason = seen.reason.map(StopReason::from);
        return spoken.ending(seen.calls.take(), seen.usage, reason).await;
    }
    let StreamEnd {
        captured_usage,
        captured_stop_reason: Some(reason),
        ..
    } = end.unwrap_or_default()
    else {
        return Err(ModelError::Cut);
    };
    let usage = captured_usage.as_ref().map(usage);
    spoken.ending(calls.take(), usage, Some(reason)).await
}
