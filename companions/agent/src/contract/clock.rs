//! The time of a run, which stands still while a person is asked.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::time::Instant;

/// Measures the time that a run has used; clones share it.
#[derive(Clone, Debug)]
pub(super) struct RunClock {
    times: Arc<Mutex<Times>>,
    /// The clock of the run around this one, which stands still, too.
    parent: Option<Box<Self>>,
}

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
    pub(super) fn start(used: Duration, parent: Option<Self>) -> Self {
        let now = Instant::now();
        let times = Times {
            began: now.checked_sub(used).unwrap_or(now),
            open: 0,
            since: now,
            thought: Duration::ZERO,
        };
        Self {
            times: Arc::new(Mutex::new(times)),
            parent: parent.map(Box::new),
        }
    }

    pub(super) fn asked(&self) {
        if let Some(parent) = &self.parent {
            parent.asked();
        }
        let mut times = self.times.lock();
        if times.open == 0 {
            times.since = Instant::now();
        }
        times.open += 1;
    }

    pub(super) fn answered(&self) {
        if let Some(parent) = &self.parent {
            parent.answered();
        }
        let mut times = self.times.lock();
        times.open = times.open.saturating_sub(1);
        if times.open == 0 {
            let last = times.since.elapsed();
            times.thought += last;
        }
    }

    /// The time since the run began in which no question was open.
    pub(super) fn elapsed(&self) -> Duration {
        let times = self.times.lock();
        let last = if times.open > 0 {
            times.since.elapsed()
        } else {
            Duration::ZERO
        };
        times.began.elapsed().saturating_sub(times.thought + last)
    }
}
