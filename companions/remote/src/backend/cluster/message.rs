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
    /// To the home: its executor says this. Counted from 1: one that is missing may come after others.
    Heard {
        task: TaskId,
        epoch: u64,
        number: u64,
        message: ExecutorMessage,
    },
    /// To the home: so many messages its executor has said. The last may be lost, and none after it tells.
    HeardUpTo {
        task: TaskId,
        epoch: u64,
        number: u64,
    },
    /// To the home: the connection broke.
    Lost { task: TaskId, epoch: u64 },
    /// To the host: tell the executor. Counted from 1.
    Say {
        home: String,
        task: TaskId,
        epoch: u64,
        number: u64,
        message: BackendMessage,
    },
    /// To the host: so many messages it was to tell the executor.
    SayUpTo {
        task: TaskId,
        epoch: u64,
        number: u64,
    },
    /// To the host: end the connection, if it is of this epoch or an earlier one. To an earlier home: look who it is now.
    Over {
        task: TaskId,
        epoch: u64,
        reason: Reason,
    },
}

/// Why a connection is ended from afar.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(in crate::remote::backend) enum Reason {
    /// Another executor, or another connection of the same, has taken over.
    TakenOver,
    /// The task has a new home, which needs a handshake.
    Moved,
    /// The home did not take it.
    Refused(String),
}

impl Reason {
    /// Where an executor is ended by another connection of its own, it may have left that one behind: it dials again.
    pub(in crate::remote::backend) fn taken_over(by_itself: bool) -> Self {
        if by_itself {
            Self::Moved
        } else {
            Self::TakenOver
        }
    }
}

/// Which of a connection's messages has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::remote::backend) enum Order {
    Next,
    /// It came before.
    Again,
    /// One before it did not come, or not yet: only a handshake says what it was. Said once.
    Gap,
}

impl Order {
    pub(in crate::remote::backend) fn of(heard: &mut u64, number: u64) -> Self {
        if number <= *heard {
            return Self::Again;
        }
        if number > *heard + 1 {
            *heard = u64::MAX;
            return Self::Gap;
        }
        *heard = number;
        Self::Next
    }

    /// Whether fewer have come than were written. Said once.
    pub(in crate::remote::backend) fn is_behind(heard: &mut u64, number: u64) -> bool {
        let is_behind = *heard < number;
        if is_behind {
            *heard = u64::MAX;
        }
        is_behind
    }
}
