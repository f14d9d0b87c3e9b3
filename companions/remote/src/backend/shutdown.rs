//! The state and the graceful shutdown of a listening backend.

use std::sync::atomic::Ordering;
use std::time::Duration;

use super::BackendHandle;
use super::state::BackendState;

impl BackendHandle {
    /// Returns what the backend holds at this moment, and how many connections it has refused.
    #[must_use]
    pub fn state(&self) -> BackendState {
        let (tasks, attached) = self.shared.count_tasks();
        let listener = &self.shared.listener;
        BackendState {
            connections: listener.admission.connections(),
            tasks,
            attached,
            open_calls: listener.drain.calls_in_flight(),
            accepted: listener.admission.counts.accepted.load(Ordering::Relaxed),
            rejections: listener.admission.counts.rejections(),
            shutting_down: listener.drain.is_draining(),
        }
    }

    /// Shuts down gracefully: no executor is accepted and no call begun any more, open calls have `drain` to end, and
    /// then executors are disconnected with close code 1001 and told to reconnect.
    ///
    /// A call that is still open then continues on the executor, which keeps its result and sends it to the backend that
    /// opens the task next. Nothing is undone: this object listens until it is dropped, and says that it is shutting down.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with time.
    pub async fn shutdown(&self, drain: Duration) {
        self.shared.listener.drain.run(drain).await;
    }
}
