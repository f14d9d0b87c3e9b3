//! Rules for what asks the history of a run.

use crate::errors::Errors;
use crate::model::{Clause, ClauseKind, Given};

/// A postcondition judges what has happened, when nothing can be refused any more.
pub(super) fn asked_before(errors: &mut Errors, clause: &Clause) {
    if let Some(used) = clause
        .history
        .as_ref()
        .filter(|_| clause.kind != ClauseKind::Pre)
    {
        errors.at(
            used.span,
            "a postcondition cannot ask the history; write it in a `#[pre]`, which can still refuse the call",
        );
    }
}

/// Only calls by name are remembered, and only tools are called by name.
pub(super) fn asked_of_a_tool(errors: &mut Errors, clauses: &[Clause], givens: &[Given]) {
    let conditions = clauses.iter().map(|clause| &clause.history);
    let asked = conditions.chain(givens.iter().map(|given| &given.history));
    for used in asked.flatten() {
        errors.at(
            used.span,
            "only a tool can ask the history, because only calls by name belong to a run; write `#[tool]` above the function, or take a `&History` as a parameter",
        );
    }
}
