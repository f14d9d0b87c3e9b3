//! Queues messages from dispatch until the run's own loop reads them.

use std::collections::VecDeque;
use std::sync::Arc;
use std::task::{Context, Waker};

use contract_runtime::approval::{ApprovalRequest, Decision};
use contract_runtime::observe::{Check, CheckEvent};
use contract_runtime::{LogLevel, LogRecord, Violation};
use parking_lot::{Mutex, MutexGuard};

/// A message from dispatch.
#[derive(Debug)]
pub(super) enum QueuedEvent {
    Check(Check),
    Violation(Box<Violation>),
    Entered {
        call_id: String,
        tool: String,
        arguments: String,
    },
    Ended(Box<Violation>),
    Late(Box<Violation>),
    /// A body has said something.
    Log {
        call_id: String,
        tool: String,
        level: LogLevel,
        message: String,
    },
    /// An approver is asked.
    Asked(ApprovalRequest),
    Answered {
        request: ApprovalRequest,
        decision: Decision,
    },
    /// A call has ended; the log has its outcome under this number.
    Outcome(u64),
    /// How many were dropped because the queue was full.
    Omitted {
        checks: u64,
        violations: u64,
        messages: u64,
    },
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
}

impl EventQueue {
    pub(super) fn push(&self, event: CheckEvent<'_>) {
        let mut queue = self.0.lock();
        match event {
            CheckEvent::Check(_) if queue.is_full() => queue.omitted_checks += 1,
            CheckEvent::Check(check) => queue.events.push_back(QueuedEvent::Check(check)),
            CheckEvent::Violation(violation) => queue.push_violation(violation),
            CheckEvent::Entered {
                call_id,
                tool,
                arguments,
            } => queue.push_decisive(QueuedEvent::Entered {
                call_id: call_id.to_owned(),
                tool: tool.to_owned(),
                arguments: arguments.to_owned(),
            }),
            CheckEvent::Ended(violation) => {
                if !violation.policy.tells_observers() {
                    queue.push_violation(violation);
                }
                queue.push_decisive(QueuedEvent::Ended(Box::new(violation.clone())));
            }
            CheckEvent::Late(violation) => {
                queue.push_decisive(QueuedEvent::Late(Box::new(violation.clone())));
            }
            CheckEvent::Asked(request) => queue.push_decisive(QueuedEvent::Asked(request.clone())),
            CheckEvent::Answered {
                request,
                decision: Some(decision),
            } => queue.push_decisive(QueuedEvent::Answered {
                request: request.clone(),
                decision: decision.clone(),
            }),
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
        queue.events.push_back(QueuedEvent::Log {
            call_id: record.call_id.clone(),
            tool: record.tool.clone(),
            level: record.level,
            message,
        });
        wake(queue);
    }

    /// Records that a call has ended.
    pub(super) fn push_outcome(&self, number: u64) {
        let mut queue = self.0.lock();
        queue.push_decisive(QueuedEvent::Outcome(number));
        wake(queue);
    }

    /// Takes everything that is left.
    pub(super) fn drain(&self) -> VecDeque<QueuedEvent> {
        let mut queue = self.0.lock();
        let omitted = queue.omitted();
        let mut rest = std::mem::take(&mut queue.events);
        queue.messages = 0;
        rest.extend(omitted);
        rest
    }

    /// Takes the next event; if there is none, the task is woken when one comes.
    pub(super) fn poll_next(&self, task: &mut Context<'_>) -> Option<QueuedEvent> {
        let mut queue = self.0.lock();
        let event = queue.events.pop_front().or_else(|| queue.omitted());
        queue.messages -= usize::from(matches!(event, Some(QueuedEvent::Log { .. })));
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

    fn push_violation(&mut self, violation: &Violation) {
        if self.is_full() {
            self.omitted_violations += 1;
        } else {
            let violation = Box::new(violation.clone());
            self.events.push_back(QueuedEvent::Violation(violation));
        }
    }

    /// Adds an event that decides the run: it is never dropped, and follows the count of those that were.
    fn push_decisive(&mut self, event: QueuedEvent) {
        let omitted = self.omitted();
        self.events.extend(omitted);
        self.events.push_back(event);
    }

    fn omitted(&mut self) -> Option<QueuedEvent> {
        let checks = std::mem::take(&mut self.omitted_checks);
        let violations = std::mem::take(&mut self.omitted_violations);
        let messages = std::mem::take(&mut self.omitted_messages);
        (checks + violations + messages > 0).then_some(QueuedEvent::Omitted {
            checks,
            violations,
            messages,
        })
    }
}
