use std::sync::OnceLock;
use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::broadcast;

use crate::Status;
use crate::remote::protocol::{CallKey, Refusal};
use crate::remote::safeguards::Tripped;

/// What happens to a session, for whoever watches it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum SessionEvent {
    /// An executor has been let in.
    Attached {
        /// Counts the connections of the task, from 1.
        epoch: u64,
        /// The tools that were not taken.
        refused: Vec<Refusal>,
    },
    /// The connection to the executor broke.
    Lost {
        /// How long calls wait for it to come back.
        grace: Duration,
    },
    /// It did not come back in time; calls that were under way ended.
    GivenUp,
    /// A call was written down, and is sent.
    CallBegan {
        /// Which.
        #[serde(flatten)]
        key: CallKey,
        /// The model's id of it; a later attempt has the same.
        call_id: String,
        /// The name of the tool.
        tool: String,
    },
    /// A call that is under way has come so far; a tool that reports more often than ten times a second is heard that often.
    CallProgress {
        /// Which.
        #[serde(flatten)]
        key: CallKey,
        /// The model's id of it.
        call_id: String,
        /// How much is done, in a unit of the tool's own.
        done: f64,
        /// How much there is to do, where it is known.
        total: Option<f64>,
        /// In words; may be empty.
        message: String,
    },
    /// A call has ended.
    CallEnded {
        /// Which.
        #[serde(flatten)]
        key: CallKey,
        /// How.
        #[schemars(with = "String")]
        status: Status,
    },
    /// A safeguard ends the run.
    Tripped(Tripped),
    /// The task is over.
    Finished {
        /// Whether it ended as it was meant to.
        success: bool,
    },
}

/// How many events may wait for one who watches.
const WAITING: usize = 256;

/// Tells those who watch a session. The room for what waits is there once somebody does.
#[derive(Debug, Default)]
pub(super) struct Events(OnceLock<broadcast::Sender<SessionEvent>>);

impl Events {
    pub(super) fn tell(&self, event: SessionEvent) {
        if let Some(watched) = self.0.get() {
            // Whoever watched may have gone.
            let _ = watched.send(event);
        }
    }

    pub(super) fn subscribe(&self) -> broadcast::Receiver<SessionEvent> {
        let watched = self.0.get_or_init(|| broadcast::Sender::new(WAITING));
        watched.subscribe()
    }
}
