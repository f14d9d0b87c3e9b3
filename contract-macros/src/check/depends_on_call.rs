//! What a condition speaks of.

use crate::errors::Errors;
use crate::model::{Clause, ClauseKind};

/// A condition that names nothing of the call says nothing of it.
pub(super) fn of_the_call(errors: &mut Errors, clause: &Clause) {
    let message = match clause.kind {
        _ if clause.speaks => return,
        ClauseKind::Pre => {
            "a precondition must speak of a parameter; check anything else in the body, with `contract_assert!`"
        }
        ClauseKind::Post | ClauseKind::PostErr => {
            "a postcondition must speak of the result or of a parameter; check anything else in the body, with `contract_assert!`"
        }
    };
    errors.on(&clause.predicate, message);
}
