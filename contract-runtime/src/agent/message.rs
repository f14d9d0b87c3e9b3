//! What has been said in a run.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Deserializer, Serialize};

use crate::tool::{Status, ToolCall};

/// One thing said in a conversation with a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// What the program wants of the model in general.
    System {
        /// The text.
        text: String,
    },
    /// What the user says, and what a contract says to the model.
    User {
        /// The text.
        text: String,
    },
    /// What the model says.
    Assistant {
        /// The text; may be empty beside calls.
        text: String,
        /// The tools it calls, in its order.
        #[serde(
            default,
            skip_serializing_if = "Vec::is_empty",
            deserialize_with = "written_calls"
        )]
        calls: Vec<ToolCall>,
    },
    /// What came of a call.
    Tool {
        /// The id of the call.
        call_id: String,
        /// The name by which the tool was called.
        tool: String,
        /// How the call ended.
        status: Status,
        /// What the model reads.
        text: String,
    },
}

/// The messages of one run, in order; clones are the same conversation.
#[derive(Clone, Debug, Default)]
pub struct Conversation(Arc<Mutex<Arc<Vec<Message>>>>);

impl Conversation {
    /// Goes on from what was said before.
    #[must_use]
    pub fn from_messages(messages: impl IntoIterator<Item = Message>) -> Self {
        let messages = messages.into_iter().collect();
        Self(Arc::new(Mutex::new(Arc::new(messages))))
    }

    /// Adds a message.
    pub fn push(&self, message: Message) {
        self.append(message);
    }

    /// Adds a message, and gives its place.
    pub(super) fn append(&self, message: Message) -> usize {
        let mut messages = self.locked();
        let messages = Arc::make_mut(&mut messages);
        messages.push(message);
        messages.len() - 1
    }

    /// All messages so far, without a copy.
    #[must_use]
    pub fn messages(&self) -> Arc<Vec<Message>> {
        Arc::clone(&self.locked())
    }

    fn locked(&self) -> MutexGuard<'_, Arc<Vec<Message>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call as events and messages hold it. The forms of the wire, with arguments as they were sent, cannot be read from
/// what serde has buffered to look for a tag.
#[derive(Deserialize)]
struct Written {
    id: String,
    name: String,
    arguments: String,
}

impl From<Written> for ToolCall {
    fn from(written: Written) -> Self {
        Self::new(written.id, written.name, written.arguments)
    }
}

pub(super) fn written_call<'de, D: Deserializer<'de>>(from: D) -> Result<ToolCall, D::Error> {
    Written::deserialize(from).map(ToolCall::from)
}

fn written_calls<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<ToolCall>, D::Error> {
    let written = Vec::<Written>::deserialize(from)?;
    Ok(written.into_iter().map(ToolCall::from).collect())
}
