//! Whether a body keeps what its contract promises.

use std::time::Instant;

use serde_json::Value;

use super::double::{self, Doubles};
use super::problem::{Fault, Layer, Problem};
use super::reduce;
use super::subject::Subject;
use super::worker::{Back, Worker};
use crate::contract::condition::ConditionKind;
use crate::tool::encode;
use crate::{Outcome, Registry, Status, ToolCall, Violation};

/// How many more times a body that takes too long is run, to find a smaller input: as many as fit into this many times its time.
const PATIENCE: u32 = 5;

/// What came of running a body.
#[derive(Debug, Default)]
pub(super) struct Kept {
    /// How many inputs the body was run with.
    pub(super) ran: u32,
    pub(super) problems: Vec<Problem>,
}

/// Runs the body, if it may be run, on arguments that all preconditions accept.
pub(super) fn run(subject: &Subject<'_>, doubles: &Doubles, accepted: &[Value]) -> Kept {
    let mut kept = Kept::default();
    if !doubles.may_run(subject.entry) {
        return kept;
    }
    let mut trial = Trial {
        subject,
        doubles,
        worker: Worker::new(),
    };
    let mut seen: Vec<Broken> = Vec::new();
    for input in accepted {
        kept.ran += 1;
        let Some(broken) = trial.run(input) else {
            continue;
        };
        if seen.iter().any(|other| other.is_like(&broken)) {
            continue;
        }
        kept.problems.push(trial.problem(input, &broken));
        let over = broken.is_final();
        seen.push(broken);
        if over {
            break;
        }
    }
    kept
}

/// One tool whose body is being run.
struct Trial<'s, 'r> {
    subject: &'s Subject<'r>,
    doubles: &'s Doubles,
    worker: Worker,
}

/// A promise that was not kept.
struct Broken {
    clause: Option<String>,
    fault: Fault,
}

impl Broken {
    fn new(fault: Fault) -> Self {
        Self {
            clause: None,
            fault,
        }
    }

    /// The same promise, and the same way of breaking it.
    fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.fault) == std::mem::discriminant(&other.fault)
            && self.clause == other.clause
    }

    /// Nothing is to be learned from further runs, and each may take long.
    fn is_final(&self) -> bool {
        matches!(self.fault, Fault::TimedOut { .. } | Fault::Unjudged { .. })
    }
}

impl Trial<'_, '_> {
    /// What is wrong, of the smallest input that shows it.
    fn problem(&mut self, input: &Value, broken: &Broken) -> Problem {
        let patience = self
            .doubles
            .time(self.subject.entry)
            .saturating_mul(PATIENCE);
        let began = Instant::now();
        let mut smallest = None;
        let input = reduce::smallest(input.clone(), |candidate| {
            let tired = broken.is_final() && began.elapsed() > patience;
            if tired || !self.subject.accepts(candidate) {
                return false;
            }
            let again = self.run(candidate).filter(|again| again.is_like(broken));
            let fails = again.is_some();
            if let Some(again) = again {
                smallest = Some((candidate.clone(), again.fault));
            }
            fails
        });
        // What was seen belongs to the input it was seen of.
        let fault = smallest
            .filter(|(of, _)| *of == input)
            .map_or_else(|| broken.fault.clone(), |(_, fault)| fault);
        Problem {
            tool: self.subject.name().to_owned(),
            layer: Layer::Promise,
            clause: broken.clause.clone(),
            input: Some(input),
            fault,
        }
    }

    /// Runs the body, up to three times if that must make no difference.
    fn run(&mut self, input: &Value) -> Option<Broken> {
        let entry = self.subject.entry;
        let fresh;
        let registry = if self.doubles.is_fresh(entry) {
            match double::registry_for(self.subject.registry, self.subject.name(), self.doubles) {
                Ok(registry) => {
                    fresh = registry;
                    &fresh
                }
                Err(problem) => return Some(Broken::new(problem.fault)),
            }
        } else {
            self.subject.registry
        };
        let first = match self.call(registry, input) {
            Ok(outcome) => outcome,
            Err(fault) => return Some(Broken::new(fault)),
        };
        if let Some(broken) = self.judge(&first) {
            return Some(broken);
        }
        let again = entry.tool.hints.idempotent == Some(true) && first.is_ok();
        if !again {
            return None;
        }
        let second = match self.call(registry, input) {
            Ok(outcome) => outcome,
            Err(fault) => return Some(Broken::new(fault)),
        };
        if self.is_same(&first, &second) {
            return None;
        }
        // A deletion says "gone" once and "nothing there" from then on: the effect counts, and it has settled.
        let third = match self.call(registry, input) {
            Ok(outcome) => outcome,
            Err(fault) => return Some(Broken::new(fault)),
        };
        if self.is_same(&second, &third) {
            return None;
        }
        Some(Broken::new(Fault::NotIdempotent {
            second: ended(&second),
            third: ended(&third),
        }))
    }

    /// Whether two calls ended alike: the members of an object have no order (RFC 8259, section 4), nor have the items of a
    /// result in which there are sets.
    fn is_same(&self, one: &Outcome, other: &Outcome) -> bool {
        if one.status() != other.status() || one.output() == other.output() {
            return one.status() == other.status();
        }
        let (Some(one), Some(other)) = (one.value(), other.value()) else {
            return false;
        };
        let schema = self.subject.info.output_schema().map(Value::to_string);
        let has_sets = schema.is_some_and(|schema| schema.contains(r#""uniqueItems":true"#));
        one == other || has_sets && sorted(one) == sorted(other)
    }

    fn call(&mut self, registry: &Registry, input: &Value) -> Result<Outcome, Fault> {
        let time = self.doubles.time(self.subject.entry);
        let call = ToolCall::new("", self.subject.name(), input.to_string());
        let timed_out = || Fault::TimedOut {
            milliseconds: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        };
        match self.worker.call(registry, call, time) {
            Back::Ended(outcome) if outcome.status() == Status::TimedOut => Err(timed_out()),
            Back::Ended(outcome) => Ok(*outcome),
            Back::Never => Err(timed_out()),
            Back::NoThread(why) => Err(Fault::Unjudged { why }),
        }
    }

    /// What the outcome of a call whose arguments were accepted says of the body.
    fn judge(&self, outcome: &Outcome) -> Option<Broken> {
        let message = || outcome.error().unwrap_or_default();
        match outcome.status() {
            Status::Ok => self.judge_output(outcome),
            Status::Panicked => Some(Broken::new(Fault::BodyPanicked {
                message: self.worker.last_words().unwrap_or_else(message),
            })),
            Status::Violation => {
                let violation = outcome.violation().filter(|one| !is_own_pre(one))?;
                Some(Broken {
                    clause: Some(violation.contract.clone()),
                    fault: Fault::PromiseBroken { message: message() },
                })
            }
            Status::Failed if encode::is_refusal(&message()) => {
                Some(Broken::new(Fault::ResultRefused { message: message() }))
            }
            // A tool may say that it failed.
            _ => None,
        }
    }

    fn judge_output(&self, outcome: &Outcome) -> Option<Broken> {
        let schema = self.subject.output.as_ref()?;
        let output = match outcome.output()? {
            // As a value it is nothing, because `()` is given as nothing too; but that has no schema.
            "" => Value::from(""),
            _ => outcome.value()?,
        };
        let why = schema.validate(&output).err()?.to_string();
        Some(Broken::new(Fault::Output { output, why }))
    }
}

/// The items of every array in an order that does not depend on how they came.
fn sorted(value: Value) -> Value {
    match value {
        Value::Array(items) => {
            let mut items: Vec<Value> = items.into_iter().map(sorted).collect();
            items.sort_by_cached_key(Value::to_string);
            Value::Array(items)
        }
        Value::Object(members) => {
            let members = members
                .into_iter()
                .map(|(name, value)| (name, sorted(value)));
            let mut members: Vec<_> = members.collect();
            members.sort_by(|one, other| one.0.cmp(&other.0));
            members.into_iter().collect()
        }
        other => other,
    }
}

fn ended(outcome: &Outcome) -> String {
    match (outcome.output(), outcome.error()) {
        (Some(output), _) => format!("`ok` with {output}"),
        (None, error) => format!("`{}`: {}", outcome.status(), error.unwrap_or_default()),
    }
}

/// A precondition over a state may answer otherwise when the state is another.
fn is_own_pre(violation: &Violation) -> bool {
    violation.kind == ConditionKind::Pre && violation.blame == crate::Blame::Model
}
