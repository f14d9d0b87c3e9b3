//! Rejects conditions that refer to nothing of the call.

use crate::errors::Errors;
use crate::model::{Clause, ClauseKind};

/// A condition that names nothing of the call says nothing of it.
pub(super) fn of_the_call(errors: &mut Errors, clause: &Clause) {
    let message = match clause.kind {
        _ if clause.depends_on_call => return,
        ClauseKind::Pre => {
            "a precondition must refer to a parameter; check anything else in the body, with `contract_assert!`"
        }
        ClauseKind::Post | ClauseKind::PostErr => {
            "a postcondition must refer to the result or to a parameter; check anything else in the body, with `contract_assert!`"
        }
    };
    errors.on(&clause.predicate, message);
}
