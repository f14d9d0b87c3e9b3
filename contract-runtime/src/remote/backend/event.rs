use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

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
        /// The name of the tool.
        tool: String,
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
