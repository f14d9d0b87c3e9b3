//! Everything that is wrong with the arguments of a call.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::error_position::ErrorPosition;
use super::escape::{clip, escaped};
use super::problem::{ArgumentProblem, ProblemKind};

/// Problems that are kept; the rest is counted.
pub(super) const KEPT: usize = 20;

/// The most characters of the whole refusal in words.
const LONGEST: usize = 2_000;

/// The most characters of one problem in words, so that the second is still read.
const LONGEST_SENTENCE: usize = 600;

/// The most characters of what a type says about a value it refuses.
const LONGEST_REASON: usize = 200;

/// Everything that is wrong with the arguments of a call, found in one pass.
///
/// At most 20 problems are kept; [`total`](Self::total) counts all of them. `Display` gives one line per
/// problem, in at most 2,000 characters, and says how many are left out.
///
/// ```
/// use contract_runtime::ProblemKind;
/// use contract_runtime::prelude::*;
///
/// /// Halve a number.
/// #[tool]
/// #[pre(number % 2 == 0, "only even numbers are halved")]
/// fn halve(number: u8) -> u8 {
///     number / 2
/// }
///
/// let registry = Registry::builder().tool(halve).build()?;
/// let call = |arguments| registry.call(ToolCall::new("1", "halve", arguments)).blocking();
/// let outcome = call(r#"{"number": 256, "nubmer": 1}"#);
/// let invalid = outcome.invalid_arguments().unwrap();
/// let kinds: Vec<_> = invalid.problems().iter().map(|problem| problem.kind).collect();
/// assert!(kinds.contains(&ProblemKind::Range) && kinds.contains(&ProblemKind::Unknown));
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct InvalidArguments {
    problems: Vec<ArgumentProblem>,
    total: usize,
}

impl InvalidArguments {
    pub(super) fn new(mut problems: Vec<ArgumentProblem>, total: usize) -> Self {
        let total = total.max(problems.len());
        problems.truncate(KEPT);
        Self { problems, total }
    }

    /// With further problems. What a type only says it refuses, a further problem at the same place explains.
    pub(super) fn with(mut self, further: Vec<ArgumentProblem>) -> Self {
        for problem in further {
            let same = |known: &ArgumentProblem| known.pointer == problem.pointer;
            match self.problems.iter_mut().find(|known| same(known)) {
                Some(known) if known.kind == ProblemKind::Rejected => *known = problem,
                Some(_) => {}
                None => {
                    self.total += 1;
                    if self.problems.len() < KEPT {
                        self.problems.push(problem);
                    }
                }
            }
        }
        self
    }

    pub(super) fn one(problem: ArgumentProblem) -> Self {
        Self::new(vec![problem], 1)
    }

    /// Returns the first problems, in the order of the schema and then of the text.
    #[must_use]
    pub fn problems(&self) -> &[ArgumentProblem] {
        &self.problems
    }

    pub(super) fn problems_mut(&mut self) -> &mut [ArgumentProblem] {
        &mut self.problems
    }

    /// Returns how many problems there are, including those that are not kept.
    #[must_use]
    pub fn total(&self) -> usize {
        self.total
    }

    /// Arguments of `got` bytes where `limit` are admitted; they were not looked at.
    pub fn too_large(limit: usize, got: usize) -> Self {
        Self::one(ArgumentProblem::new(
            String::new(),
            ProblemKind::TooLarge,
            format!("at most {limit} bytes"),
            format!("{got} bytes"),
        ))
    }
}

impl InvalidArguments {
    /// Creates the refusal of arguments that were read up to the `limit` in bytes, and not to their end.
    #[must_use]
    pub fn longer_than(limit: usize) -> Self {
        Self::one(ArgumentProblem::new(
            String::new(),
            ProblemKind::TooLarge,
            format!("at most {limit} bytes"),
            "more".to_owned(),
        ))
    }
}

/// A type's own refusal of what its schema admits. The message must not hold the value of a secret.
pub fn rejected(place: ErrorPosition, message: Option<&str>) -> InvalidArguments {
    let what = if place.is_key { "key" } else { "value" };
    let got = match message {
        Some(message) => {
            let reason = escaped(message);
            format!("a {what} it refuses: {}", clip(&reason, LONGEST_REASON))
        }
        None => format!("a {what} it refuses"),
    };
    InvalidArguments::one(ArgumentProblem::new(
        place.pointer,
        ProblemKind::Rejected,
        format!("a {what} its type accepts"),
        got,
    ))
}

impl fmt::Display for InvalidArguments {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let ([only], 1) = (self.problems.as_slice(), self.total) {
            return out.write_str(&clip(&only.to_string(), LONGEST));
        }
        let mut text = format!("{} problems:", self.total);
        let mut length = text.chars().count();
        let mut said = 0;
        for problem in &self.problems {
            let line = format!("\n- {}", clip(&problem.to_string(), LONGEST_SENTENCE));
            let more = line.chars().count();
            // The line that counts what is left out needs less than 40 characters.
            if length + more > LONGEST - 40 {
                break;
            }
            text.push_str(&line);
            length += more;
            said += 1;
        }
        out.write_str(&text)?;
        match self.total.saturating_sub(said) {
            0 => Ok(()),
            left => write!(out, "\n- and {left} more"),
        }
    }
}

impl std::error::Error for InvalidArguments {}
