use std::sync::atomic::Ordering;
use std::time::Duration;

use super::Listening;
use super::state::BackendState;

impl Listening {
    /// What it holds at this moment, and whom it has turned away.
    #[must_use]
    pub fn state(&self) -> BackendState {
        let (tasks, attached) = self.shared.tasks_and_attached();
        let entrance = &self.shared.entrance;
        BackendState {
            connections: entrance.crowd.connections(),
            tasks,
            attached,
            open_calls: entrance.doors.open_calls(),
            let_in: entrance.crowd.counts.let_in.load(Ordering::Relaxed),
            turned_away: entrance.crowd.counts.turned_away(),
            shutting_down: entrance.doors.closed(),
        }
    }

    /// Stops in good order: no executor is let in and no call begun any more, calls that are open have as long as `drain` to
    /// end, and then executors are sent away with close code 1001 and told to dial again.
    ///
    /// A call that is open even then goes on where it runs: the executor keeps its result and brings it to the backend that
    /// opens the task next. Nothing is undone: this object listens until it is dropped, and says that it is shutting down.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time.
    pub async fn shutdown(&self, drain: Duration) {
        self.shared.entrance.doors.close(drain).await;
    }
}
