//! Records the outcomes of the calls of a run as dispatch reports them, however the run ends.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract_runtime::__family::MAY_HAVE_TAKEN_EFFECT;
use contract_runtime::dynamic::CallError;
use contract_runtime::observe::{CheckEvent, Observer};
use contract_runtime::{Content, Effect, Outcome, Status, ToolCall};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::clock::RunClock;
use super::event_queue::EventQueue;
use crate::message::{Conversation, Message};

/// The calls of the step, and those of earlier ones that are not over, in the order in which they were taken up.
#[derive(Clone, Debug, Default)]
pub(super) struct CallLog(Arc<Mutex<BTreeMap<u64, LoggedCall>>>);

/// A call that dispatch has taken up.
#[derive(Clone, Debug)]
pub(super) struct LoggedCall {
    call: ToolCall,
    /// How many messages there were.
    messages: usize,
    /// Its body runs on a thread of its own, which may reach it unseen and is not stopped.
    blocking: bool,
    entered: bool,
    outcome: Option<CallEnd>,
}

/// How a call ended, as a record says it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct CallEnd {
    pub(super) status: Status,
    pub(super) effect: Effect,
    pub(super) text: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) value: Option<Value>,
}

impl CallEnd {
    pub(super) fn of(outcome: &Outcome) -> Self {
        Self {
            status: outcome.status(),
            effect: outcome.effect(),
            text: outcome.clone().into_result().text().to_owned(),
            value: outcome.value(),
        }
    }

    /// Whether nothing of the call ran, because it was given up or waits for a person. It is made when the run goes on.
    pub(crate) fn is_open(&self) -> bool {
        let given_up = [Status::Asked, Status::Cancelled, Status::TimedOut];
        self.effect == Effect::None && given_up.contains(&self.status)
    }

    /// The end of a call that began and of which nothing more is known.
    pub(crate) fn unknown() -> Self {
        Self {
            status: Status::Cancelled,
            effect: Effect::Unknown,
            text: format!("the program ended while this call was running; {MAY_HAVE_TAKEN_EFFECT}"),
            value: None,
        }
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    /// What the model is told of a call that ended in this way.
    pub(crate) fn message(self, call: &ToolCall) -> Message {
        Message::Tool {
            call_id: call.id.clone(),
            tool: call.name.clone(),
            status: self.status,
            effect: self.effect,
            text: self.text,
        }
    }

    /// The outcome of a call that ended in this way.
    pub(crate) fn outcome(&self, call: &ToolCall) -> Outcome {
        let answer = match self.status {
            Status::Ok => Ok(Content::text(&*self.text)),
            status => Err(CallError::Ended {
                status,
                error: self.text.clone(),
                effect: self.effect,
                may_still_run: false,
            }),
        };
        Outcome::new(&*call.id, &*call.name, answer)
    }
}

impl CallLog {
    /// Writes down every call that is made with a context, and queues what happens in it.
    pub(super) fn observer(
        &self,
        queue: &EventQueue,
        clock: &RunClock,
        conversation: &Conversation,
    ) -> Observer {
        let (began, ended, events) = (self.clone(), self.clone(), self.clone());
        let (outcomes, queue, clock) = (queue.clone(), queue.clone(), clock.clone());
        let conversation = conversation.clone();
        Observer::new()
            .call_began(move |observed| {
                let logged = LoggedCall {
                    call: observed.call.clone(),
                    messages: conversation.messages().len(),
                    blocking: observed.blocking,
                    entered: false,
                    outcome: None,
                };
                began.0.lock().insert(observed.number, logged);
            })
            .call_ended(move |observed, outcome, _| {
                let end = CallEnd::of(outcome);
                if let Some(logged) = ended.0.lock().get_mut(&observed.number) {
                    logged.outcome = Some(end.clone());
                }
                let asked = outcome.approval_request().cloned();
                outcomes.push_outcome(observed.call.clone(), end, asked);
            })
            .events(move |event| {
                match &event {
                    CheckEvent::Entered {
                        call_id,
                        tool,
                        arguments,
                    } => events.entered(call_id, tool, arguments),
                    CheckEvent::Asked(_) => clock.asked(),
                    CheckEvent::Answered { .. } => clock.answered(),
                    _ => {}
                }
                queue.push(event);
            })
    }

    /// Adds a call that ended before the run went on.
    pub(super) fn add_ended(&self, index: usize, call: ToolCall, end: CallEnd, messages: usize) {
        let logged = LoggedCall {
            call,
            messages,
            blocking: false,
            entered: true,
            outcome: Some(end),
        };
        // Numbers of calls grow from zero.
        self.0.lock().insert(u64::MAX - index as u64, logged);
    }

    /// Returns whether all calls with this id and tool that have not ended wait before their bodies.
    pub(super) fn is_before_body(&self, id: &str, tool: &str) -> bool {
        let calls = self.0.lock();
        let mut open = calls.values().filter(|logged| {
            logged.outcome.is_none() && logged.call.id == id && logged.call.name == tool
        });
        open.all(|logged| !logged.entered)
    }

    /// The body of a call has been reached; of equal calls, that of the first.
    fn entered(&self, id: &str, tool: &str, arguments: &str) {
        let mut calls = self.0.lock();
        let waiting = calls.values_mut().find(|logged| {
            let LoggedCall { call, .. } = logged;
            let same = call.id == id && call.name == tool && call.arguments == arguments;
            same && !logged.entered && logged.outcome.is_none()
        });
        if let Some(logged) = waiting {
            logged.entered = true;
        }
    }

    /// A new step: the model has read what came of the calls before it.
    pub(super) fn begin_step(&self) {
        self.0.lock().retain(|_, logged| logged.outcome.is_none());
    }

    /// All of them, in order.
    pub(super) fn all(&self) -> Vec<LoggedCall> {
        self.0.lock().values().cloned().collect()
    }
}

impl LoggedCall {
    /// Returns whether this is a call of a reply.
    pub(super) fn is(&self, call: &ToolCall) -> bool {
        self.call == *call
    }

    /// Whether it was made after this many messages.
    pub(super) fn is_after(&self, messages: usize) -> bool {
        self.messages >= messages
    }

    /// How the call ended, or how far it had come when the run ended.
    pub(super) fn end(&self, timed_out: bool) -> CallEnd {
        let cut = if timed_out {
            Status::TimedOut
        } else {
            Status::Cancelled
        };
        let running = |rest| CallEnd {
            status: cut,
            effect: Effect::Unknown,
            text: format!(
                "the run ended while this call was running{rest}; {MAY_HAVE_TAKEN_EFFECT}"
            ),
            value: None,
        };
        match &self.outcome {
            Some(outcome) => outcome.clone(),
            None if self.blocking => running("; it may still be running"),
            None if self.entered => running(""),
            None => not_started(),
        }
    }
}

/// A call that the run did not get as far as.
pub(crate) fn not_started() -> CallEnd {
    CallEnd {
        status: Status::Cancelled,
        effect: Effect::None,
        text: "not started, because the run had ended".to_owned(),
        value: None,
    }
}
