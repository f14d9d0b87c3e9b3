//! Sends progress notifications of a call, in order and with backpressure.

use std::collections::VecDeque;
use std::sync::Arc;

use contract_runtime::{Progress, ProgressReport};
use parking_lot::Mutex;
use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::revision::Revision;

/// The most reports that wait for a slow client; beyond that, a new one replaces the last.
const WAITING: usize = 16;

/// The progress reports of one call: sent in order, with growing values, and never more than a few waiting.
pub(super) struct Reports {
    queue: Arc<Queue>,
    sending: JoinHandle<()>,
}

impl Reports {
    /// Starts sending, until `cancelled`.
    pub(super) fn to(
        peer: Peer<RoleServer>,
        token: ProgressToken,
        cancelled: CancellationToken,
        revision: Revision,
    ) -> Self {
        let queue = Arc::new(Queue::default());
        let waiting = Arc::clone(&queue);
        // A task of its own, so that reports of a body that does not await are sent while it runs.
        let sending = tokio::spawn(async move {
            let sending = async {
                while let Some(report) = waiting.next().await {
                    let mut told = ProgressNotificationParam::new(token.clone(), report.done);
                    told.total = report.total.filter(|total| total.is_finite());
                    told.message = Some(report.message)
                        .filter(|message| revision.has_progress_messages() && !message.is_empty());
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
        // It ends by itself, or with a panic of the transport, which is reported elsewhere.
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
    /// The last value: the protocol requires each report to be greater than the one before.
    furthest: Option<f64>,
    closed: bool,
}

impl Queue {
    fn put(&self, report: ProgressReport) {
        {
            let mut state = self.state.lock();
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
        self.state.lock().closed = true;
        self.changed.notify_one();
    }

    async fn next(&self) -> Option<ProgressReport> {
        loop {
            {
                let mut state = self.state.lock();
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
