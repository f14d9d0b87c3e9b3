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
    Entered { call_id: String },
    Ended(Box<Violation>),
}

/// Filled inside of calls, on any thread, and emptied by the run.
#[derive(Clone, Debug, Default)]
pub(super) struct Inbox(Arc<Mutex<Queue>>);

#[derive(Debug, Default)]
struct Queue {
    told: VecDeque<Told>,
    reader: Option<Waker>,
}

impl Inbox {
    pub(super) fn tell(&self, watched: Watched<'_>) {
        let told = match watched {
            Watched::Check(check) => Told::Check(check),
            Watched::Violation(violation) => Told::Violation(Box::new(violation.clone())),
            Watched::Entered { call_id, .. } => Told::Entered {
                call_id: call_id.to_owned(),
            },
            Watched::Ended(violation) => Told::Ended(Box::new(violation.clone())),
        };
        let mut queue = self.locked();
        queue.told.push_back(told);
        if let Some(reader) = queue.reader.take() {
            reader.wake();
        }
    }

    /// The next of it; without any, whoever asks is woken when there is more.
    pub(super) fn next(&self, task: &mut Context<'_>) -> Option<Told> {
        let mut queue = self.locked();
        let told = queue.told.pop_front();
        if told.is_none() {
            queue.reader = Some(task.waker().clone());
        }
        told
    }

    fn locked(&self) -> MutexGuard<'_, Queue> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
