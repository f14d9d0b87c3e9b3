//! Whether each precondition accepts something and refuses something, and whether all of them together accept enough.

use serde_json::Value;

use super::agree::{Clause, Judges, Look};
use super::generate::{MOST_CHARACTERS, MOST_ITEMS};
use super::integer;
use super::problem::{Fault, Layer, Problem};
use crate::contract::expression::Expression;
use crate::contract::panics::guard;
use crate::tool::form::Form;

/// The inputs of each kind that a report shows.
const SAMPLES: usize = 4;

/// One accepted input is wanted for so many that are of the right types.
const RARE: u32 = 50;

/// What has been seen of one precondition.
#[derive(Clone, Debug, Default)]
struct Tally {
    held: u32,
    failed: u32,
    panicked: u32,
    decided: u32,
    samples: Vec<Value>,
}

/// What has been seen of all preconditions.
#[derive(Debug)]
pub(super) struct Meaning {
    tallies: Vec<Tally>,
    pub(super) typed: u32,
    pub(super) accepted: u32,
    /// The most bytes of one of them, as JSON.
    longest: usize,
    /// The author shows what is accepted: that can be, however seldom it is met by chance.
    shown: bool,
}

impl Meaning {
    pub(super) fn new(judges: &Judges<'_, '_>) -> Self {
        Self {
            tallies: vec![Tally::default(); judges.clauses.len()],
            typed: 0,
            accepted: 0,
            longest: 0,
            shown: judges
                .subject
                .info
                .input_schema()
                .to_string()
                .contains(r#""examples":"#),
        }
    }

    /// Takes note of what the judges said of an input.
    pub(super) fn note(&mut self, input: &Value, look: &Look) {
        if !look.typed {
            return;
        }
        self.typed = self.typed.saturating_add(1);
        self.accepted = self.accepted.saturating_add(u32::from(look.accepted));
        self.longest = self.longest.max(look.bytes);
        let seen = look.verdicts.iter().zip(&look.decided);
        for (tally, (verdict, decided)) in self.tallies.iter_mut().zip(seen) {
            match verdict {
                Some(true) => tally.held = tally.held.saturating_add(1),
                Some(false) => tally.failed = tally.failed.saturating_add(1),
                None => tally.panicked = tally.panicked.saturating_add(1),
            }
            tally.decided = tally.decided.saturating_add(u32::from(*decided));
            if tally.samples.len() < SAMPLES && !tally.samples.contains(input) {
                tally.samples.push(input.clone());
            }
        }
    }

    /// How many inputs must be accepted, of those that were tried.
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

    /// What is wrong with the preconditions, taken over all inputs.
    pub(super) fn problems(self, judges: &Judges<'_, '_>) -> Vec<Problem> {
        let tool = judges.subject.name();
        let needed = self.needed();
        let problem = |clause: Option<&str>, layer, fault| Problem {
            tool: tool.to_owned(),
            layer,
            clause: clause.map(str::to_owned),
            input: None,
            fault,
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
            // What speaks of no argument is no matter of inputs: it may look at a context, or at the time.
            if !speaks(judges, clause) {
                continue;
            }
            let expression = clause.condition.expression();
            if let Some(bound) = expression.and_then(|all| far(all, judges, self.longest)) {
                let fault = Fault::Unreached { bound, tried };
                problems.push(problem(id, Layer::Meaning, fault));
            } else if tally.held == 0 {
                problems.push(problem(
                    id,
                    Layer::Meaning,
                    Fault::NeverHolds { tried, samples },
                ));
            } else if tally.failed == 0 && tally.panicked == 0 {
                problems.push(problem(
                    id,
                    Layer::Meaning,
                    Fault::NeverFails { tried, samples },
                ));
            }
        }
        let hopeless = problems.iter().any(|problem| {
            matches!(
                problem.fault,
                Fault::NeverHolds { .. } | Fault::Unreached { .. }
            )
        });
        if self.accepted < needed && !hopeless {
            let (tried, accepted) = (self.typed, self.accepted);
            problems.push(problem(
                None,
                Layer::Meaning,
                Fault::TooFewAccepted {
                    tried,
                    accepted,
                    needed,
                },
            ));
        }
        problems
    }
}

/// The bound of a length beyond all texts, or all lists, that were tried.
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
    // As JSON, an item takes two bytes at least, with its comma.
    let (most, tried) = if is_list {
        (MOST_ITEMS, longest / 2)
    } else {
        (MOST_CHARACTERS, longest)
    };
    let beyond = |reached: usize| i128::try_from(reached).is_ok_and(|reached| bound >= reached);
    (beyond(most) && beyond(tried)).then_some(bound)
}

fn is_list(judges: &Judges<'_, '_>, name: &str) -> bool {
    let mut parameters = judges.subject.tool().parameters.iter();
    parameters.any(|one| one.name == name && matches!(one.form, Form::List(_)))
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

/// Whether a condition is about arguments. One of a dynamic tool sees them all, and names none.
fn speaks(judges: &Judges<'_, '_>, clause: &Clause) -> bool {
    let schema = judges.subject.info.input_schema();
    let takes_some = schema
        .get("properties")
        .and_then(Value::as_object)
        .is_some_and(|properties| !properties.is_empty());
    let is_dynamic = judges.subject.tool().parameters.is_empty();
    !clause.condition.parameters().is_empty() || is_dynamic && takes_some
}
