//! What must not be told before it is known whether it is part of an answer.

use crate::agent::event::Event;

/// Pieces of text, and the thought that may stand beside an answer, of the reply that is being read.
#[derive(Debug, Default)]
pub(super) struct KeptBack(Vec<Event>);

impl KeptBack {
    pub(super) fn keep(&mut self, event: Event) {
        self.0.push(event);
    }

    /// Whether a thought is kept: the pieces before it are those of a whole reply.
    pub(super) fn holds_a_thought(&self) -> bool {
        self.0
            .iter()
            .any(|event| matches!(event, Event::Thought { .. }))
    }

    /// Everything: it was no part of an answer.
    pub(super) fn all(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.0)
    }

    /// Without the pieces, because the answer is told as a whole.
    pub(super) fn thoughts(&mut self) -> Vec<Event> {
        let mut kept = self.all();
        kept.retain(|event| matches!(event, Event::Thought { .. }));
        kept
    }

    /// Nothing of it is told.
    pub(super) fn forget(&mut self) {
        self.0.clear();
    }
}
