//! The event log of a run, printed when it fails.

use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

/// The events of a run with their simulated times; printed when it fails.
#[derive(Clone, Debug)]
pub(super) struct Trace {
    began: Instant,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Default for Trace {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            lines: Arc::default(),
        }
    }
}

impl Trace {
    pub(super) fn record(&self, what: fmt::Arguments<'_>) {
        let line = format!("{:>8} ms: {what}", self.began.elapsed().as_millis());
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(line);
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        f.write_str(&lines.join("\n  "))
    }
}
