//! Makes the calls of a sequence, each sequence with a state and a run of its own.

use std::sync::Arc;

use contract_runtime::__family::TriedTool;
use contract_runtime::{ConditionKind, Policy};
use contract_runtime::{Outcome, Registry, Run, Status, ToolCall};
use parking_lot::Mutex;
use serde_json::Value;

use super::call::SequenceCall;
use crate::coverage::Coverage;
use crate::fixtures::{self, Fixtures};
use crate::postconditions::{Failure, judge};
use crate::problem::Fault;
use crate::subject::Subject;
use crate::worker::{Job, Worker};

/// Makes sequences of calls of the same tools.
pub(super) struct Player<'p, 'r> {
    tools: Vec<TriedTool<'r>>,
    subjects: &'p [Subject<'r>],
    fixtures: &'p Fixtures,
    worker: Worker,
    pub(super) coverage: Arc<Mutex<Coverage>>,
}

/// One sequence that is being made.
pub(super) struct Play {
    registry: Registry,
    run: Run,
    turn: Run,
    /// The next call begins a turn.
    is_apart: bool,
    /// What each call returned.
    pub(super) results: Vec<Option<Value>>,
}

/// What came of a call.
pub(super) enum Step {
    /// It succeeded.
    Succeeded,
    /// It was refused, or said that it failed.
    Failed,
    Broke(Break),
}

/// Where a sequence broke a promise.
pub(super) struct Break {
    /// The place of the call.
    pub(super) place: usize,
    pub(super) tool: String,
    pub(super) failure: Box<Failure>,
}

impl Play {
    /// Lets the next call begin a turn, whatever it says.
    pub(super) fn begin_turn(&mut self) {
        self.is_apart = true;
    }
}

impl Break {
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.tool == other.tool && self.failure.is_like(&other.failure)
    }
}

impl<'p, 'r> Player<'p, 'r> {
    pub(super) fn new(subjects: &'p [Subject<'r>], fixtures: &'p Fixtures) -> Self {
        Self {
            tools: subjects.iter().map(|subject| subject.tried).collect(),
            subjects,
            fixtures,
            worker: Worker::default(),
            coverage: Arc::default(),
        }
    }

    /// How many tools there are.
    pub(super) fn tools(&self) -> u32 {
        u32::try_from(self.tools.len()).unwrap_or(u32::MAX)
    }

    pub(super) fn knows(&self, tool: &str) -> bool {
        self.subjects.iter().any(|subject| subject.name() == tool)
    }

    /// Resets the state.
    ///
    /// # Errors
    ///
    /// Why it could not be reset.
    pub(super) fn begin(&self) -> Result<Play, String> {
        let observer = Coverage::observer(&self.coverage);
        let run = Run::new().policy(Policy::Enforce).observe(observer);
        Ok(Play {
            registry: fixtures::registry_of(&self.tools, self.fixtures)?,
            turn: run.turn(),
            run,
            is_apart: true,
            results: Vec::new(),
        })
    }

    /// Makes the next call of a sequence, with what earlier ones returned in the place of what they returned at another time.
    pub(super) fn call(&mut self, play: &mut Play, call: &mut SequenceCall) -> Step {
        for from in &call.returned {
            let result = play.results.get(from.call).and_then(Option::as_ref);
            let value = result.and_then(|result| result.pointer(&from.place));
            if let (Some(value), Some(slot)) = (value, call.arguments.pointer_mut(&from.argument)) {
                slot.clone_from(value);
            }
        }
        if !call.same_turn || play.is_apart {
            play.turn = play.run.turn();
            play.is_apart = false;
            call.same_turn = false;
        }
        let mut subjects = self.subjects.iter();
        let Some(subject) = subjects.find(|subject| subject.name() == call.tool) else {
            return Step::Failed;
        };
        let outcome = self.worker.call(Job {
            registry: play.registry.clone(),
            run: play.turn.clone(),
            call: ToolCall::new(
                (play.results.len() + 1).to_string(),
                call.tool.as_str(),
                call.arguments.to_string(),
            ),
            time: self.fixtures.time(subject.tried),
            // Otherwise each condition is enforced, as it is for single calls.
            is_real: subject.info.asks(),
        });
        let judged = match &outcome {
            Ok(outcome) => self.judge(subject, outcome),
            Err(fault) => Err(fault.clone().into()),
        };
        let place = play.results.len();
        let result = outcome.ok().and_then(|outcome| {
            let output = outcome.output()?;
            outcome.value().or_else(|| Some(Value::from(output)))
        });
        let step = match judged {
            Err(failure) => Step::Broke(Break {
                place,
                tool: call.tool.clone(),
                failure,
            }),
            Ok(()) if result.is_some() => Step::Succeeded,
            Ok(()) => Step::Failed,
        };
        play.results.push(result);
        step
    }

    fn judge(&self, subject: &Subject<'_>, outcome: &Outcome) -> Result<(), Box<Failure>> {
        if matches!(outcome.status(), Status::UnknownTool | Status::Overloaded) {
            let why = outcome.error().unwrap_or_default();
            let why = format!("{}: {why}", outcome.status());
            return Err(Fault::Unjudged { why }.into());
        }
        let refuses = |kind| matches!(kind, ConditionKind::Pre | ConditionKind::Given);
        // What is only observed counts as enforced, so this call would not have been made.
        if outcome.observed().iter().any(|one| refuses(one.kind)) {
            return Ok(());
        }
        judge(subject.output.as_ref(), outcome, &self.worker)?;
        let broken = outcome.observed().first();
        broken.map_or(Ok(()), |broken| Err(Box::new(Failure::of(broken))))
    }

    /// Makes a whole sequence, up to the first call that breaks a promise.
    pub(super) fn play(&mut self, calls: &mut [SequenceCall]) -> Option<Break> {
        let mut play = self.begin().ok()?;
        calls
            .iter_mut()
            .find_map(|call| match self.call(&mut play, call) {
                Step::Broke(broken) => Some(broken),
                Step::Succeeded | Step::Failed => None,
            })
    }
}
