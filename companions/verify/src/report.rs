//! The report of a verification.

use std::collections::BTreeSet;
use std::fmt;

use contract_runtime::__family::methods;
use serde::Serialize;
use serde_json::Value;

use super::problem::{Fault, Layer, Problem};
use super::sequences::Tally;
use super::skipped::{self, Skipped};
use super::vacuity::Decided;

/// The report of a verification, readable and as data.
#[derive(Clone, Debug, PartialEq, Serialize)]
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
    pub(super) preconditions: Vec<Decided>,
    /// Its postconditions.
    pub(super) promised: Vec<String>,
    /// The postconditions that were judged, if the body was run; of other functions as well.
    pub(super) postconditions: Option<BTreeSet<String>>,
}

impl Report {
    pub(super) const fn new(seed: u64, strict: bool) -> Self {
        Self {
            seed,
            tools: Vec::new(),
            skipped: Vec::new(),
            strict,
            sequences: 0,
            more_sequences: 0,
            unsaved: None,
        }
    }

    /// Returns whether there are no problems and, under [`strict`](super::Verifier::strict), nothing was left out without a
    /// decision.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        let fails = self.has_problems() || self.strict && self.is_incomplete();
        !fails
    }

    fn has_problems(&self) -> bool {
        self.problems().next().is_some()
    }

    fn is_incomplete(&self) -> bool {
        !skipped::undecided(&self.skipped).is_empty()
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

    /// Adds what sequences have shown of conditions, and takes back what single calls could not show.
    pub(super) fn take_tally(&mut self, tally: &Tally) {
        for tool in &mut self.tools {
            for one in &mut tool.evidence.preconditions {
                let (held, failed) = tally.decided(&one.id);
                one.has_held |= held;
                one.has_failed |= failed;
            }
            let entered = tally.entered.get(&tool.tool);
            tool.in_sequences = entered.copied().unwrap_or_default();
            let is_reached = tool.in_sequences > 0;
            let decided = |problem: &Problem| {
                let clause = problem.clause.as_deref().unwrap_or_default();
                tally.decided(clause)
            };
            tool.problems.retain(|problem| match problem.fault {
                Fault::NeverHolds { .. } => !decided(problem).0,
                Fault::NeverFails { .. } => !decided(problem).1,
                Fault::TooFewAccepted { .. } => !is_reached,
                _ => true,
            });
            if let Some(judged) = &mut tool.evidence.postconditions {
                judged.extend(tally.judged.iter().cloned());
            }
        }
    }

    /// Lists what was left out, when everything is done.
    pub(super) fn gather_skipped(&mut self, others: impl Iterator<Item = Skipped>) {
        let mut all = Vec::new();
        for tool in &mut self.tools {
            let undecided: Vec<Skipped> = Skipped::undecided(tool).collect();
            tool.skipped.extend(undecided);
            all.extend(tool.skipped.iter().cloned());
            tool.evidence = Evidence::default();
        }
        all.append(&mut self.skipped);
        self.skipped = all;
        self.skipped.extend(others);
    }

    /// One line about all tools, if there is more to say than the line of one tool says.
    fn summary(&self) -> Option<String> {
        let left_out = skipped::counted(&self.skipped);
        if self.tools.len() < 2 && self.sequences == 0 && left_out.is_empty() {
            return None;
        }
        let sum = |count: fn(&Verified) -> u32| self.tools.iter().map(count).sum::<u32>();
        let found = match counted(self.problems().count()) {
            found if self.is_ok() || self.has_problems() => found,
            _ => "incomplete".to_owned(),
        };
        let sequences = match (self.sequences, self.more_sequences) {
            (0, _) => String::new(),
            (count, 0) => format!(", {count} sequences of calls"),
            (count, more) => {
                format!(
                    ", {count} sequences of calls, {more} of them for what the others had not reached"
                )
            }
        };
        let left_out = if left_out.is_empty() {
            "nothing"
        } else {
            &left_out
        };
        let tools = if self.tools.len() == 1 {
            "tool"
        } else {
            "tools"
        };
        Some(format!(
            "{} {tools}: {found} ({} inputs judged, {} run{sequences}); left out: {left_out}",
            self.tools.len(),
            sum(|tool| tool.judged),
            sum(|tool| tool.ran),
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
        for line in skipped::undecided(&self.skipped) {
            methods::tell(&format!("verify: {line}"));
        }
    }
}

impl Verified {
    /// Whether there is something that no call has reached: its body in a sequence, a postcondition, or a side of a precondition.
    pub(super) fn is_open(&self, tally: &Tally) -> bool {
        let is_broken = |problem: &Problem| problem.layer == Layer::Promise;
        if self.problems.iter().any(is_broken) {
            return false;
        }
        let evidence = &self.evidence;
        let judged = evidence.postconditions.as_ref();
        let is_judged = |id: &String| {
            tally.judged.contains(id) || judged.is_some_and(|judged| judged.contains(id))
        };
        let is_decided = |one: &Decided| {
            let (held, failed) = tally.decided(&one.id);
            (one.has_held || held) && (one.has_failed || failed)
        };
        !tally.entered.contains_key(&self.tool)
            || !evidence.promised.iter().all(is_judged)
            || !evidence.preconditions.iter().all(is_decided)
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
            if position > 0 {
                writeln!(f)?;
            }
            write!(f, "{tool}")?;
        }
        if let Some(summary) = self.summary() {
            write!(f, "\n{summary}")?;
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

fn counted(problems: usize) -> String {
    match problems {
        0 => "ok".to_owned(),
        1 => "1 problem".to_owned(),
        count => format!("{count} problems"),
    }
}

impl fmt::Display for Verified {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            tool,
            judged,
            accepted,
            ran,
            in_sequences,
            problems,
            skipped,
            ..
        } = self;
        let found = counted(problems.len());
        write!(
            f,
            "{tool}: {found} ({judged} inputs judged, {accepted} accepted, "
        )?;
        match skipped.first() {
            Some(Skipped::Body { .. }) => f.write_str("body not run)")?,
            _ if *in_sequences > 0 => write!(f, "{ran} run, {in_sequences} in sequences)")?,
            _ => write!(f, "{ran} run)")?,
        }
        for problem in problems {
            write!(f, "\n- {problem}")?;
            if let Some(input) = &problem.input {
                write!(f, "\n  input: {input}")?;
            }
            for (place, call) in problem.calls.iter().enumerate() {
                let beside = if call.same_turn {
                    ", in the same turn"
                } else {
                    ""
                };
                write!(
                    f,
                    "\n  call {}: {} {}{beside}",
                    place + 1,
                    call.tool,
                    call.arguments
                )?;
            }
        }
        Ok(())
    }
}
