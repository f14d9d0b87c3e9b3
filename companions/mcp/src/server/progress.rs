use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::{Progress, ProgressReport};

/// Reports that wait for a slow client; the newest takes the place of the last one when there are more.
const WAITING: usize = 16;

/// The reports of one call, on their way to its client: in order, growing, and never more than a handful at a time.
pub(super) struct Reports {
    queue: Arc<Queue>,
    sending: JoinHandle<()>,
}

impl Reports {
    /// Starts to send; until `cancelled`, where the client wants to hear no more.
    pub(super) fn to(
        peer: Peer<RoleServer>,
        token: ProgressToken,
        cancelled: CancellationToken,
    ) -> Self {
        let queue = Arc::new(Queue::default());
        let waiting = Arc::clone(&queue);
        // A task of its own: a body that does not await is heard while it runs.
        let sending = tokio::spawn(async move {
            let sending = async {
                while let Some(report) = waiting.next().await {
                    let mut told = ProgressNotificationParam::new(token.clone(), report.done);
                    told.total = report.total.filter(|total| total.is_finite());
                    told.message = Some(report.message).filter(|message| !message.is_empty());
                    if peer.notify_progress(told).await.is_err() {
                        break;
                    }
                }
            };
            tokio::select! {
                () = sending => {}
                () = cancelled.cancelled() => {}
            }
        });
        Self { queue, sending }
    }

    pub(super) fn progress(&self) -> Progress {
        let queue = Arc::clone(&self.queue);
        Progress::new(move |report| queue.put(report))
    }

    /// Sends what is left, so that nothing comes after the result.
    pub(super) async fn finish(self) {
        self.queue.close();
        // It ends of itself, or with a panic of the transport that shows elsewhere.
        let _ = self.sending.await;
    }
}

#[derive(Default)]
struct Queue {
    state: Mutex<State>,
    changed: Notify,
}

#[derive(Default)]
struct State {
    reports: VecDeque<ProgressReport>,
    /// What was taken last: the protocol wants every report to be further than the one before.
    furthest: Option<f64>,
    closed: bool,
}

impl Queue {
    fn put(&self, report: ProgressReport) {
        {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let further = state.furthest.is_none_or(|furthest| report.done > furthest);
            if state.closed || !further || !report.done.is_finite() {
                return;
            }
            state.furthest = Some(report.done);
            if state.reports.len() >= WAITING {
                state.reports.pop_back();
            }
            state.reports.push_back(report);
        }
        self.changed.notify_one();
    }

    fn close(&self) {
        self.state
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .closed = true;
        self.changed.notify_one();
    }

    async fn next(&self) -> Option<ProgressReport> {
        loop {
            {
                let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(report) = state.reports.pop_front() {
                    return Some(report);
                }
                if state.closed {
                    return None;
                }
            }
            self.changed.notified().await;
        }
    }
}
