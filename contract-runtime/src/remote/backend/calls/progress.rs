use std::time::{Duration, Instant};

use super::Calls;
use crate::remote::backend::event::SessionEvent;
use crate::remote::protocol::ToolProgress;
use crate::tool::Progress;

/// How often a watcher hears of one call: the room for what waits is bounded, and no tool may take all of it.
const EVERY: Duration = Duration::from_millis(100);

/// Who is told how far a call is.
#[derive(Debug, Default)]
pub(super) struct Progressing {
    call_id: String,
    progress: Progress,
    told: Option<Instant>,
}

impl Progressing {
    pub(super) fn new(call_id: &str, progress: &Progress) -> Self {
        Self {
            call_id: call_id.to_owned(),
            progress: progress.clone(),
            told: None,
        }
    }

    /// The model's id of the call, when watchers are to hear of it again.
    fn due(&mut self) -> Option<String> {
        let is_due = self.told.is_none_or(|told| told.elapsed() >= EVERY);
        is_due.then(|| {
            self.told = Some(Instant::now());
            self.call_id.clone()
        })
    }
}

impl Calls {
    /// A call that is under way says how far it is.
    pub(in crate::remote::backend) fn reported(&self, told: ToolProgress) {
        let (progress, due) = {
            let mut state = self.state();
            let Some(open) = state.open.get_mut(&told.key) else {
                return;
            };
            (open.progress.progress.clone(), open.progress.due())
        };
        if let Some(call_id) = due {
            self.events.tell(SessionEvent::CallProgress {
                key: told.key,
                call_id,
                done: told.done,
                total: told.total,
                message: told.message.clone(),
            });
        }
        progress.report(told.done, told.total, told.message);
    }
}
