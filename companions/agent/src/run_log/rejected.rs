//! Answers that only the model may read.

use serde::{Deserialize, Serialize};

use crate::message::Message;

/// An answer that broke a condition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Rejected {
    pub(crate) answer: String,
    /// The feedback for the model, which may quote the answer.
    pub(crate) feedback: String,
    /// Which message of the log holds it, where the inner agent said so.
    pub(crate) place: Option<usize>,
    /// How many messages of the log are older than its run.
    pub(crate) past: usize,
}

/// Begins the feedback on a rejected answer; what follows may quote the answer.
pub(crate) const REFUSED: &str = "this answer was rejected: ";

/// Replaces a rejected answer.
const REJECTED: &str = "(a rejected answer)";

/// Returns messages as others than the model may read them. The first `instructions` of them are not in the log.
pub(crate) fn published(
    messages: &[Message],
    instructions: usize,
    rejected: &[Rejected],
) -> Vec<Message> {
    let mut said = messages.to_vec();
    for one in rejected {
        match one.place {
            Some(place) => hide_at(&mut said, instructions + place, one),
            None => said
                .iter_mut()
                .skip(instructions + one.past)
                .for_each(|message| hide_in(message, one)),
        }
    }
    said
}

/// Hides the message of an answer, and the feedback on it.
fn hide_at(messages: &mut [Message], place: usize, rejected: &Rejected) {
    let mut after = messages.iter_mut().skip(place);
    if let Some(Message::Assistant {
        text, reasoning, ..
    }) = after.next()
    {
        *reasoning = None;
        REJECTED.clone_into(text);
    }
    if let Some(Message::User { text }) = after.next()
        && text.contains(&rejected.feedback)
    {
        REFUSED.clone_into(text);
    }
}

/// Hides every message that holds the answer, if it is not known which one does.
fn hide_in(message: &mut Message, rejected: &Rejected) {
    match message {
        Message::Assistant {
            text, reasoning, ..
        } if !rejected.answer.is_empty() && text.contains(&rejected.answer) => {
            *reasoning = None;
            REJECTED.clone_into(text);
        }
        Message::User { text } if text.contains(&rejected.feedback) => REFUSED.clone_into(text),
        _ => {}
    }
}
