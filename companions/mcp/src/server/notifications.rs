//! Sends the progress reports and log messages of a call, in order and with backpressure.

#![allow(
    deprecated,
    reason = "the protocol gives up log messages in time; clients of today show them"
)]

use std::collections::VecDeque;
use std::sync::Arc;

use contract_runtime::{CancellationToken, LogLevel, LogRecord, Progress, ProgressReport};
use parking_lot::Mutex;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
};
use rmcp::service::{Peer, RoleServer, ServiceError};
use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::Notify;
use tokio::task::JoinHandle;

use super::revision::Revision;

/// The most reports that wait for a slow client; beyond that, a new one replaces the last.
const REPORTS: usize = 16;

/// The most log messages that wait for a slow client; beyond that, they are counted.
const MESSAGES: usize = 256;

/// The longest log message, in characters.
const LONGEST: usize = 10_000;

/// The least level of the log messages that a client wants.
#[derive(Clone, Debug, Default)]
pub(super) struct WantedLevel(Arc<Mutex<Option<LogLevel>>>);

impl WantedLevel {
    pub(super) fn set(&self, level: LoggingLevel) {
        *self.0.lock() = Some(of_client(level));
    }

    /// What is sent to a client that has not said what it wants.
    pub(super) fn get(&self) -> LogLevel {
        self.0.lock().unwrap_or(LogLevel::Info)
    }
}

const LEVELS: [(LogLevel, LoggingLevel); 8] = [
    (LogLevel::Debug, LoggingLevel::Debug),
    (LogLevel::Info, LoggingLevel::Info),
    (LogLevel::Notice, LoggingLevel::Notice),
    (LogLevel::Warning, LoggingLevel::Warning),
    (LogLevel::Error, LoggingLevel::Error),
    (LogLevel::Critical, LoggingLevel::Critical),
    (LogLevel::Alert, LoggingLevel::Alert),
    (LogLevel::Emergency, LoggingLevel::Emergency),
];

pub(super) fn of_client(level: LoggingLevel) -> LogLevel {
    let mut levels = LEVELS.iter();
    let found = levels.find(|(_, theirs)| *theirs == level);
    found.map_or(LogLevel::Emergency, |(ours, _)| *ours)
}

/// What a client hears of a call before its result.
pub(super) struct Audience {
    pub(super) peer: Peer<RoleServer>,
    /// If it wants progress reports.
    pub(super) progress: Option<ProgressToken>,
    /// The least level of the messages that it wants; `None` if it wants none.
    pub(super) level: Option<LogLevel>,
    pub(super) revision: Revision,
    pub(super) cancelled: CancellationToken,
}

/// The notifications of one call: sent in order, and never more than a few waiting.
#[derive(Clone)]
pub(super) struct Notifications(Arc<Inner>);

struct Inner {
    audience: Audience,
    state: Mutex<State>,
    changed: Notify,
    /// A task of its own, so that reports of a body that does not await are sent while it runs; from the first one on.
    sending: Mutex<Option<JoinHandle<()>>>,
    runtime: Handle,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<Notification>,
    reports: usize,
    /// The last value: the protocol requires each report to be greater than the one before.
    furthest: Option<f64>,
    /// How many messages were left out.
    omitted: u64,
    closed: bool,
}

enum Notification {
    Progress(ProgressReport),
    /// The level, the tool, and the message.
    Log(LogLevel, Option<String>, String),
}

impl Notifications {
    /// Starts sending with the first notification, until the call is cancelled.
    pub(super) fn to(audience: Audience) -> Self {
        Self(Arc::new(Inner {
            audience,
            state: Mutex::default(),
            changed: Notify::new(),
            sending: Mutex::default(),
            runtime: Handle::current(),
        }))
    }

    pub(super) fn progress(&self) -> Progress {
        let notifications = self.clone();
        Progress::new(move |report| notifications.report(report))
    }

    fn report(&self, report: ProgressReport) {
        {
            let mut state = self.0.state.lock();
            let further = state.furthest.is_none_or(|furthest| report.done > furthest);
            if state.closed || !further || !report.done.is_finite() {
                return;
            }
            state.furthest = Some(report.done);
            if state.reports >= REPORTS {
                let last = |one: &Notification| matches!(one, Notification::Progress(_));
                if let Some(place) = state.waiting.iter().rposition(last) {
                    state.waiting.remove(place);
                    state.reports -= 1;
                }
            }
            state.reports += 1;
            state.waiting.push_back(Notification::Progress(report));
        }
        self.wake();
    }

    pub(super) fn log(&self, record: &LogRecord) {
        let wanted = self.0.audience.level;
        if wanted.is_none_or(|level| record.level < level) {
            return;
        }
        {
            let mut state = self.0.state.lock();
            if state.closed {
                return;
            }
            if state.waiting.len() - state.reports >= MESSAGES {
                state.omitted += 1;
                return;
            }
            // The id of the call is not sent, and as long as the client likes.
            let message = match record.message.char_indices().nth(LONGEST) {
                Some((end, _)) => format!("{}…", &record.message[..end]),
                None => record.message.clone(),
            };
            let (level, tool) = (record.level, Some(record.tool.clone()));
            state
                .waiting
                .push_back(Notification::Log(level, tool, message));
        }
        self.wake();
    }

    fn wake(&self) {
        self.0.changed.notify_one();
        let mut sending = self.0.sending.lock();
        if sending.is_none() {
            let inner = Arc::clone(&self.0);
            *sending = Some(self.0.runtime.spawn(async move { inner.send_all().await }));
        }
    }

    /// Sends what is left, so that nothing comes after the result.
    pub(super) async fn finish(&self) {
        self.0.state.lock().closed = true;
        self.0.changed.notify_one();
        let sending = self.0.sending.lock().take();
        if let Some(sending) = sending {
            // It ends by itself, or with a panic of the transport, which is reported elsewhere.
            let _ = sending.await;
        }
    }
}

impl Inner {
    async fn send_all(&self) {
        let sending = async {
            while let Some(notification) = self.next().await {
                if self.audience.send(notification).await.is_err() {
                    break;
                }
            }
        };
        tokio::select! {
            () = sending => {}
            () = self.audience.cancelled.cancelled() => {}
        }
    }

    async fn next(&self) -> Option<Notification> {
        loop {
            {
                let mut state = self.state.lock();
                if let Some(next) = state.waiting.pop_front() {
                    state.reports -= usize::from(matches!(next, Notification::Progress(_)));
                    return Some(next);
                }
                if state.omitted > 0 {
                    let count = std::mem::take(&mut state.omitted);
                    // A client that wants errors alone is sent nothing below.
                    let level = self.audience.level.unwrap_or(LogLevel::Warning);
                    let level = level.max(LogLevel::Warning);
                    let message = format!("{count} more messages were left out");
                    return Some(Notification::Log(level, None, message));
                }
                if state.closed {
                    return None;
                }
            }
            self.changed.notified().await;
        }
    }
}

impl Audience {
    async fn send(&self, notification: Notification) -> Result<(), ServiceError> {
        match notification {
            Notification::Progress(report) => {
                let Some(token) = self.progress.clone() else {
                    return Ok(());
                };
                let mut told = ProgressNotificationParam::new(token, report.done);
                told.total = report.total.filter(|total| total.is_finite());
                told.message = Some(report.message)
                    .filter(|message| self.revision.has_progress_messages() && !message.is_empty());
                self.peer.notify_progress(told).await
            }
            Notification::Log(level, tool, message) => {
                let mut levels = LEVELS.iter();
                let found = levels.find(|(ours, _)| *ours == level);
                let level = found.map_or(LoggingLevel::Info, |(_, theirs)| *theirs);
                let mut told = LoggingMessageNotificationParam::new(level, json!(message));
                told.logger = tool;
                self.peer.notify_logging_message(told).await
            }
        }
    }
}
