//! What came of a verification.

use std::fmt;

use serde::Serialize;

use super::problem::{Fault, Layer, Problem};

/// What came of a verification: readable, and as data.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[must_use = "a report that nobody looks at fails no test; call `assert`"]
pub struct Report {
    pub(super) seed: u64,
    pub(super) tools: Vec<Verified>,
    /// Why inputs that failed could not be kept.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unsaved: Option<String>,
}

/// What was done with one tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verified {
    /// The name by which a model calls it.
    pub tool: String,
    /// Inputs that were judged, right and wrong ones.
    pub judged: u32,
    /// Those that all preconditions accept.
    pub accepted: u32,
    /// Those that the body was run with; zero where it must not be run.
    pub ran: u32,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// The call of each problem that has an input, ready to be pasted.
    #[serde(skip)]
    pub(super) lines: Vec<String>,
}

impl Report {
    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.problems().next().is_none()
    }

    /// The number from which every input was made; [`Verifier::seed`](super::Verifier::seed) makes them again.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// What was done, tool by tool.
    #[must_use]
    pub fn tools(&self) -> &[Verified] {
        &self.tools
    }

    /// What is wrong, tool by tool.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.tools.iter().flat_map(|tool| &tool.problems)
    }

    /// Fails the test that calls it, if anything is wrong.
    ///
    /// # Panics
    ///
    /// With the report as its message, if there is a problem.
    #[track_caller]
    pub fn assert(&self) {
        assert!(self.is_ok(), "{self}");
    }
}

impl Verified {
    /// What is said of a tool that could not be tried.
    pub(super) fn of_problem(tool: &str, fault: Fault) -> Self {
        let problem = Problem {
            tool: tool.to_owned(),
            layer: Layer::Agreement,
            clause: None,
            input: None,
            fault,
        };
        Self {
            tool: tool.to_owned(),
            problems: vec![problem],
            ..Self::default()
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, tool) in self.tools.iter().enumerate() {
            if position > 0 {
                writeln!(f)?;
            }
            write!(f, "{tool}")?;
        }
        if !self.is_ok() {
            write!(f, "\nthe inputs come from seed {}", self.seed)?;
            let mut lines = self.tools.iter().flat_map(|tool| &tool.lines).peekable();
            if lines.peek().is_some() {
                write!(f, "; the smallest that fail, to paste into a test:")?;
            }
            for line in lines {
                write!(f, "\n{line}")?;
            }
        }
        if let Some(why) = &self.unsaved {
            write!(f, "\nthe inputs that failed could not be kept: {why}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            tool,
            judged,
            accepted,
            ran,
            problems,
            ..
        } = self;
        let found = match problems.len() {
            0 => "ok".to_owned(),
            1 => "1 problem".to_owned(),
            count => format!("{count} problems"),
        };
        write!(
            f,
            "{tool}: {found} ({judged} inputs judged, {accepted} accepted, {ran} run)"
        )?;
        for problem in problems {
            write!(f, "\n- {problem}")?;
            if let Some(input) = &problem.input {
                write!(f, "\n  input: {input}")?;
            }
        }
        Ok(())
    }
}
