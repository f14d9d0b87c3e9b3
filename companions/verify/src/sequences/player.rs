//! Makes the calls of a sequence, each sequence with a state and a run of its own.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use contract_runtime::__family::TriedTool;
use contract_runtime::observe::{CheckEvent, Observer};
use contract_runtime::{ConditionKind, Policy, Violation};
use contract_runtime::{Outcome, Registry, Run, Status, ToolCall};
use parking_lot::Mutex;
use serde_json::Value;

use super::call::SequenceCall;
use crate::fixtures::{self, Fixtures};
use crate::postconditions::{Failure, judge};
use crate::problem::Fault;
use crate::subject::Subject;
use crate::worker::{CallEnd, Job, Worker};

/// What was seen of the conditions, of any function.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) judged: BTreeSet<String>,
    /// How often the body of each tool was entered.
    pub(crate) entered: BTreeMap<String, u32>,
    /// How often each precondition was evaluated, and how often it was false.
    preconditions: BTreeMap<String, (u32, u32)>,
}

impl Tally {
    /// Whether a precondition was true, and whether it was false.
    pub(crate) fn decided(&self, id: &str) -> (bool, bool) {
        let counted = self.preconditions.get(id).copied();
        let (evaluated, failed) = counted.unwrap_or_default();
        (evaluated > failed, failed > 0)
    }

    fn note(&mut self, event: &CheckEvent<'_>) {
        match event {
            CheckEvent::Check(check) => {
                if check.kind == ConditionKind::Pre {
                    let counts = self.preconditions.entry(check.contract.clone());
                    counts.or_default().0 += 1;
                }
                self.judged.insert(check.contract.clone());
            }
            CheckEvent::Violation(Violation {
                contract,
                kind: ConditionKind::Pre,
                ..
            }) => {
                self.preconditions.entry(contract.clone()).or_default().1 += 1;
            }
            CheckEvent::Entered { tool, .. } => {
                *self.entered.entry((*tool).to_owned()).or_default() += 1;
            }
            _ => {}
        }
    }
}

/// Makes sequences of calls of the same tools.
pub(super) struct Player<'p, 'r> {
    tools: Vec<TriedTool<'r>>,
    subjects: &'p [Subject<'r>],
    fixtures: &'p Fixtures,
    worker: Worker,
    pub(super) tally: Arc<Mutex<Tally>>,
    /// The calls that were made.
    pub(super) calls: u32,
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
    pub(super) failure: Failure,
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
            tally: Arc::default(),
            calls: 0,
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
        let tally = Arc::clone(&self.tally);
        let run = Run::new()
            .policy(Policy::Enforce)
            .observe(Observer::new().events(move |event| tally.lock().note(&event)));
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
        let time = self.fixtures.time(subject.tried);
        let (result, failure) = match self.made(play, call, time) {
            CallEnd::Ended(outcome) if outcome.status() == Status::TimedOut => {
                (None, Some(timed_out(time)))
            }
            CallEnd::Ended(outcome) => (result(&outcome), self.judge(subject, &outcome)),
            CallEnd::Never => (None, Some(timed_out(time))),
            CallEnd::NoThread(why) => (None, Some(Failure::new(Fault::Unjudged { why }))),
        };
        let place = play.results.len();
        let tool = call.tool.clone();
        let kept = if result.is_some() {
            Step::Succeeded
        } else {
            Step::Failed
        };
        play.results.push(result);
        failure.map_or(kept, |failure| {
            Step::Broke(Break {
                place,
                tool,
                failure,
            })
        })
    }

    fn made(&mut self, play: &Play, call: &SequenceCall, time: Duration) -> CallEnd {
        self.calls = self.calls.saturating_add(1);
        let id = (play.results.len() + 1).to_string();
        let asks = play
            .registry
            .tool(&call.tool)
            .is_some_and(|tool| tool.asks());
        self.worker.call(Job {
            registry: play.registry.clone(),
            run: play.turn.clone(),
            call: ToolCall::new(id, call.tool.as_str(), call.arguments.to_string()),
            time,
            // Otherwise each condition is enforced, as it is for single calls.
            is_real: asks,
        })
    }

    fn judge(&self, subject: &Subject<'_>, outcome: &Outcome) -> Option<Failure> {
        let unheard = matches!(outcome.status(), Status::UnknownTool | Status::Overloaded);
        if unheard {
            let why = format!(
                "{}: {}",
                outcome.status(),
                outcome.error().unwrap_or_default()
            );
            return Some(Failure::new(Fault::Unjudged { why }));
        }
        let refuses = |kind| matches!(kind, ConditionKind::Pre | ConditionKind::Given);
        // What is only observed counts as enforced, so this call would not have been made.
        if outcome.observed().iter().any(|one| refuses(one.kind)) {
            return None;
        }
        let mut observed = outcome.observed().iter().map(|one| Failure {
            clause: Some(one.contract.clone()),
            fault: Fault::PromiseBroken {
                message: one.to_string(),
            },
        });
        judge(subject.output.as_ref(), outcome, &self.worker).or_else(|| observed.next())
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

fn timed_out(time: Duration) -> Failure {
    Failure::new(Fault::TimedOut {
        milliseconds: u64::try_from(time.as_millis()).unwrap_or(u64::MAX),
    })
}

fn result(outcome: &Outcome) -> Option<Value> {
    let output = outcome.output()?;
    outcome.value().or_else(|| Some(Value::from(output)))
}

/// Whether there is time left.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    began: Instant,
    limit: Duration,
}

impl Clock {
    pub(super) fn new(limit: Duration) -> Self {
        Self {
            began: Instant::now(),
            limit,
        }
    }

    pub(super) fn is_over(self) -> bool {
        self.began.elapsed() > self.limit
    }
}
