//! Rejects conditions that are the same for every call.

use crate::errors::Errors;
use crate::model::Clause;

/// A condition over constants alone refuses every call, or none.
pub(super) fn varies(errors: &mut Errors, clause: &Clause) {
    if clause.is_constant {
        errors.on(
            &clause.predicate,
            "this condition is the same for every call; refer to a parameter or to state, or write `const { assert!(..) }` in the body",
        );
    }
}
