//! Reads from the wire format what genai changes or leaves out.

use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};
use serde_json::Value;

use super::calls::Calls;
use crate::model::Usage;

/// What was seen of a reply.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames(Arc<Mutex<ReplyState>>);

#[derive(Debug, Default)]
pub(super) struct ReplyState {
    /// Events of any kind.
    pub(super) any: bool,
    pub(super) calls: Calls,
    pub(super) reason: Option<String>,
    pub(super) usage: Option<Usage>,
    pub(super) refusal: Refusal,
}

/// A refusal that stands beside the text of a reply, or in its place.
#[derive(Clone, Debug, Default)]
pub(super) struct Refusal {
    /// The word for it, where that is not a reason why a reply ended.
    pub(super) reason: Option<String>,
    pub(super) said: String,
}

impl Refusal {
    /// What a message of chat completions, or a piece of one, says in the place of content.
    pub(super) fn completion(&mut self, message: Option<&Value>) {
        let said = message.and_then(|message| message.get("refusal")?.as_str());
        if let Some(said) = said.filter(|said| !said.is_empty()) {
            self.reason.get_or_insert_with(|| "refusal".to_owned());
            self.said.push_str(said);
        }
    }

    /// What Gemini says of a prompt or of a candidate that it blocked.
    pub(super) fn gemini(&mut self, body: &Value) {
        let text = |place| body.pointer(place)?.as_str().map(str::to_owned);
        if let Some(reason) = text("/promptFeedback/blockReason") {
            self.reason = Some(reason);
        }
        let places = [
            "/promptFeedback/blockReasonMessage",
            "/candidates/0/finishMessage",
        ];
        for said in places.into_iter().filter_map(text) {
            self.said = said;
        }
    }
}

impl Frames {
    pub(super) fn locked(&self) -> MutexGuard<'_, ReplyState> {
        self.0.lock()
    }

    /// An event of any provider.
    pub(super) fn event(&self, data: &str) {
        if !data.is_empty() {
            self.locked().any = true;
        }
    }

    /// An event of Gemini.
    pub(super) fn gemini(&self, data: &str) {
        if let Ok(body) = serde_json::from_str::<Value>(data) {
            self.locked().refusal.gemini(&body);
        }
    }

    /// An event of chat completions.
    pub(super) fn chunk(&self, data: &str) {
        let Ok(chunk) = serde_json::from_str::<Value>(data) else {
            return;
        };
        let mut seen = self.locked();
        let pieces = chunk.pointer("/choices/0/delta/tool_calls");
        for piece in pieces.and_then(Value::as_array).into_iter().flatten() {
            seen.calls.piece(piece);
        }
        seen.refusal.completion(chunk.pointer("/choices/0/delta"));
        let reason = chunk.pointer("/choices/0/finish_reason");
        if let Some(reason) = reason.and_then(Value::as_str) {
            seen.reason = Some(reason.to_owned());
        }
        if let Some(usage) = usage(&chunk) {
            seen.usage = Some(usage);
        }
    }
}

/// The tokens of a chunk or a whole reply of chat completions.
pub(super) fn usage(body: &Value) -> Option<Usage> {
    let usage = body.get("usage").filter(|usage| usage.is_object())?;
    let tokens = |name| usage.get(name).and_then(Value::as_u64).unwrap_or_default();
    Some(Usage::new(
        tokens("prompt_tokens"),
        tokens("completion_tokens"),
    ))
}
