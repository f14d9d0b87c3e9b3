use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::time::Instant;

/// What happened in a run, and when by its own clock; shown when it fails.
#[derive(Clone, Debug)]
pub(super) struct Told {
    began: Instant,
    lines: Arc<Mutex<Vec<String>>>,
}

impl Default for Told {
    fn default() -> Self {
        Self {
            began: Instant::now(),
            lines: Arc::default(),
        }
    }
}

impl Told {
    pub(super) fn tell(&self, what: fmt::Arguments<'_>) {
        let line = format!("{:>8} ms: {what}", self.began.elapsed().as_millis());
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.push(line);
    }
}

impl fmt::Display for Told {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        f.write_str(&lines.join("\n  "))
    }
}
