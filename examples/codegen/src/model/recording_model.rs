//! Wraps a model and records its requests and calls.

use std::future::poll_fn;
use std::sync::Arc;

use contract_agent::{Delta, Message, Model, Reply, Request, stream_with};
use contract_runtime::ToolCall;
use parking_lot::Mutex;

/// A model whose requests and calls can be read by others: the events of a run report the calls that are
/// made, and not what the model wrote to have one refused.
pub struct RecordingModel {
    model: Arc<dyn Model>,
    recorded: RecordedMessages,
}

/// What was recorded; clones share it.
#[derive(Clone, Debug, Default)]
pub struct RecordedMessages(Arc<Mutex<Inner>>);

#[derive(Debug, Default)]
struct Inner {
    said: Vec<Message>,
    calls: Vec<ToolCall>,
}

impl RecordedMessages {
    fn locked(&self) -> parking_lot::MutexGuard<'_, Inner> {
        self.0.lock()
    }

    /// Calls that were not taken yet.
    #[must_use]
    pub fn calls(&self) -> Vec<ToolCall> {
        std::mem::take(&mut self.locked().calls)
    }

    /// Returns the messages of the last request.
    #[must_use]
    pub fn messages(&self) -> Vec<Message> {
        self.locked().said.clone()
    }
}

impl RecordingModel {
    /// Listens to a model.
    #[must_use]
    pub fn new(model: Arc<dyn Model>) -> (Self, RecordedMessages) {
        let recorded = RecordedMessages::default();
        let recording = Self {
            model,
            recorded: recorded.clone(),
        };
        (recording, recorded)
    }
}

impl Model for RecordingModel {
    fn name(&self) -> &str {
        self.model.name()
    }

    fn reply<'a>(&'a self, request: Request<'a>) -> Reply<'a> {
        self.recorded.locked().said = request.messages.to_vec();
        Box::pin(stream_with(move |emitter| async move {
            let mut pieces = self.model.reply(request);
            while let Some(piece) = poll_fn(|task| pieces.as_mut().poll_next(task)).await {
                if let Ok(Delta::Call(call)) = &piece {
                    self.recorded.locked().calls.push(call.clone());
                }
                emitter.emit(piece).await;
            }
        }))
    }
}
