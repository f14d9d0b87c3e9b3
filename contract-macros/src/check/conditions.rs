//! The rules of conditions.

use crate::errors::Errors;
use crate::model::{Clause, ClauseKind, Opaque, Portable};

/// What is demanded to be shown must be portable, every part of it.
pub(super) fn shown_if_demanded(errors: &mut Errors, clause: &Clause) {
    let Some(shown) = clause.shown.as_ref().filter(|shown| shown.value) else {
        return;
    };
    if clause.kind != ClauseKind::Pre {
        errors.at(shown.key, "a postcondition is always told; remove `shown`");
    }
    let mut parts = Vec::new();
    if let Some(portable) = &clause.portable {
        opaque(portable, &mut parts);
    }
    for part in parts {
        let Opaque {
            text,
            tokens,
            reason,
            advice,
        } = part;
        errors.on(
            tokens,
            format_args!("`{text}` is not portable: {reason}; {advice}, or remove `shown`"),
        );
    }
}

/// The parts that are not portable, each once.
fn opaque<'m>(portable: &'m Portable, found: &mut Vec<&'m Opaque>) {
    match portable {
        Portable::Opaque(part) if found.iter().all(|known| known.text != part.text) => {
            found.push(part);
        }
        other => {
            for part in other.parts() {
                opaque(part, found);
            }
        }
    }
}

/// Only a tool has a schema that could show it.
pub(super) fn never_shown(errors: &mut Errors, clause: &Clause) {
    if let Some(shown) = clause.shown.as_ref().filter(|shown| shown.value) {
        errors.at(
            shown.key,
            "only the conditions of a tool are shown to a model; remove `shown`",
        );
    }
}
