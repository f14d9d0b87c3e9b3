//! Arguments that are just accepted and arguments that are just refused, recorded once and held to from then on.
//!
//! Four forms of one condition agree about a bound that is wrong in all of them, and a bound that became tighter shuts out
//! the very inputs that a promise would have been tried with. What was accepted and refused before tells both.
//!
//! | file | what is in it |
//! |---|---|
//! | `find` | which arguments are worth recording |
//! | `between` | from an accepted input and a refused one to two neighbours |
//! | `file` | how they are written |

mod between;
mod file;
mod find;

use std::path::Path;

use serde_json::Value;

use super::problem::{Fault, Layer, Problem};
use super::subject::Subject;
use crate::contract::policy::Policy;

pub(super) use find::find;

/// The most inputs of one tool that are reported as newly accepted: which condition let them in cannot be seen.
const SHOWN: usize = 3;

/// What lies at the edge of what a tool accepts.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Edges {
    pub(super) accepts: Vec<Value>,
    pub(super) refuses: Vec<Value>,
}

impl Edges {
    /// Those of one tool, if they were recorded.
    ///
    /// # Errors
    ///
    /// What is wrong with the file, if it is there and cannot be read.
    pub(super) fn load(path: &Path, tool: &str) -> Result<Self, String> {
        file::load(path, tool)
    }

    /// Records them in the place of those that were there.
    ///
    /// # Errors
    ///
    /// What is wrong with the place, if nothing can be written there.
    pub(super) fn save(&self, path: &Path, tool: &str) -> Result<(), String> {
        file::save(path, tool, self)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Value> {
        self.accepts.iter().chain(&self.refuses)
    }

    /// What is judged otherwise than when it was recorded: of each condition one input that it refuses now, and some that
    /// are accepted now.
    pub(super) fn moved(&self, subject: &Subject<'_>) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        let problem = |clause, input: &Value, fault| Problem {
            tool: subject.name().to_owned(),
            layer: Layer::Meaning,
            clause,
            input: Some(input.clone()),
            fault,
        };
        for input in &self.accepts {
            let outcome = subject.check(input, Policy::Enforce);
            if outcome.is_ok() {
                continue;
            }
            let clause = outcome
                .violation()
                .map(|violation| violation.contract.clone());
            if problems.iter().all(|known| known.clause != clause) {
                let message = outcome.error().unwrap_or_default();
                problems.push(problem(clause, input, Fault::NowRefused { message }));
            }
        }
        let let_in = self.refuses.iter().filter(|input| subject.accepts(input));
        problems.extend(
            let_in
                .take(SHOWN)
                .map(|input| problem(None, input, Fault::NowAccepted)),
        );
        problems
    }
}
