//! Wraps a model and records its requests and calls.

use std::future::poll_fn;
use std::sync::Arc;

use contract_agent::{Delta, Message, Model, Reply, Request, stream_with};
use contract_runtime::ToolCall;
use parking_lot::Mutex;

/// A model of which somebody else hears what it is told and what it calls: the events of a run tell of calls that are
/// made, and not of what the model wrote to have one refused.
pub struct Overheard {
    model: Arc<dyn Model>,
    heard: Heard,
}

/// What was heard; clones hear the same.
#[derive(Clone, Debug, Default)]
pub struct Heard(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    said: Vec<Message>,
    calls: Vec<ToolCall>,
}

impl Heard {
    fn locked(&self) -> parking_lot::MutexGuard<'_, Inner> {
        self.0.lock()
    }

    /// Calls that were not taken yet.
    #[must_use]
    pub fn calls(&self) -> Vec<ToolCall> {
        std::mem::take(&mut self.locked().calls)
    }

    /// All that the model was told in its last request.
    #[must_use]
    pub fn said(&self) -> Vec<Message> {
        self.locked().said.clone()
    }
}

impl Overheard {
    /// Listens to a model.
    #[must_use]
    pub fn new(model: Arc<dyn Model>) -> (Self, Heard) {
        let heard = Heard::default();
        let overheard = Self {
            model,
            heard: heard.clone(),
        };
        (overheard, heard)
    }
}

impl Model for Overheard {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        self.heard.locked().said = request.messages.to_vec();
        Box::pin(stream_with(move |emitter| async move {
            let mut pieces = self.model.reply(request);
            while let Some(piece) = poll_fn(|task| pieces.as_mut().poll_next(task)).await {
                if let Ok(Delta::Call(call)) = &piece {
                    self.heard.locked().calls.push(call.clone());
                }
                emitter.emit(piece).await;
            }
        }))
    }
}
