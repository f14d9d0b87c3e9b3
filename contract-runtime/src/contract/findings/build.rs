//! Entry points for generated code.

use super::abstract_state::AbstractState;
use super::judge::{Contradiction, contradiction};
use crate::contract::condition::Condition;
use crate::contract::type_kind::TypeKind;

/// What the compiler found in the preconditions of one function.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    conditions: &'static [Condition],
    found: Option<Contradiction>,
}

impl Judged {
    pub(crate) const fn new(conditions: &'static [Condition], facts: &AbstractState<'_>) -> Self {
        Self {
            conditions,
            found: contradiction(facts, conditions),
        }
    }
}

/// Judges the preconditions of a function over parameters of these types.
#[must_use]
pub const fn judge(
    conditions: &'static [Condition],
    parameters: &[(&'static str, TypeKind)],
) -> Judged {
    let mut facts = AbstractState::new(&[]);
    let mut rest = parameters;
    while let Some(((name, kind), others)) = rest.split_first() {
        facts.typed(name, *kind);
        rest = others;
    }
    Judged::new(conditions, &facts)
}

/// Ends the build where the condition of this index stands, if it is the one to be blamed.
///
/// # Panics
///
/// That is how a constant ends a build.
#[track_caller]
pub const fn report(judged: &Judged, index: usize) {
    if let Some(found) = judged.found
        && found.later == index
    {
        panic!("{}", found.message(judged.conditions).text());
    }
}
