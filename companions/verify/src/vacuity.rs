//! Checks that each precondition accepts and refuses something, and that all together accept enough.

use contract_runtime::__family::Expression;
use contract_runtime::__family::TypeKind;
use contract_runtime::__family::guard;
use serde_json::Value;

use super::agree::{Clause, Judges, Verdicts};
use super::coverage::Coverage;
use super::generate::{MOST_CHARACTERS, MOST_ITEMS};
use super::integer;
use super::problem::{Fault, Layer, Problem};

/// The number of inputs that a report shows.
const SAMPLES: usize = 4;

/// One in this many inputs of the right types must be accepted.
const RARE: u32 = 50;

/// The counts of one precondition.
#[derive(Clone, Debug, Default)]
struct Tally {
    held: u32,
    failed: u32,
    panicked: u32,
    decided: u32,
    samples: Vec<Value>,
}

/// The counts of all preconditions.
#[derive(Debug)]
pub(super) struct Vacuity {
    tallies: Vec<Tally>,
    pub(super) typed: u32,
    pub(super) accepted: u32,
    /// Those for which what was looked up was not there.
    ungiven: u32,
    /// The length of the longest of them in bytes, as JSON.
    longest: usize,
    /// The author gives examples, so few random inputs need to be accepted.
    shown: bool,
}

impl Vacuity {
    pub(super) fn new(judges: &Judges<'_, '_>) -> Self {
        Self {
            tallies: vec![Tally::default(); judges.clauses.len()],
            typed: 0,
            accepted: 0,
            ungiven: 0,
            longest: 0,
            shown: judges
                .subject
                .info
                .input_schema()
                .to_string()
                .contains(r#""examples":"#),
        }
    }

    /// Counts the verdicts on an input.
    pub(super) fn note(&mut self, input: &Value, verdicts: &Verdicts) {
        if !verdicts.typed {
            return;
        }
        self.typed = self.typed.saturating_add(1);
        self.accepted = self.accepted.saturating_add(u32::from(verdicts.allowed));
        self.ungiven = self.ungiven.saturating_add(u32::from(verdicts.lacks_given));
        self.longest = self.longest.max(verdicts.bytes);
        let seen = verdicts.predicates.iter().zip(&verdicts.decided);
        for (tally, (verdict, decided)) in self.tallies.iter_mut().zip(seen) {
            match verdict {
                Some(true) => tally.held = tally.held.saturating_add(1),
                Some(false) => tally.failed = tally.failed.saturating_add(1),
                // It stands below a lookup that found nothing.
                None if verdicts.lacks_later => continue,
                None => tally.panicked = tally.panicked.saturating_add(1),
            }
            tally.decided = tally.decided.saturating_add(u32::from(*decided));
            if tally.samples.len() < SAMPLES && !tally.samples.contains(input) {
                tally.samples.push(input.clone());
            }
        }
    }

    /// The number of inputs that must be accepted, of those tried.
    pub(super) fn needed(&self) -> u32 {
        let enough = if self.shown { 1 } else { 20 };
        (self.typed / RARE).clamp(1, enough)
    }

    /// Whether more inputs could still change what is reported.
    pub(super) fn is_open(&self, judges: &Judges<'_, '_>) -> bool {
        let mut clauses = self.tallies.iter().zip(&judges.clauses);
        self.accepted < self.needed()
            || clauses.any(|(tally, clause)| {
                speaks(judges, clause) && (tally.held == 0 || tally.failed == 0)
            })
    }

    /// Adds what is known of each precondition.
    pub(super) fn cover(&self, judges: &Judges<'_, '_>, coverage: &mut Coverage) {
        for (tally, clause) in self.tallies.iter().zip(&judges.clauses) {
            let failed = tally.failed.saturating_add(tally.panicked);
            coverage.count(&clause.id, tally.held.saturating_add(failed), failed);
        }
    }

    /// The problems of the preconditions over all inputs.
    pub(super) fn problems(self, judges: &Judges<'_, '_>) -> Vec<Problem> {
        let tool = judges.subject.name();
        let needed = self.needed();
        let problem = |clause: Option<&str>, layer, fault| Problem {
            layer,
            clause: clause.map(str::to_owned),
            ..Problem::of(tool, fault)
        };
        let mut problems = Vec::new();
        for (tally, clause) in self.tallies.into_iter().zip(&judges.clauses) {
            let tried = tally.held.saturating_add(tally.failed);
            let samples = tally.samples;
            let id = Some(clause.id.as_str());
            if let Some(rule) = clause
                .rule
                .as_ref()
                .filter(|_| tried >= 20 && tally.decided == 0)
            {
                let rule = rule.text.clone();
                problems.push(problem(id, Layer::Agreement, Fault::Silent { rule }));
            }
            // Of what was looked up in vain no input says anything.
            let is_unjudged = tried == 0 && self.ungiven > 0;
            // Sequences of calls meet those that depend on something else: a state, the time, or earlier calls.
            if is_unjudged || !speaks(judges, clause) {
                continue;
            }
            let expression = clause.condition.expression();
            let bound = expression.and_then(|all| far(all, judges, self.longest));
            let fault = match (bound, tally.held, tally.failed + tally.panicked) {
                (Some(bound), _, _) => Fault::Unreached { bound, tried },
                (None, 0, _) => Fault::NeverHolds { tried, samples },
                (None, _, 0) => Fault::NeverFails { tried, samples },
                _ => continue,
            };
            problems.push(problem(id, Layer::Meaning, fault));
        }
        let hopeless = problems.iter().any(|problem| {
            matches!(
                problem.fault,
                Fault::NeverHolds { .. } | Fault::Unreached { .. }
            )
        });
        if self.accepted < needed && !hopeless {
            let fault = Fault::TooFewAccepted {
                tried: self.typed,
                accepted: self.accepted,
                needed,
                ungiven: self.ungiven,
            };
            problems.push(problem(None, Layer::Meaning, fault));
        }
        problems
    }
}

/// The length bound that no text or list that was tried has reached.
fn far(expression: &Expression, judges: &Judges<'_, '_>, longest: usize) -> Option<i128> {
    let Expression::Compare(_, left, right) = expression else {
        let mut parts = expression.parts().into_iter();
        return parts.find_map(|part| far(part, judges, longest));
    };
    let (measured, bound) = match (left, right) {
        (Expression::Length(of) | Expression::Characters(of), other)
        | (other, Expression::Length(of) | Expression::Characters(of)) => (of, largest(other)?),
        _ => return None,
    };
    let is_list = matches!(measured, Expression::Parameter(name) if is_list(judges, name));
    // As JSON, an item takes at least two bytes, with its comma.
    let (most, tried) = if is_list {
        (MOST_ITEMS, longest / 2)
    } else {
        (MOST_CHARACTERS, longest)
    };
    let beyond = |reached: usize| i128::try_from(reached).is_ok_and(|reached| bound >= reached);
    (beyond(most) && beyond(tried)).then_some(bound)
}

fn is_list(judges: &Judges<'_, '_>, name: &str) -> bool {
    let mut parameters = judges.subject.tried.parameters().iter();
    parameters.any(|one| one.name == name && matches!(one.kind, TypeKind::List(_)))
}

fn largest(expression: &Expression) -> Option<i128> {
    let own = match expression {
        Expression::Integer(value) => Some(*value),
        Expression::Named { value, .. } => guard(value)
            .ok()
            .flatten()
            .and_then(|value| integer::read(&value)),
        _ => None,
    };
    let parts = expression.parts().into_iter().filter_map(largest);
    own.into_iter().chain(parts).max()
}

/// Whether a condition depends on arguments. That of a dynamic tool sees all of them and names none.
fn speaks(judges: &Judges<'_, '_>, clause: &Clause) -> bool {
    if clause.condition.asks_history() {
        return false;
    }
    let schema = judges.subject.info.input_schema();
    let takes_some = schema
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(|properties| !properties.is_empty());
    let is_dynamic = judges.subject.tried.parameters().is_empty();
    !clause.condition.parameters().is_empty() || is_dynamic && takes_some
}
