//! Turns: the calls of one reply of a model.

use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use super::records::RunHistory;

/// The calls of one turn that has more than one, or may have: none yet, ordinary ones, or one that must be the only one.
#[derive(Debug, Default)]
pub(super) struct Turn(AtomicU8);

const NONE: u8 = 0;
const ORDINARY: u8 = 1;
const ALONE: u8 = 2;

/// Why a call cannot be made in its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AloneProblem {
    /// It has to be the only one, and is not.
    HasOthers,
    /// An earlier one had to be the only one.
    FollowsOne,
}

impl AloneProblem {
    /// Says why the call was not made, and what to do.
    pub(crate) const fn reason(self) -> &'static str {
        match self {
            Self::HasOthers => {
                "this tool must be the only call of its turn; call it again, without any other call beside it"
            }
            Self::FollowsOne => {
                "an earlier call of the same turn must be its only one; call this tool again in the next turn"
            }
        }
    }
}

impl RunHistory {
    /// The same history, for the calls of one turn that begins now.
    pub(crate) fn turn(&self) -> Self {
        let mut run = self.as_of_now();
        run.turn = Some(Arc::default());
        run
    }

    /// The same history, in the turn that it is in or in one that begins now.
    pub(crate) fn in_turn(&self) -> Self {
        match self.turn {
            Some(_) => self.clone(),
            None => self.turn(),
        }
    }

    /// Takes a call into its turn.
    pub(crate) fn take_turn(&self, alone: bool) -> Result<(), AloneProblem> {
        let Some(turn) = &self.turn else {
            return Ok(());
        };
        let own = if alone { ALONE } else { ORDINARY };
        let order = Ordering::AcqRel;
        match turn.0.compare_exchange(NONE, own, order, Ordering::Acquire) {
            Err(ALONE) => Err(AloneProblem::FollowsOne),
            Err(_) if alone => Err(AloneProblem::HasOthers),
            Ok(_) | Err(_) => Ok(()),
        }
    }
}
