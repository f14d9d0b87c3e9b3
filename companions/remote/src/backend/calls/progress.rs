//! What a running call reports: its progress, of which events are rate-limited, and its log.

use std::time::{Duration, Instant};

use contract_runtime::Progress;

use super::Calls;
use crate::backend::event::SessionEvent;
use crate::protocol::{ToolLog, ToolProgress};

/// The shortest time between two progress events of a call: the event queue is bounded, and no tool may fill it.
const MIN_INTERVAL: Duration = Duration::from_millis(100);

/// Reports the progress of one call.
#[derive(Debug, Default)]
pub(super) struct ProgressReporter {
    call_id: String,
    progress: Progress,
    last_event: Option<Instant>,
}

impl ProgressReporter {
    pub(super) fn new(call_id: &str, progress: &Progress) -> Self {
        Self {
            call_id: call_id.to_owned(),
            progress: progress.clone(),
            last_event: None,
        }
    }

    /// Returns the model's id of the call if another event is due.
    fn due(&mut self) -> Option<String> {
        let is_due = self
            .last_event
            .is_none_or(|last| last.elapsed() >= MIN_INTERVAL);
        is_due.then(|| {
            self.last_event = Some(Instant::now());
            self.call_id.clone()
        })
    }
}

impl Calls {
    /// Handles a progress report; `false` if the call is not in flight.
    pub(in crate::backend) fn handle_progress(&self, mut report: ToolProgress) -> bool {
        let (progress, due) = {
            let mut state = self.state();
            report.key = state.resolve_key(report.key);
            let Some(open) = state.open.get_mut(&report.key) else {
                return false;
            };
            (open.progress.progress.clone(), open.progress.due())
        };
        if let Some(call_id) = due {
            self.events.emit(SessionEvent::CallProgress {
                key: report.key,
                call_id,
                done: report.done,
                total: report.total,
                message: report.message.clone(),
            });
        }
        progress.report(report.done, report.total, report.message);
        true
    }

    /// Passes a log message to whoever listens; `false` if the call is not in flight.
    pub(in crate::backend) fn handle_log(&self, record: ToolLog) -> bool {
        let log = {
            let state = self.state();
            let Some(open) = state.open.get(&state.resolve_key(record.key)) else {
                return false;
            };
            open.log.clone()
        };
        log.log(record.level, record.message);
        true
    }
}
