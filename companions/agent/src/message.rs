//! The messages of a conversation.

use std::sync::Arc;

use contract_runtime::__family::MAY_HAVE_TAKEN_EFFECT;
use contract_runtime::{Effect, Status, ToolCall};
use parking_lot::Mutex;
use serde::{Deserialize, Deserializer, Serialize};

use super::model::Reasoning;

/// One message in a conversation with a model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// The program's general instructions to the model.
    System {
        /// The text.
        text: String,
        /// Whether an inner agent wrote it. The next agent that continues the conversation replaces it by its own instructions.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        by_agent: bool,
    },
    /// A message of the user, or of a contract to the model.
    User {
        /// The text.
        text: String,
    },
    /// A message of the model.
    Assistant {
        /// The text; may be empty beside calls.
        text: String,
        /// The tools it calls, in the model's order.
        #[serde(
            default,
            skip_serializing_if = "Vec::is_empty",
            deserialize_with = "written_calls"
        )]
        calls: Vec<ToolCall>,
        /// What the model thought before it spoke, for the provider that gave it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reasoning: Option<Reasoning>,
    },
    /// The outcome of a call.
    Tool {
        /// The id of the call.
        call_id: String,
        /// The name by which the tool was called.
        tool: String,
        /// How the call ended.
        status: Status,
        /// Whether it took effect; `unknown` where a record does not say.
        #[serde(default)]
        effect: Effect,
        /// The text that the model reads.
        text: String,
    },
}

impl Message {
    pub(super) const fn is_by_agent(&self) -> bool {
        matches!(self, Self::System { by_agent: true, .. })
    }

    fn characters(&self) -> u64 {
        let count = |text: &str| text.chars().count() as u64;
        match self {
            Self::System { text, .. } | Self::User { text } | Self::Tool { text, .. } => {
                count(text)
            }
            Self::Assistant { text, calls, .. } => {
                let calls = calls.iter();
                let calls = calls.map(|call| count(&call.name) + count(&call.arguments));
                count(text) + calls.sum::<u64>()
            }
        }
    }
}

/// The messages of one run, in order; clones share them.
#[derive(Clone, Debug, Default)]
pub struct Conversation(Arc<Mutex<History>>);

#[derive(Debug, Default)]
struct History {
    messages: Arc<Vec<Message>>,
    /// How many of them are older than the run.
    past: usize,
    characters: u64,
}

impl Conversation {
    /// Continues from earlier messages.
    #[must_use]
    pub fn from_messages(messages: impl IntoIterator<Item = Message>) -> Self {
        let conversation = Self::default();
        conversation.begin(messages);
        conversation
    }

    /// Begins with these messages, in place of those that it has.
    pub(super) fn begin(&self, messages: impl IntoIterator<Item = Message>) {
        let messages: Vec<Message> = messages.into_iter().collect();
        *self.0.lock() = History {
            past: messages.len(),
            characters: messages.iter().map(Message::characters).sum(),
            messages: Arc::new(messages),
        };
    }

    /// Adds a message.
    pub fn push(&self, message: Message) {
        self.append(message);
    }

    /// Adds a message, and gives its place.
    pub(super) fn append(&self, message: Message) -> usize {
        let mut said = self.0.lock();
        said.characters += message.characters();
        let messages = Arc::make_mut(&mut said.messages);
        messages.push(message);
        messages.len() - 1
    }

    /// Puts the instructions of an agent behind those of the program, in the place of any that an agent put there before.
    pub(super) fn instruct(&self, own: Option<String>) {
        let mut said = self.0.lock();
        let own = own.map(|text| Message::System {
            text,
            by_agent: true,
        });
        let mut messages = said.messages.to_vec();
        messages.retain(|message| !message.is_by_agent());
        let is_system = |message: &&Message| matches!(message, Message::System { .. });
        let place = messages.iter().take_while(is_system).count();
        messages.splice(place..place, own);
        said.past = said.past + messages.len() - said.messages.len();
        said.characters = messages.iter().map(Message::characters).sum();
        said.messages = Arc::new(messages);
    }

    /// Answers every call that has no outcome, because providers refuse a conversation with one.
    pub(super) fn answer_open_calls(&self) {
        let mut said = self.0.lock();
        let messages = with_open_calls_answered(&said.messages);
        if messages.len() > said.messages.len() {
            said.past += messages.len() - said.messages.len();
            said.characters = messages.iter().map(Message::characters).sum();
            said.messages = Arc::new(messages);
        }
    }

    /// Returns all messages so far, without copying them.
    #[must_use]
    pub fn messages(&self) -> Arc<Vec<Message>> {
        Arc::clone(&self.0.lock().messages)
    }

    /// How many of the messages are instructions of an agent, which stand before every reply.
    pub(super) fn instructions(&self) -> usize {
        let messages = self.messages();
        messages
            .iter()
            .filter(|message| message.is_by_agent())
            .count()
    }

    /// The place that a message has in the log, which leaves out the instructions of an agent.
    pub(super) fn place_in_log(&self, place: usize) -> usize {
        let messages = self.messages();
        let before = messages.iter().take(place);
        before.filter(|message| !message.is_by_agent()).count()
    }

    /// The messages behind the first `kept`, without the instructions of an agent.
    pub(super) fn since(&self, kept: usize) -> Vec<Message> {
        let messages = self.messages();
        let kept_messages = messages.iter().filter(|message| !message.is_by_agent());
        kept_messages.skip(kept).cloned().collect()
    }

    /// How many messages are older than the run, instructions among them.
    pub(super) fn past(&self) -> usize {
        self.0.lock().past
    }

    /// The characters of all messages so far: of their texts, and of the names and arguments of calls.
    pub(super) fn characters(&self) -> u64 {
        self.0.lock().characters
    }
}

/// Returns the messages with an outcome for each call that has none.
pub(super) fn with_open_calls_answered(messages: &[Message]) -> Vec<Message> {
    let mut answered = Vec::with_capacity(messages.len());
    let mut open: Vec<&ToolCall> = Vec::new();
    for message in messages {
        if let Message::Tool { call_id, .. } = message {
            if let Some(place) = open.iter().position(|call| call.id == *call_id) {
                open.remove(place);
            }
        } else {
            answered.extend(open.drain(..).map(not_known));
        }
        if let Message::Assistant { calls, .. } = message {
            open.extend(calls);
        }
        answered.push(message.clone());
    }
    answered.extend(open.drain(..).map(not_known));
    answered
}

/// The outcome of a call of an earlier run, whose record does not say what came of it.
pub(super) fn not_known(call: &ToolCall) -> Message {
    Message::Tool {
        call_id: call.id.clone(),
        tool: call.name.clone(),
        status: Status::Cancelled,
        effect: Effect::Unknown,
        text: format!("this call was not answered; {MAY_HAVE_TAKEN_EFFECT}"),
    }
}

/// A call as events and messages hold it. The forms of the wire, with arguments as they were sent, cannot be read from
/// what serde has buffered to look for a tag.
#[derive(Deserialize)]
struct SerializedCall {
    id: String,
    name: String,
    arguments: String,
}

impl From<SerializedCall> for ToolCall {
    fn from(written: SerializedCall) -> Self {
        Self::new(written.id, written.name, written.arguments)
    }
}

pub(super) fn written_call<'de, D: Deserializer<'de>>(from: D) -> Result<ToolCall, D::Error> {
    SerializedCall::deserialize(from).map(ToolCall::from)
}

fn written_calls<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<ToolCall>, D::Error> {
    let written = Vec::<SerializedCall>::deserialize(from)?;
    Ok(written.into_iter().map(ToolCall::from).collect())
}
