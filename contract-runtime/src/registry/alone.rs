//! Refuses calls that must be the only ones of their turn, and are not.

use super::dispatch::PendingCall;
use super::inner::Inner;
use crate::contract::history::AloneProblem;
use crate::tool::failure::{FailureKind, Stopped};

impl Inner {
    /// How a call ends that its turn has no room for.
    #[inline]
    pub(super) fn alone_problem(&self, index: usize, pending: &PendingCall) -> Option<FailureKind> {
        if pending.context.is_empty() {
            return None;
        }
        self.problem_of_turn(index, pending)
    }

    fn problem_of_turn(&self, index: usize, pending: &PendingCall) -> Option<FailureKind> {
        let history = pending
            .context
            .history()
            .filter(|_| pending.mode.is_a_call())?;
        let alone = self
            .entries
            .get(index)
            .is_some_and(|entry| entry.tool.alone);
        history.take_turn(alone).err().map(refused)
    }
}

/// Nothing of the call ran, and the calls beside it go on.
pub(super) fn refused(problem: AloneProblem) -> FailureKind {
    FailureKind::Cancelled {
        reason: problem.reason(),
        stopped: Stopped::NotStarted,
    }
}
