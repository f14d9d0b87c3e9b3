//! The run of a task: what conditions of its tools may ask about earlier calls.

use contract_runtime::Run;
use parking_lot::Mutex;

/// The calls of one task in this process. Those of one answer of the model are of one turn.
#[derive(Debug)]
pub(super) struct TaskRun {
    run: Run,
    turn: Mutex<Turn>,
}

#[derive(Debug)]
struct Turn {
    /// The number of the model's answer.
    generation: u64,
    run: Run,
    has_begun: bool,
}

impl TaskRun {
    pub(super) fn new() -> Self {
        let run = Run::new();
        let turn = Turn {
            generation: 0,
            run: run.as_of_now(),
            has_begun: false,
        };
        Self {
            run,
            turn: Mutex::new(turn),
        }
    }

    /// Notes that the backend has accepted this executor as the one of this number in the task.
    pub(super) fn accepted(&self, epoch: u64) {
        let mut turn = self.turn.lock();
        // Later ones are this process again.
        if !std::mem::replace(&mut turn.has_begun, true) && epoch > 1 {
            turn.run = self.run.clone().with_earlier_calls().as_of_now();
        }
    }

    /// The run of a call that this answer of the model asked for.
    ///
    /// A call of an older answer, which comes late, has read no more than that answer had.
    pub(super) fn of(&self, generation: u64) -> Run {
        let mut turn = self.turn.lock();
        if generation > turn.generation {
            turn.generation = generation;
            turn.run = self.run.as_of_now();
        }
        turn.run.clone()
    }
}
