//! The time of a run, which stands still while a person is asked.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Measures the time that a run has used; clones share it.
#[derive(Clone, Debug)]
pub(super) struct RunClock(Arc<Mutex<Times>>);

#[derive(Debug)]
struct Times {
    began: Instant,
    /// How many questions are open.
    open: u64,
    /// Since when, if any is.
    since: Instant,
    /// How long questions were open before that.
    thought: Duration,
}

impl RunClock {
    /// Starts for a run that has used this much time already.
    pub(super) fn start(used: Duration) -> Self {
        let now = Instant::now();
        Self(Arc::new(Mutex::new(Times {
            began: now.checked_sub(used).unwrap_or(now),
            open: 0,
            since: now,
            thought: Duration::ZERO,
        })))
    }

    pub(super) fn asked(&self) {
        let mut times = self.0.lock();
        if times.open == 0 {
            times.since = Instant::now();
        }
        times.open += 1;
    }

    pub(super) fn answered(&self) {
        let mut times = self.0.lock();
        times.open = times.open.saturating_sub(1);
        if times.open == 0 {
            let last = times.since.elapsed();
            times.thought += last;
        }
    }

    /// The time since the run began in which no question was open.
    pub(super) fn elapsed(&self) -> Duration {
        let times = self.0.lock();
        let last = if times.open > 0 {
            times.since.elapsed()
        } else {
            Duration::ZERO
        };
        times.began.elapsed().saturating_sub(times.thought + last)
    }
}
