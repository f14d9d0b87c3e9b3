//! Records accepted and refused arguments at each boundary, and compares later runs with them.
//!
//! The forms of a condition agree on a bound that is wrong in all of them, and a bound that became tighter refuses the very inputs
//! that would have shown a broken postcondition. A record of what was accepted and refused before detects both.
//!
//! | file | what is in it |
//! |---|---|
//! | `find` | which arguments are worth recording |
//! | `bisect` | from an accepted input and a refused one to two neighbours |
//! | `readable` | short, round values in their place |
//! | `file` | the file format |

mod bisect;
mod file;
mod find;
mod readable;

use std::path::Path;

use serde_json::Value;

pub(super) use find::find;

use super::problem::{Fault, Layer, Problem};
use super::subject::Subject;

/// The most newly accepted inputs that are reported for one tool, because the condition that changed is unknown.
const SHOWN: usize = 3;

/// The accepted and the refused inputs at the boundaries of a tool.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Boundaries {
    pub(super) accepts: Vec<Value>,
    pub(super) refuses: Vec<Value>,
}

impl Boundaries {
    /// Loads those of one tool, if they were recorded.
    ///
    /// # Errors
    ///
    /// What is wrong with the file, if it is there and cannot be read.
    pub(super) fn load(path: &Path, tool: &str) -> Result<Self, String> {
        file::load(path, tool)
    }

    /// Replaces the recorded ones.
    ///
    /// # Errors
    ///
    /// Why the file cannot be written.
    pub(super) fn save(&self, path: &Path, tool: &str) -> Result<(), String> {
        file::save(path, tool, self)
    }

    pub(super) fn all(&self) -> impl Iterator<Item = &Value> {
        self.accepts.iter().chain(&self.refuses)
    }

    /// The changes since they were recorded: for each condition one input that it now refuses, and some that are now accepted.
    pub(super) fn moved(&self, subject: &Subject<'_>) -> Vec<Problem> {
        let mut problems: Vec<Problem> = Vec::new();
        let problem = |clause, input: &Value, fault| Problem {
            layer: Layer::Meaning,
            clause,
            input: Some(input.clone()),
            ..Problem::of(subject.name(), fault)
        };
        for input in &self.accepts {
            let Some((clause, message)) = subject.refusal(input) else {
                continue;
            };
            if problems.iter().all(|known| known.clause != clause) {
                problems.push(problem(clause, input, Fault::NowRefused { message }));
            }
        }
        let refuses = self.refuses.iter();
        let let_in = refuses.filter(|input| subject.refusal(input).is_none());
        problems.extend(
            let_in
                .take(SHOWN)
                .map(|input| problem(None, input, Fault::NowAccepted)),
        );
        problems
    }
}
