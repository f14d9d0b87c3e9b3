//! The events of a session.

use std::sync::OnceLock;
use std::time::Duration;

use contract_runtime::Status;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use crate::protocol::{CallKey, Refusal};
use crate::safeguards::Tripped;

/// An event of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionEvent {
    /// An executor has been accepted.
    Attached {
        /// The number of this connection of the task, from 1.
        epoch: u64,
        /// The tools that were refused.
        refused: Vec<Refusal>,
    },
    /// The connection to the executor broke.
    Lost {
        /// How long calls wait for the executor to come back.
        grace: Duration,
    },
    /// The executor did not come back in time; calls in flight ended.
    GivenUp,
    /// A call was stored, and is being sent.
    CallBegan {
        /// The key of the call.
        #[serde(flatten)]
        key: CallKey,
        /// The model's id of the call; a later attempt has the same id.
        call_id: String,
        /// The name of the tool.
        tool: String,
    },
    /// A progress report of a running call; a tool that reports more often than ten times a second is reported that
    /// often.
    CallProgress {
        /// The key of the call.
        #[serde(flatten)]
        key: CallKey,
        /// The model's id of the call.
        call_id: String,
        /// How much is done, in a unit of the tool's choice.
        done: f64,
        /// How much there is to do, if that is known.
        total: Option<f64>,
        /// What is being done; may be empty.
        message: String,
    },
    /// A call has ended.
    CallEnded {
        /// The key of the call.
        #[serde(flatten)]
        key: CallKey,
        /// How the call ended.
        #[schemars(with = "String")]
        status: Status,
    },
    /// A safeguard ended the run.
    Tripped(Tripped),
    /// The task is over.
    Finished {
        /// Whether it ended successfully.
        success: bool,
    },
}

/// How many events may wait for a receiver.
const CAPACITY: usize = 256;

/// Broadcasts the events of a session. The queue is allocated with the first subscription.
#[derive(Debug, Default)]
pub(super) struct Events(OnceLock<broadcast::Sender<SessionEvent>>);

impl Events {
    pub(super) fn emit(&self, event: SessionEvent) {
        if let Some(sender) = self.0.get() {
            // There may be no receiver left.
            let _ = sender.send(event);
        }
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<SessionEvent> {
        let sender = self.0.get_or_init(|| broadcast::Sender::new(CAPACITY));
        sender.subscribe()
    }
}
