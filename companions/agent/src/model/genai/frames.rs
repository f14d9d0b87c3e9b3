//! Chat completions as they come over the wire: what genai does not give as it was sent.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde_json::Value;

use super::calls::Calls;
use crate::agent::model::Usage;

/// What was seen of a reply.
#[derive(Clone, Debug, Default)]
pub(super) struct Frames(Arc<Mutex<Seen>>);

#[derive(Debug, Default)]
pub(super) struct Seen {
    /// Events of any kind.
    pub(super) any: bool,
    pub(super) calls: Calls,
    pub(super) reason: Option<String>,
    pub(super) usage: Option<Usage>,
}

impl Frames {
    pub(super) fn locked(&self) -> MutexGuard<'_, Seen> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// An event of any provider.
    pub(super) fn event(&self, data: &str) {
        if !data.is_empty() {
            self.locked().any = true;
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
