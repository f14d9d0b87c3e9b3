//! The messages between backends.

use serde::{Deserialize, Serialize};

use crate::protocol::{BackendMessage, ExecutorMessage, Handshake, TaskId};

/// A message between backends; it may be lost or duplicated.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum ClusterMessage {
    /// To the owner: an executor has connected to this backend.
    Attached {
        epoch: u64,
        #[serde(rename = "host")]
        gateway: String,
        handshake: Box<Handshake>,
    },
    /// To the owner: a message of its executor. Numbered from 1, to detect lost messages.
    Heard {
        task: TaskId,
        epoch: u64,
        number: u64,
        message: ExecutorMessage,
    },
    /// To the owner: how many messages were forwarded, to detect the loss of the last one.
    HeardUpTo {
        task: TaskId,
        epoch: u64,
        number: u64,
    },
    /// To the owner: the connection ended.
    Lost { task: TaskId, epoch: u64 },
    /// To the gateway: a message for the executor. Numbered from 1.
    Say {
        #[serde(rename = "home")]
        owner: String,
        task: TaskId,
        epoch: u64,
        number: u64,
        message: BackendMessage,
    },
    /// To the gateway: how many messages were sent, to detect the loss of the last one.
    SayUpTo {
        task: TaskId,
        epoch: u64,
        number: u64,
    },
    /// To the gateway: close the connection, if it is of this epoch or an earlier one. To an earlier owner: check who owns
    /// the task now.
    Over {
        task: TaskId,
        epoch: u64,
        reason: Reason,
    },
}

/// Why the owner closes a connection to another backend.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::backend) enum Reason {
    /// Another executor has superseded it.
    TakenOver,
    /// The task has a new owner, which needs a handshake.
    Moved,
    /// The owner rejected it.
    Refused(String),
}

impl Reason {
    /// Returns the reason when a later connection exists. If it is of the same executor, that may have abandoned it, so it
    /// is asked to reconnect.
    pub(in crate::backend) fn taken_over(by_itself: bool) -> Self {
        if by_itself {
            Self::Moved
        } else {
            Self::TakenOver
        }
    }
}

/// Where a message is in the sequence of its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::backend) enum SequenceCheck {
    Next,
    /// It was received before.
    Duplicate,
    /// An earlier one is missing: only a handshake can resolve that. Reported once.
    Gap,
}

impl SequenceCheck {
    pub(in crate::backend) fn of(heard: &mut u64, number: u64) -> Self {
        if number <= *heard {
            return Self::Duplicate;
        }
        if number > *heard + 1 {
            *heard = u64::MAX;
            return Self::Gap;
        }
        *heard = number;
        Self::Next
    }

    /// Whether messages are missing. Reported once.
    pub(in crate::backend) fn is_behind(heard: &mut u64, number: u64) -> bool {
        let is_behind = *heard < number;
        if is_behind {
            *heard = u64::MAX;
        }
        is_behind
    }
}
