//! The executor's connection during a turn: its events and what it is told.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use contract_agent::Event;
use contract_remote::{Session, SessionEvent};
use tokio::sync::broadcast::Receiver;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};

use super::translate::shortened;
use crate::contract::Happening;

/// How often the progress of one call is an event of the run: each is kept.
const EVERY: Duration = Duration::from_millis(500);

/// The connection to the executor, as a turn sees it: what happens to it, and what the executor is told.
pub(super) struct Line<'s> {
    session: &'s Session,
    events: Receiver<SessionEvent>,
    /// The next piece of text is of another answer of the model.
    is_new: bool,
    /// Calls that were written down to be sent, by the model's id.
    began: HashSet<String>,
    /// Some of them may have been missed.
    missed: bool,
    /// When the progress of each was told.
    told: HashMap<String, Instant>,
}

impl<'s> Line<'s> {
    pub(super) fn new(session: &'s Session) -> Self {
        Self {
            session,
            events: session.events(),
            is_new: true,
            began: HashSet::new(),
            missed: false,
            told: HashMap::new(),
        }
    }

    /// The next thing that a user should know of.
    pub(super) async fn next(&mut self) -> Happening {
        loop {
            let event = match self.events.recv().await {
                Ok(event) => event,
                Err(RecvError::Lagged(_)) => {
                    self.missed = true;
                    continue;
                }
                Err(RecvError::Closed) => std::future::pending().await,
            };
            if let Some(what) = self.translated(event) {
                return what;
            }
        }
    }

    /// What has happened until now.
    pub(super) fn until_now(&mut self) -> Vec<Happening> {
        let mut all = Vec::new();
        loop {
            match self.events.try_recv() {
                Ok(event) => all.extend(self.translated(event)),
                Err(TryRecvError::Lagged(_)) => self.missed = true,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return all,
            }
        }
    }

    /// Whether a call has left for the executor; a later call may have the same id.
    pub(super) fn has_travelled(&mut self, call_id: &str) -> bool {
        self.told.remove(call_id);
        self.began.remove(call_id) || self.missed
    }

    fn translated(&mut self, event: SessionEvent) -> Option<Happening> {
        let text = match event {
            SessionEvent::CallBegan { call_id, .. } => {
                self.began.insert(call_id);
                return None;
            }
            SessionEvent::CallProgress {
                call_id,
                done,
                total,
                message,
                ..
            } => {
                let told = self.told.get(&call_id);
                if told.is_some_and(|told| told.elapsed() < EVERY) {
                    return None;
                }
                self.told.insert(call_id.clone(), Instant::now());
                return Some(Happening::ToolProgress {
                    call_id,
                    done,
                    total,
                    message: shortened(&message),
                });
            }
            SessionEvent::Attached { epoch, .. } => {
                format!("an executor has dialled in (connection {epoch})")
            }
            SessionEvent::Lost { grace } => {
                let seconds = grace.as_secs();
                format!(
                    "the connection to the executor broke; calls wait {seconds} s for it to come back"
                )
            }
            SessionEvent::GivenUp => "the executor did not come back in time".to_owned(),
            _ => return None,
        };
        Some(Happening::Notice { text })
    }

    /// Tells the executor what the model says, and which calls belong to it.
    pub(super) async fn say(&mut self, event: &Event) {
        let begins = matches!(event, Event::TextDelta { .. } | Event::Thought { .. });
        if begins && std::mem::take(&mut self.is_new) {
            self.session.begin_answer();
        }
        match event {
            Event::TextDelta { text } => self.session.send_delta(text.as_str()).await,
            Event::Observation { .. } => self.is_new = true,
            _ => {}
        }
    }
}
