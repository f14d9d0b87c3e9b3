//! Streaming replies.

use std::future::poll_fn;
use std::pin::Pin;

use futures_core::Stream as _;
use genai::chat::{ChatOptions, ChatRequest, ChatStreamEvent, StopReason, StreamEnd};

use super::GenaiModel;
use super::calls::Calls;
use super::fault::Faults;
use super::frames::Frames;
use super::provider::Provider;
use super::reply_emitter::{ReplyEmitter, usage};
use crate::model::ModelError;

pub(super) async fn reply(
    model: &GenaiModel,
    chat: ChatRequest,
    options: ChatOptions,
    emitter: &mut ReplyEmitter,
    faults: Faults<'_>,
) -> Result<(), ModelError> {
    let provider = model.provider();
    let frames = Frames::default();
    let options = options.with_raw_frame_fn({
        let frames = frames.clone();
        move |_, frame| {
            frames.event(frame.data);
            match provider {
                Provider::OpenAi => frames.chunk(frame.data),
                Provider::Gemini => frames.gemini(frame.data),
                Provider::Anthropic => {}
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
        let event = event.map_err(|error| {
            let refusal = std::mem::take(&mut frames.locked().refusal);
            match refusal.reason {
                // genai takes a reply without a candidate for a broken one.
                Some(reason) => faults.withheld(&reason, &refusal.said),
                None => faults.of(error),
            }
        })?;
        match event {
            ChatStreamEvent::Chunk(piece) => emitter.text(piece.content).await,
            ChatStreamEvent::ToolCallChunk(piece) if provider != Provider::OpenAi => {
                calls.push_called(&piece.tool_call);
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
        return Err(faults.unreadable("it contains no event"));
    }
    if provider == Provider::OpenAi {
        // Some servers leave the last mark out, but each says why a reply ended.
        if end.is_none() && seen.reason.is_none() {
            return Err(ModelError::Cut);
        }
        let reason = seen.reason.map(StopReason::from);
        return emitter
            .ending(seen.calls.take(), seen.usage, reason, seen.refusal, faults)
            .await;
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
    emitter
        .ending(calls.take(), usage, Some(reason), seen.refusal, faults)
        .await
}
