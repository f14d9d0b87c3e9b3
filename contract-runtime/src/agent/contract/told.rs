//! What dispatch tells of a run, kept until the run's own loop looks at it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Waker};

use crate::contract::violation::Violation;
use crate::contract::watch::{Check, Watched};

/// What dispatch told.
#[derive(Debug)]
pub(super) enum Told {
    Check(Check),
    Violation(Box<Violation>),
    Entered {
        call_id: String,
        tool: String,
        arguments: String,
    },
    Ended(Box<Violation>),
    Late(Box<Violation>),
    /// Checks and violations that were too many to be kept.
    Omitted {
        checks: u64,
        violations: u64,
    },
}

/// The most checks and violations that are kept; a body that asserts in a loop does not come back before its end.
const KEPT: usize = 10_000;

/// Filled inside of calls, on any thread, and emptied by the run.
#[derive(Clone, Debug, Default)]
pub(super) struct Inbox(Arc<Mutex<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    told: VecDeque<Told>,
    omitted_checks: u64,
    omitted_violations: u64,
    reader: Option<Waker>,
}

impl Inbox {
    pub(super) fn tell(&self, watched: Watched<'_>, arguments: &str) {
        let mut queue = self.locked();
        match watched {
            Watched::Check(_) if queue.is_full() => queue.omitted_checks += 1,
            Watched::Violation(_) if queue.is_full() => queue.omitted_violations += 1,
            Watched::Check(check) => queue.told.push_back(Told::Check(check)),
            Watched::Violation(violation) => {
                let violation = Box::new(violation.clone());
                queue.told.push_back(Told::Violation(violation));
            }
            Watched::Entered { call_id, tool } => queue.push_decisive(Told::Entered {
                call_id: call_id.to_owned(),
                tool: tool.to_owned(),
                arguments: arguments.to_owned(),
            }),
            Watched::Ended(violation) => {
                queue.push_decisive(Told::Ended(Box::new(violation.clone())));
            }
            Watched::Late(violation) => {
                queue.push_decisive(Told::Late(Box::new(violation.clone())));
            }
        }
        if let Some(reader) = queue.reader.take() {
            drop(queue);
            reader.wake();
        }
    }

    /// The next of it; without any, whoever asks is woken when there is more.
    pub(super) fn next(&self, task: &mut Context<'_>) -> Option<Told> {
        let mut queue = self.locked();
        let told = queue.told.pop_front().or_else(|| queue.omitted());
        if told.is_none() {
            queue.reader = Some(task.waker().clone());
        }
        told
    }

    fn locked(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn is_full(&self) -> bool {
        self.told.len() >= KEPT
    }

    /// What the run decides by is never left out, and comes after the number of what was.
    fn push_decisive(&mut self, told: Told) {
        let omitted = self.omitted();
        self.told.extend(omitted);
        self.told.push_back(told);
    }

    fn omitted(&mut self) -> Option<Told> {
        let checks = std::mem::take(&mut self.omitted_checks);
        let violations = std::mem::take(&mut self.omitted_violations);
        (checks + violations > 0).then_some(Told::Omitted { checks, violations })
    }
}
