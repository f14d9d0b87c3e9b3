//! JSON-RPC batches over stdio.

use std::collections::{HashSet, VecDeque};

use rmcp::model::RequestId;

/// The batches in progress: the messages of an array are read one by one, and answered with one array when all of them are
/// answered (JSON-RPC 2.0, section 6).
#[derive(Default)]
pub(super) struct Batches {
    /// The last one may still be read.
    open: Vec<Batch>,
}

struct Batch {
    unread: VecDeque<Vec<u8>>,
    waiting: HashSet<RequestId>,
    answers: Vec<Vec<u8>>,
}

impl Batches {
    pub(super) fn begin(&mut self, messages: Vec<Vec<u8>>) {
        self.open.push(Batch {
            unread: messages.into(),
            waiting: HashSet::new(),
            answers: Vec::new(),
        });
    }

    /// Takes the next message of the batch that is being read.
    pub(super) fn next(&mut self) -> Option<Vec<u8>> {
        self.open.last_mut()?.unread.pop_front()
    }

    /// Notes that the message read last is a request.
    pub(super) fn wait(&mut self, id: &RequestId) {
        if let Some(batch) = self.open.last_mut() {
            batch.waiting.insert(id.clone());
        }
    }

    /// Notes the answer to the message read last.
    pub(super) fn refuse(&mut self, answer: Vec<u8>) {
        if let Some(batch) = self.open.last_mut() {
            batch.answers.push(answer);
        }
    }

    /// Returns the array of answers, if the message read last completed the batch.
    pub(super) fn read(&mut self) -> Option<Vec<u8>> {
        self.complete(self.open.len().checked_sub(1)?)
    }

    /// Stores the answer to a request of a batch, and returns the array that it completes; returns an answer to any other request.
    pub(super) fn answer(
        &mut self,
        id: &RequestId,
        answer: Vec<u8>,
    ) -> Result<Option<Vec<u8>>, Vec<u8>> {
        let Some(place) = self.of(id) else {
            return Err(answer);
        };
        if let Some(batch) = self.open.get_mut(place) {
            batch.answers.push(answer);
        }
        Ok(self.complete(place))
    }

    /// Removes a request that gets no answer, and returns the array that this completes.
    pub(super) fn cancel(&mut self, id: &RequestId) -> Option<Vec<u8>> {
        let place = self.of(id)?;
        self.complete(place)
    }

    /// Removes a request from its batch, and returns the index of the batch.
    fn of(&mut self, id: &RequestId) -> Option<usize> {
        let mut open = self.open.iter_mut();
        open.position(|batch| batch.waiting.remove(id))
    }

    fn complete(&mut self, place: usize) -> Option<Vec<u8>> {
        let batch = self.open.get(place)?;
        if !batch.unread.is_empty() || !batch.waiting.is_empty() {
            return None;
        }
        let answers = self.open.remove(place).answers;
        // Nothing was asked, so there is nothing to answer.
        (!answers.is_empty()).then(|| array(&answers))
    }
}

fn array(answers: &[Vec<u8>]) -> Vec<u8> {
    let mut text = vec![b'['];
    text.extend_from_slice(&answers.join(&b','));
    text.push(b']');
    text
}
