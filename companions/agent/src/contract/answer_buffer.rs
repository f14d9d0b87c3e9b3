//! Buffers text until it is known whether it is part of an answer.

use crate::event::Event;

/// The pieces of text of the current reply, and the thought that may accompany an answer.
#[derive(Debug, Default)]
pub(super) struct AnswerBuffer(Vec<Event>);

impl AnswerBuffer {
    pub(super) fn push(&mut self, event: Event) {
        self.0.push(event);
    }

    /// Returns whether there is a thought: the pieces before it are a whole reply.
    pub(super) fn contains_thought(&self) -> bool {
        self.0
            .iter()
            .any(|event| matches!(event, Event::Thought { .. }))
    }

    /// Takes everything: it was not part of an answer.
    pub(super) fn drain(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.0)
    }

    /// Takes the thoughts alone, because the answer is emitted as a whole.
    pub(super) fn drain_thoughts(&mut self) -> Vec<Event> {
        let mut kept = self.drain();
        kept.retain(|event| matches!(event, Event::Thought { .. }));
        kept
    }

    /// Drops everything: it was part of a rejected answer or of an unusable reply.
    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}
