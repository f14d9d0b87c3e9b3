//! Runs bodies, and checks that they keep their postconditions.

use std::sync::Arc;
use std::time::Instant;

use contract_runtime::__family::is_unwritable;
use contract_runtime::{Blame, ConditionKind, Violation};
use contract_runtime::{Outcome, Registry, Run, Status, ToolCall};
use jsonschema::Validator;
use parking_lot::Mutex;
use serde_json::Value;

use super::coverage::Coverage;
use super::fixtures::{self, Fixtures};
use super::problem::{Fault, Layer, Problem};
use super::report::Verified;
use super::shrink;
use super::subject::Subject;
use super::worker::{Job, Worker};

/// How long a smaller input is searched for if the body times out, as a multiple of its time limit.
const PATIENCE: u32 = 5;

/// Runs the body on arguments that all preconditions accept.
pub(super) fn run(
    subject: &Subject<'_>,
    fixtures: &Fixtures,
    accepted: &[Value],
    verified: &mut Verified,
) {
    let mut bodies = Bodies {
        subject,
        fixtures,
        worker: Worker::default(),
        coverage: Arc::new(Mutex::new(std::mem::take(&mut verified.evidence.coverage))),
        run: Run::new(),
    };
    let mut seen: Vec<Box<Failure>> = Vec::new();
    for input in accepted {
        verified.ran += 1;
        let Err(failure) = bodies.run(input) else {
            continue;
        };
        if seen.iter().any(|other| other.is_like(&failure)) {
            continue;
        }
        verified.problems.push(bodies.problem(input, &failure));
        let is_final = failure.fault.is_final();
        seen.push(failure);
        if is_final {
            break;
        }
    }
    verified.evidence.has_run = true;
    verified.evidence.coverage = std::mem::take(&mut bodies.coverage.lock());
}

/// One tool whose body is being run.
struct Bodies<'s, 'r> {
    subject: &'s Subject<'r>,
    fixtures: &'s Fixtures,
    worker: Worker,
    coverage: Arc<Mutex<Coverage>>,
    /// Of the calls with one input, so that no condition over the history sees those with another.
    run: Run,
}

/// A failed run.
pub(super) struct Failure {
    pub(super) clause: Option<String>,
    pub(super) fault: Fault,
}

impl From<Fault> for Box<Failure> {
    fn from(fault: Fault) -> Self {
        Self::new(Failure {
            clause: None,
            fault,
        })
    }
}

impl Failure {
    /// What a model is told of it is less.
    pub(super) fn of(broken: &Violation) -> Self {
        Self {
            clause: Some(broken.contract.clone()),
            fault: Fault::PromiseBroken {
                message: broken.to_string(),
            },
        }
    }

    /// Whether the same condition failed in the same way.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        std::mem::discriminant(&self.fault) == std::mem::discriminant(&other.fault)
            && self.clause == other.clause
    }
}

impl Bodies<'_, '_> {
    /// The problem with the smallest input that shows it.
    fn problem(&mut self, input: &Value, failure: &Failure) -> Problem {
        let time = self.fixtures.time(self.subject.tried);
        let patience = time.saturating_mul(PATIENCE);
        let began = Instant::now();
        let mut fault = failure.fault.clone();
        let input = shrink::smallest(input.clone(), |candidate| {
            let tired = failure.fault.is_final() && began.elapsed() > patience;
            if tired || !self.subject.accepts(candidate) {
                return false;
            }
            match self.run(candidate) {
                // The fault must belong to the input that is reported.
                Err(again) if again.is_like(failure) => {
                    fault = again.fault;
                    true
                }
                _ => false,
            }
        });
        Problem {
            layer: Layer::Promise,
            clause: failure.clause.clone(),
            input: Some(input),
            ..Problem::of(self.subject.name(), fault)
        }
    }

    /// Runs the body, up to three times if the tool is idempotent.
    fn run(&mut self, input: &Value) -> Result<(), Box<Failure>> {
        let mut registry = self.subject.registry.clone();
        if self.fixtures.is_fresh(self.subject.tried) {
            let fresh = fixtures::registry_for(&registry, self.subject.name(), self.fixtures);
            registry = fresh.map_err(|problem| problem.fault)?;
        }
        self.run = Run::new().observe(Coverage::observer(&self.coverage));
        let first = self.call(&registry, input)?;
        let output = self.subject.output.as_ref();
        judge(output, &first, &self.worker)?;
        if self.subject.info.hints().idempotent != Some(true) || !first.is_ok() {
            return Ok(());
        }
        let second = self.call(&registry, input)?;
        if self.is_same(&first, &second) {
            return Ok(());
        }
        // A deletion returns "removed" once and "not found" from then on, so only the second and third call are compared.
        let third = self.call(&registry, input)?;
        if self.is_same(&second, &third) {
            return Ok(());
        }
        let (second, third) = (describe(&second), describe(&third));
        Err(Fault::NotIdempotent { second, third }.into())
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
        self.worker.call(Job {
            registry: registry.clone(),
            run: self.run.clone(),
            call: ToolCall::new("", self.subject.name(), input.to_string()),
            time: self.fixtures.time(self.subject.tried),
            is_real: false,
        })
    }
}

/// Judges how a call ended: a refusal of its arguments or of the state is as good as a result.
pub(super) fn judge(
    output: Option<&Validator>,
    outcome: &Outcome,
    worker: &Worker,
) -> Result<(), Box<Failure>> {
    let message = || outcome.error().unwrap_or_default().to_owned();
    let fault = match outcome.status() {
        Status::Ok => output.and_then(|schema| judge_output(schema, outcome)),
        Status::Panicked => Some(Fault::BodyPanicked {
            message: worker.last_panic().unwrap_or_else(message),
        }),
        Status::Failed if is_unwritable(outcome) => {
            Some(Fault::ResultRefused { message: message() })
        }
        // A tool may report that it failed.
        _ => None,
    };
    if let Some(violation) = outcome.violation().filter(|one| !is_own_refusal(one)) {
        return Err(Box::new(Failure::of(violation)));
    }
    fault.map_or(Ok(()), |fault| Err(fault.into()))
}

fn judge_output(schema: &Validator, outcome: &Outcome) -> Option<Fault> {
    let output = match outcome.output()? {
        // As a value it is nothing, because `()` is given as nothing too; but that has no schema.
        "" => Value::from(""),
        _ => outcome.value()?,
    };
    let why = schema.validate(&output).err()?.to_string();
    Some(Fault::Output { output, why })
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
