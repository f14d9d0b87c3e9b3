//! Queues what happens inside calls until the run's own loop reads it.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Waker};

use contract_runtime::approval::ApprovalRequest;
use contract_runtime::observe::CheckEvent;
use contract_runtime::{LogRecord, Violation};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::oneshot;

use super::parent::Report;
use crate::event::Event;

/// A message from dispatch.
#[derive(Debug)]
pub(super) enum QueuedEvent {
    /// An event of the run, which decides nothing. A violation in it has all of its values.
    Event(Event),
    /// The call at this place of the reply has reached its body.
    Entered(usize),
    /// A violation has ended a call.
    Ended(Box<Violation>),
    /// A violation came after the outcome of its call.
    Late(Box<Violation>),
    /// A call has ended, and has asked this if it ended as `asked`.
    Outcome(usize, Option<ApprovalRequest>),
    /// A nested run reports something, and waits until the sender is dropped.
    Nested(Report, oneshot::Sender<()>),
}

/// The capacity for checks and violations: a body that asserts in a loop does not yield before it ends.
const KEPT: usize = 10_000;

/// The capacity for what bodies say, apart from that of checks and violations, which a talkative body must not push out.
const MESSAGES: usize = 1_000;

/// The longest message of a body, in characters.
const LONGEST: usize = 10_000;

/// A queue that calls fill, on any thread, and the run empties.
#[derive(Clone, Debug, Default)]
pub(super) struct EventQueue(Arc<Mutex<Contents>>);

#[derive(Debug, Default)]
struct Contents {
    events: VecDeque<QueuedEvent>,
    omitted_checks: u64,
    omitted_violations: u64,
    omitted_messages: u64,
    /// How many of the events are messages of bodies.
    messages: usize,
    reader: Option<Waker>,
    /// The run is over.
    is_closed: bool,
}

impl EventQueue {
    pub(super) fn push(&self, event: CheckEvent<'_>) {
        let mut queue = self.0.lock();
        match event {
            CheckEvent::Check(_) if queue.is_full() => queue.omitted_checks += 1,
            CheckEvent::Check(check) => queue.push(Event::ContractCheck { check }),
            CheckEvent::Violation(violation) => queue.push_violation(violation),
            CheckEvent::Ended(violation) => {
                if !violation.policy.tells_observers() {
                    queue.push_violation(violation);
                }
                queue.push_decisive(QueuedEvent::Ended(Box::new(violation.clone())));
            }
            CheckEvent::Late(violation) => {
                queue.push_decisive(QueuedEvent::Late(Box::new(violation.clone())));
            }
            CheckEvent::Asked(request) => {
                let request = request.clone();
                queue.push_decisive(QueuedEvent::Event(Event::ApprovalRequested { request }));
            }
            CheckEvent::Answered {
                request,
                decision: Some(decision),
                by,
            } => queue.push_decisive(QueuedEvent::Event(Event::ApprovalAnswered {
                request: request.id.clone(),
                call_id: request.call_id.clone(),
                decision: decision.clone(),
                by: by.map(str::to_owned),
            })),
            _ => {}
        }
        wake(queue);
    }

    /// Records what a body says; what is too long is cut, and what is too much is counted.
    pub(super) fn push_log(&self, record: &LogRecord) {
        let mut queue = self.0.lock();
        if queue.messages >= MESSAGES {
            queue.omitted_messages += 1;
            return;
        }
        let message = match record.message.char_indices().nth(LONGEST) {
            Some((end, _)) => format!("{}…", &record.message[..end]),
            None => record.message.clone(),
        };
        queue.messages += 1;
        queue.push(Event::Log {
            call_id: record.call_id.clone(),
            tool: record.tool.clone(),
            level: record.level,
            message,
        });
        wake(queue);
    }

    /// Records that a call has reached its body.
    pub(super) fn push_entered(&self, index: usize) {
        let mut queue = self.0.lock();
        queue.push_decisive(QueuedEvent::Entered(index));
        wake(queue);
    }

    /// Records that a call has ended.
    pub(super) fn push_outcome(&self, index: usize, asked: Option<ApprovalRequest>) {
        let mut queue = self.0.lock();
        queue.push_decisive(QueuedEvent::Outcome(index, asked));
        wake(queue);
    }

    /// Records what a nested run reports. The receiver ends when that is handled, or when the run is over.
    pub(super) fn push_nested(&self, report: Report) -> oneshot::Receiver<()> {
        let (sender, handled) = oneshot::channel();
        let mut queue = self.0.lock();
        if !queue.is_closed {
            queue.push_decisive(QueuedEvent::Nested(report, sender));
            wake(queue);
        }
        handled
    }

    /// Drops events that have no reader any more.
    pub(super) fn close(&self) {
        let closed = Contents {
            is_closed: true,
            ..Contents::default()
        };
        // Nested runs that wait are woken after the lock is released.
        let _unread = std::mem::replace(&mut *self.0.lock(), closed);
    }

    /// Takes the next event, if there is one.
    pub(super) fn next(&self) -> Option<QueuedEvent> {
        self.0.lock().take()
    }

    /// Takes the next event; if there is none, the task is woken when one comes.
    pub(super) fn poll_next(&self, task: &mut Context<'_>) -> Option<QueuedEvent> {
        let mut queue = self.0.lock();
        let event = queue.take();
        if event.is_none() {
            queue.reader = Some(task.waker().clone());
        }
        event
    }
}

fn wake(mut queue: MutexGuard<'_, Contents>) {
    if let Some(reader) = queue.reader.take() {
        drop(queue);
        reader.wake();
    }
}

impl Contents {
    fn is_full(&self) -> bool {
        self.events.len() - self.messages >= KEPT
    }

    fn take(&mut self) -> Option<QueuedEvent> {
        let event = self.events.pop_front();
        let is_message = matches!(event, Some(QueuedEvent::Event(Event::Log { .. })));
        self.messages -= usize::from(is_message);
        event.or_else(|| self.omitted().map(QueuedEvent::Event))
    }

    fn push(&mut self, event: Event) {
        self.events.push_back(QueuedEvent::Event(event));
    }

    fn push_violation(&mut self, violation: &Violation) {
        if self.is_full() {
            self.omitted_violations += 1;
        } else {
            let violation = Box::new(violation.clone());
            self.push(Event::ContractViolation { violation });
        }
    }

    /// Adds an event that decides the run: it is never dropped, and follows the count of those that were.
    fn push_decisive(&mut self, event: QueuedEvent) {
        let omitted = self.omitted().map(QueuedEvent::Event);
        self.events.extend(omitted);
        self.events.push_back(event);
    }

    fn omitted(&mut self) -> Option<Event> {
        let checks = std::mem::take(&mut self.omitted_checks);
        let violations = std::mem::take(&mut self.omitted_violations);
        let messages = std::mem::take(&mut self.omitted_messages);
        (checks + violations + messages > 0).then_some(Event::Omitted {
            checks,
            violations,
            messages,
        })
    }
}
