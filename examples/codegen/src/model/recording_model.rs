//! Wraps a model and records its calls.

use std::future::poll_fn;
use std::sync::Arc;

use contract_agent::{Delta, Model, Reply, Request, stream_with};
use contract_runtime::ToolCall;
use parking_lot::Mutex;

/// A model whose calls can be read by others: the events of a run report the calls that are
/// made, and not what the model wrote to have one refused.
pub struct RecordingModel {
    model: Arc<dyn Model>,
    recorded: RecordedCalls,
}

/// The calls of a model that were not taken yet; clones share them.
#[derive(Clone, Debug, Default)]
pub struct RecordedCalls(Arc<Mutex<Vec<ToolCall>>>);

impl RecordedCalls {
    /// Takes the calls.
    #[must_use]
    pub fn take(&self) -> Vec<ToolCall> {
        std::mem::take(&mut self.0.lock())
    }
}

impl RecordingModel {
    /// Listens to a model.
    #[must_use]
    pub fn new(model: Arc<dyn Model>) -> (Self, RecordedCalls) {
        let recorded = RecordedCalls::default();
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
        Box::pin(stream_with(move |emitter| async move {
            let mut pieces = self.model.reply(request);
            while let Some(piece) = poll_fn(|task| pieces.as_mut().poll_next(task)).await {
                if let Ok(Delta::Call(call)) = &piece {
                    self.recorded.0.lock().push(call.clone());
                }
                emitter.emit(piece).await;
            }
        }))
    }
}
