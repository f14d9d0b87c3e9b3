//! Runs bodies, and checks that they keep their postconditions.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use contract_runtime::__family::is_unwritable;
use contract_runtime::observe::{CheckEvent, Observer};
use contract_runtime::{Blame, ConditionKind, Violation};
use contract_runtime::{Outcome, Registry, Run, Status, ToolCall};
use jsonschema::Validator;
use parking_lot::Mutex;
use serde_json::Value;

use super::fixtures::{self, Fixtures};
use super::problem::{Fault, Layer, Problem};
use super::shrink;
use super::subject::Subject;
use super::worker::{CallEnd, Job, Worker};

/// How long a smaller input is searched for if the body times out, as a multiple of its time limit.
const PATIENCE: u32 = 5;

/// The result of running a body with all inputs.
#[derive(Debug, Default)]
pub(super) struct BodyRuns {
    /// The number of inputs the body was run with.
    pub(super) ran: u32,
    /// The conditions that were evaluated meanwhile, of any function.
    pub(super) judged: BTreeSet<String>,
    pub(super) problems: Vec<Problem>,
}

/// Runs the body on arguments that all preconditions accept.
pub(super) fn run(subject: &Subject<'_>, fixtures: &Fixtures, accepted: &[Value]) -> BodyRuns {
    let mut runs = BodyRuns::default();
    let mut trial = Trial {
        subject,
        fixtures,
        worker: Worker::default(),
        judged: Arc::default(),
        run: Run::new(),
    };
    let mut seen: Vec<Failure> = Vec::new();
    for input in accepted {
        runs.ran += 1;
        let Some(failure) = trial.run(input) else {
            continue;
        };
        if seen.iter().any(|other| other.is_like(&failure)) {
            continue;
        }
        runs.problems.push(trial.problem(input, &failure));
        let over = failure.is_final();
        seen.push(failure);
        if over {
            break;
        }
    }
    runs.judged.clone_from(&trial.judged.lock());
    runs
}

/// One tool whose body is being run.
struct Trial<'s, 'r> {
    subject: &'s Subject<'r>,
    fixtures: &'s Fixtures,
    worker: Worker,
    judged: Arc<Mutex<BTreeSet<String>>>,
    /// Of the calls with one input, so that no condition over the history sees those with another.
    run: Run,
}

/// A failed run.
pub(super) struct Failure {
    pub(super) clause: Option<String>,
    pub(super) fault: Fault,
}

impl Failure {
    pub(super) fn new(fault: Fault) -> Self {
        Self {
            clause: None,
            fault,
        }
    }

    /// Whether the same condition failed in the same way.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.fault) == std::mem::discriminant(&other.fault)
            && self.clause == other.clause
    }

    /// Whether further runs are pointless; each may take long.
    pub(super) fn is_final(&self) -> bool {
        self.fault.is_final()
    }
}

impl Trial<'_, '_> {
    /// The problem with the smallest input that shows it.
    fn problem(&mut self, input: &Value, failure: &Failure) -> Problem {
        let patience = self
            .fixtures
            .time(self.subject.tried)
            .saturating_mul(PATIENCE);
        let began = Instant::now();
        let mut smallest = None;
        let input = shrink::smallest(input.clone(), |candidate| {
            let tired = failure.is_final() && began.elapsed() > patience;
            if tired || !self.subject.accepts(candidate) {
                return false;
            }
            let again = self.run(candidate).filter(|again| again.is_like(failure));
            let fails = again.is_some();
            if let Some(again) = again {
                smallest = Some((candidate.clone(), again.fault));
            }
            fails
        });
        // The fault must belong to the input that is reported.
        let fault = smallest
            .filter(|(of, _)| *of == input)
            .map_or_else(|| failure.fault.clone(), |(_, fault)| fault);
        Problem {
            layer: Layer::Promise,
            clause: failure.clause.clone(),
            input: Some(input),
            ..Problem::of(self.subject.name(), fault)
        }
    }

    /// Runs the body, up to three times if the tool is idempotent.
    fn run(&mut self, input: &Value) -> Option<Failure> {
        let fresh;
        let registry = if self.fixtures.is_fresh(self.subject.tried) {
            match fixtures::registry_for(self.subject.registry, self.subject.name(), self.fixtures)
            {
                Ok(registry) => {
                    fresh = registry;
                    &fresh
                }
                Err(problem) => return Some(Failure::new(problem.fault)),
            }
        } else {
            self.subject.registry
        };
        self.begin();
        let first = match self.call(registry, input) {
            Ok(outcome) => outcome,
            Err(fault) => return Some(Failure::new(fault)),
        };
        if let Some(failure) = self.judge(&first) {
            return Some(failure);
        }
        let again = self.subject.info.hints().idempotent == Some(true) && first.is_ok();
        if !again {
            return None;
        }
        let second = match self.call(registry, input) {
            Ok(outcome) => outcome,
            Err(fault) => return Some(Failure::new(fault)),
        };
        if self.is_same(&first, &second) {
            return None;
        }
        // A deletion returns "removed" once and "not found" from then on, so only the second and third call are compared.
        let third = match self.call(registry, input) {
            Ok(outcome) => outcome,
            Err(fault) => return Some(Failure::new(fault)),
        };
        if self.is_same(&second, &third) {
            return None;
        }
        Some(Failure::new(Fault::NotIdempotent {
            second: describe(&second),
            third: describe(&third),
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
        let time = self.fixtures.time(self.subject.tried);
        let call = ToolCall::new("", self.subject.name(), input.to_string());
        let timed_out = || Fault::TimedOut {
            milliseconds: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
        };
        let job = Job {
            registry: registry.clone(),
            run: self.run.clone(),
            call,
            time,
            is_real: false,
        };
        match self.worker.call(job) {
            CallEnd::Ended(outcome) if outcome.status() == Status::TimedOut => Err(timed_out()),
            CallEnd::Ended(outcome) => Ok(*outcome),
            CallEnd::Never => Err(timed_out()),
            CallEnd::NoThread(why) => Err(Fault::Unjudged { why }),
        }
    }

    /// Begins a run of its own.
    fn begin(&mut self) {
        let judged = Arc::clone(&self.judged);
        self.run = Run::new().observe(Observer::new().events(move |event| {
            if let CheckEvent::Check(check) = event {
                judged.lock().insert(check.contract);
            }
        }));
    }

    fn judge(&self, outcome: &Outcome) -> Option<Failure> {
        judge(self.subject.output.as_ref(), outcome, &self.worker)
    }
}

/// Judges how a call ended: a refusal of its arguments or of the state is as good as a result.
pub(super) fn judge(
    output: Option<&Validator>,
    outcome: &Outcome,
    worker: &Worker,
) -> Option<Failure> {
    let message = || outcome.error().unwrap_or_default().to_owned();
    match outcome.status() {
        Status::Ok => judge_output(output?, outcome),
        Status::Panicked => Some(Failure::new(Fault::BodyPanicked {
            message: worker.last_panic().unwrap_or_else(message),
        })),
        Status::Violation => {
            let violation = outcome.violation().filter(|one| !is_own_refusal(one))?;
            Some(Failure {
                clause: Some(violation.contract.clone()),
                // What a model is told of it is less.
                fault: Fault::PromiseBroken {
                    message: violation.to_string(),
                },
            })
        }
        Status::Failed if is_unwritable(outcome) => {
            Some(Failure::new(Fault::ResultRefused { message: message() }))
        }
        // A tool may report that it failed.
        _ => None,
    }
}

fn judge_output(schema: &Validator, outcome: &Outcome) -> Option<Failure> {
    let output = match outcome.output()? {
        // As a value it is nothing, because `()` is given as nothing too; but that has no schema.
        "" => Value::from(""),
        _ => outcome.value()?,
    };
    let why = schema.validate(&output).err()?.to_string();
    Some(Failure::new(Fault::Output { output, why }))
}

/// Sorts the items of every array and the members of every object.
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

fn describe(outcome: &Outcome) -> String {
    match (outcome.output(), outcome.error()) {
        (Some(output), _) => format!("`ok` with {output}"),
        (None, error) => format!("`{}`: {}", outcome.status(), error.unwrap_or_default()),
    }
}

/// A condition on state may fail when the state has changed.
fn is_own_refusal(violation: &Violation) -> bool {
    let refuses = matches!(violation.kind, ConditionKind::Pre | ConditionKind::Given);
    refuses && violation.blame == Blame::Model
}
