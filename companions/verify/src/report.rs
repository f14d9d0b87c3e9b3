//! The report of a verification.

use std::fmt;

use contract_runtime::__family::methods;
use serde::Serialize;
use serde_json::Value;

use super::coverage::Coverage;
use super::problem::{Fault, Layer, Problem};
use super::skipped::{Skipped, counted, plural};

/// The report of a verification, readable and as data.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[must_use = "a report fails a test only through `assert`"]
pub struct Report {
    pub(super) seed: u64,
    pub(super) tools: Vec<Verified>,
    pub(super) skipped: Vec<Skipped>,
    /// What was left out, and nobody decided to leave out, is a failure.
    #[serde(skip)]
    pub(super) strict: bool,
    /// The sequences of calls that were made.
    pub(super) sequences: u32,
    /// How many of them are more than were wanted.
    #[serde(skip)]
    pub(super) more_sequences: u32,
    /// What they have shown of conditions.
    #[serde(skip)]
    pub(super) coverage: Coverage,
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
    /// How often the body was run in sequences of calls.
    pub in_sequences: u32,
    /// The problems of the tool.
    pub problems: Vec<Problem>,
    /// What was left out.
    #[serde(skip)]
    pub(super) skipped: Vec<Skipped>,
    #[serde(skip)]
    pub(super) evidence: Evidence,
    /// The call of each problem that has an input, ready to be pasted.
    #[serde(skip)]
    pub(super) lines: Vec<String>,
}

/// What the verification of a tool leaves to that of sequences, and to the end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Evidence {
    /// Inputs that may be accepted after other calls.
    pub(super) plausible: Vec<Value>,
    /// Those of them that are accepted, as far as one call can show it.
    pub(super) ready: Vec<Value>,
    pub(super) preconditions: Vec<String>,
    pub(super) postconditions: Vec<String>,
    /// Whether the body was run.
    pub(super) has_run: bool,
    /// What single calls have shown of conditions.
    pub(super) coverage: Coverage,
}

impl Report {
    /// Returns whether there are no problems and, under [`strict`](super::Verifier::strict), nothing was left out without a
    /// decision.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        let is_complete = || self.skipped.iter().all(Skipped::is_decided);
        self.problems().next().is_none() && (!self.strict || is_complete())
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

    /// Returns how many sequences of calls were made, for tools with a state and conditions over the history of a run: as many as
    /// were wanted, more of many tools, and up to eight times as many while there was something that none of them had reached.
    #[must_use]
    pub const fn sequences(&self) -> u32 {
        self.sequences
    }

    /// Takes back the problems that single calls had and sequences have not.
    pub(super) fn take_coverage(&mut self, coverage: Coverage) {
        for tool in &mut self.tools {
            tool.in_sequences = coverage.entered(&tool.tool);
            tool.problems.retain(|problem| {
                let clause = problem.clause.as_deref().unwrap_or_default();
                match problem.fault {
                    Fault::NeverHolds { .. } => !coverage.has_held(clause),
                    Fault::NeverFails { .. } => !coverage.has_failed(clause),
                    Fault::TooFewAccepted { .. } => tool.in_sequences == 0,
                    _ => true,
                }
            });
        }
        self.coverage = coverage;
    }

    /// Lists what was left out, when everything is done.
    pub(super) fn gather_skipped(&mut self, others: impl Iterator<Item = Skipped>) {
        let mut all = Vec::new();
        for tool in &mut self.tools {
            all.extend(tool.skipped.iter().cloned());
            all.extend(tool.undecided(&self.coverage));
            tool.evidence = Evidence::default();
        }
        all.append(&mut self.skipped);
        all.extend(others);
        self.skipped = all;
    }

    /// One line about all tools, if there is more to say than the line of one tool says.
    fn summary(&self) -> Option<String> {
        if self.tools.len() < 2 && self.sequences == 0 && self.skipped.is_empty() {
            return None;
        }
        let found = match self.problems().count() {
            0 if !self.is_ok() => "incomplete".to_owned(),
            count => found(count),
        };
        let sequences = match (self.sequences, self.more_sequences) {
            (0, _) => String::new(),
            (count, 0) => format!(", {count} sequences of calls"),
            (count, more) => format!(
                ", {count} sequences of calls, {more} of them for what the others had not reached"
            ),
        };
        Some(format!(
            "{}: {found} ({} inputs judged, {} run{sequences}); left out: {}",
            plural(self.tools.len(), "tool", "tools"),
            self.tools.iter().map(|tool| tool.judged).sum::<u32>(),
            self.tools.iter().map(|tool| tool.ran).sum::<u32>(),
            counted(&self.skipped),
        ))
    }

    /// Fails the calling test if there are problems.
    ///
    /// If there are none, it prints what was not tried, and how to enable it, to standard error, bypassing the test harness,
    /// which hides the output of passing tests. What `run = false` leaves out on purpose is not mentioned.
    ///
    /// # Panics
    ///
    /// Panics with the report if there is a problem or, under [`strict`](super::Verifier::strict), something was left out without a
    /// decision.
    #[track_caller]
    pub fn assert(&self) {
        assert!(self.is_ok(), "{self}");
        for left_out in self.skipped.iter().filter(|one| !one.is_decided()) {
            methods::tell(&format!("verify: {left_out}"));
        }
    }
}

impl Verified {
    /// Whether there is something that no call has reached: its body in a sequence, a postcondition, or a side of a precondition.
    pub(super) fn is_open(&self, coverage: &Coverage) -> bool {
        let is_open = coverage.entered(&self.tool) == 0
            || self.unreached(coverage).iter().any(|ids| !ids.is_empty());
        is_open && !self.is_broken()
    }

    /// A body that panics or takes too long is the reason why others are not reached, and a problem of its own.
    fn is_broken(&self) -> bool {
        let mut problems = self.problems.iter();
        problems.any(|problem| problem.layer == Layer::Promise)
    }

    /// The postconditions that were not judged, and the preconditions that were never true, and never false.
    fn unreached(&self, sequences: &Coverage) -> [Vec<String>; 3] {
        let evidence = &self.evidence;
        let without = |ids: &[String], shows: fn(&Coverage, &str) -> bool| -> Vec<String> {
            let is_shown = |id: &&String| shows(&evidence.coverage, id) || shows(sequences, id);
            ids.iter().filter(|id| !is_shown(id)).cloned().collect()
        };
        [
            without(&evidence.postconditions, Coverage::is_judged),
            without(&evidence.preconditions, Coverage::has_held),
            without(&evidence.preconditions, Coverage::has_failed),
        ]
    }

    /// What of a tool whose body was run is not decided, and not a problem already.
    fn undecided(&self, sequences: &Coverage) -> Vec<Skipped> {
        if !self.evidence.has_run || self.is_broken() {
            return Vec::new();
        }
        let [conditions, mut never_true, mut never_false] = self.unreached(sequences);
        for ids in [&mut never_true, &mut never_false] {
            ids.retain(|id| {
                !self
                    .problems
                    .iter()
                    .any(|problem| problem.clause.as_ref() == Some(id))
            });
        }
        let tool = || self.tool.clone();
        let postconditions = (!conditions.is_empty()).then(|| Skipped::Postconditions {
            tool: tool(),
            conditions,
        });
        let is_some = !never_true.is_empty() || !never_false.is_empty();
        let preconditions = is_some.then(|| Skipped::Conditions {
            tool: tool(),
            never_true,
            never_false,
        });
        postconditions.into_iter().chain(preconditions).collect()
    }

    /// The report on a tool that could not be verified.
    pub(super) fn of_problem(tool: &str, fault: Fault) -> Self {
        Self {
            tool: tool.to_owned(),
            problems: vec![Problem::of(tool, fault)],
            ..Self::default()
        }
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, tool) in self.tools.iter().enumerate() {
            f.write_str(if position > 0 { "\n" } else { "" })?;
            write!(f, "{tool}")?;
        }
        if let Some(summary) = self.summary() {
            write!(f, "\n{summary}")?;
        }
        if !self.is_ok() {
            write!(f, "\nthe inputs come from seed {}", self.seed)?;
            let lines: Vec<_> = self.tools.iter().flat_map(|tool| &tool.lines).collect();
            if !lines.is_empty() {
                f.write_str("; the smallest that fail, to paste into a test:")?;
            }
            lines.iter().try_for_each(|line| write!(f, "\n{line}"))?;
        }
        self.skipped
            .iter()
            .try_for_each(|left_out| write!(f, "\n{left_out}"))?;
        if let Some(why) = &self.unsaved {
            write!(f, "\nthe inputs that failed could not be kept: {why}")?;
        }
        Ok(())
    }
}

fn found(problems: usize) -> String {
    match problems {
        0 => "ok".to_owned(),
        count => plural(count, "problem", "problems"),
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = found(self.problems.len());
        write!(f, "{}: {found} ({} inputs judged, ", self.tool, self.judged)?;
        write!(f, "{} accepted, ", self.accepted)?;
        match self.skipped.first() {
            Some(Skipped::Body { .. }) => f.write_str("body not run)")?,
            _ if self.in_sequences > 0 => {
                write!(f, "{} run, {} in sequences)", self.ran, self.in_sequences)?;
            }
            _ => write!(f, "{} run)", self.ran)?,
        }
        self.problems
            .iter()
            .try_for_each(|problem| write!(f, "\n- {problem}"))
    }
}
