//! The report of a verification.

use std::fmt;

use contract_runtime::__family::methods;
use serde::Serialize;

use super::problem::{Fault, Layer, Problem};
use super::skipped::{self, Skipped};

/// The report of a verification, readable and as data.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[must_use = "a report fails a test only through `assert`"]
pub struct Report {
    pub(super) seed: u64,
    pub(super) tools: Vec<Verified>,
    pub(super) skipped: Vec<Skipped>,
    /// Why failing inputs could not be saved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) unsaved: Option<String>,
}

/// The verification of one tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Verified {
    /// The name by which a model calls it.
    pub tool: String,
    /// Inputs that were checked, valid and invalid ones.
    pub judged: u32,
    /// Inputs that satisfy all preconditions.
    pub accepted: u32,
    /// Inputs that the body was run with; zero if it must not run, which [`Report::skipped`] lists.
    pub ran: u32,
    /// The problems of the tool.
    pub problems: Vec<Problem>,
    /// Its body, where that was not run, or postconditions that were not judged.
    #[serde(skip)]
    pub(super) skipped: Option<Skipped>,
    /// The call of each problem that has an input, ready to be pasted.
    #[serde(skip)]
    pub(super) lines: Vec<String>,
}

impl Report {
    /// Returns whether there are no problems.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.problems().next().is_none()
    }

    /// Returns the seed from which every input was generated; [`Verifier::seed`](super::Verifier::seed) generates them
    /// again.
    #[must_use]
    pub const fn seed(&self) -> u64 {
        self.seed
    }

    /// Returns what was done, tool by tool.
    #[must_use]
    pub fn tools(&self) -> &[Verified] {
        &self.tools
    }

    /// Returns the problems, tool by tool.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.tools.iter().flat_map(|tool| &tool.problems)
    }

    /// Returns what was not tried, so that nothing is known about it.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use contract_verify::{Skipped, Verifier};
    ///
    /// /// Pay.
    /// #[tool]
    /// #[pre(cents > 0)]
    /// #[post(|left| *left >= 0)]
    /// fn pay(cents: u32) -> i64 {
    ///     -i64::from(cents)
    /// }
    ///
    /// let registry = Registry::builder().tool(pay).build()?;
    /// let report = Verifier::new(registry).cases(100).run();
    /// assert!(report.is_ok()); // and still the promise is broken by every call
    /// assert!(matches!(&report.skipped()[0], Skipped::Body { tool, postconditions: 1, .. } if tool == "pay"));
    /// # Ok::<(), BuildError>(())
    /// ```
    #[must_use]
    pub fn skipped(&self) -> &[Skipped] {
        &self.skipped
    }

    /// Fails the calling test if there are problems.
    ///
    /// If there are none, it prints what was not tried, and how to enable it, to standard error, bypassing the test harness,
    /// which hides the output of passing tests. What `run = false` leaves out on purpose is not mentioned.
    ///
    /// # Panics
    ///
    /// Panics with the report if there is a problem.
    #[track_caller]
    pub fn assert(&self) {
        assert!(self.is_ok(), "{self}");
        for line in skipped::undecided(&self.skipped) {
            methods::tell(&format!("verify: {line}"));
        }
    }
}

impl Verified {
    /// The report on a tool that could not be verified.
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
        for line in skipped::all(&self.skipped) {
            write!(f, "\n{line}")?;
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
            skipped,
            ..
        } = self;
        let found = match problems.len() {
            0 => "ok".to_owned(),
            1 => "1 problem".to_owned(),
            count => format!("{count} problems"),
        };
        write!(
            f,
            "{tool}: {found} ({judged} inputs judged, {accepted} accepted, "
        )?;
        match skipped {
            Some(Skipped::Body { .. }) => f.write_str("body not run)")?,
            _ => write!(f, "{ran} run)")?,
        }
        for problem in problems {
            write!(f, "\n- {problem}")?;
            if let Some(input) = &problem.input {
                write!(f, "\n  input: {input}")?;
            }
        }
        Ok(())
    }
}
