use serde::{Deserialize, Serialize};

use crate::remote::protocol::{BackendMessage, ExecutorMessage, Handshake, TaskId};

/// What backends write to each other; each may be lost, and each may come twice.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Letter {
    /// To the home: an executor has dialled in here.
    Attached {
        epoch: u64,
        host: String,
        handshake: Box<Handshake>,
    },
    /// To the home: its executor says this.
    Heard {
        task: TaskId,
        epoch: u64,
        message: ExecutorMessage,
    },
    /// To the home: the connection broke.
    Lost { task: TaskId, epoch: u64 },
    /// To the host: tell the executor.
    Say {
        task: TaskId,
        epoch: u64,
        message: BackendMessage,
    },
    /// To the host: end the connection, if it is of this epoch or an earlier one.
    Over {
        task: TaskId,
        epoch: u64,
        reason: Reason,
    },
}

/// Why a connection is ended from afar.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reason {
    /// Another executor, or another connection of the same, has taken over.
    TakenOver,
    /// The task has a new home, which needs a handshake.
    Moved,
    /// The home did not take it.
    Refused(String),
}
