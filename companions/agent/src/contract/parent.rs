//! What a run shares with the runs that are nested in its calls: its events, its budgets, its clock and its approver.

use std::pin::Pin;
use std::sync::Arc;

use contract_runtime::approval::{ApprovalRequest, Decided};
use contract_runtime::{CallInfo, Context};

use super::clock::RunClock;
use super::event_queue::EventQueue;
use crate::event::Event;

pub(super) type Approver =
    Arc<dyn Fn(ApprovalRequest) -> Pin<Box<dyn Future<Output = Decided> + Send>> + Send + Sync>;

/// A run, as a value in the context of its calls. A run that is nested in one of them finds it there.
#[derive(Clone)]
pub(super) struct SharedRun {
    pub(super) queue: EventQueue,
    pub(super) clock: RunClock,
    pub(super) approver: Option<Approver>,
    pub(super) shows_values: bool,
    /// Has the listeners of log messages that the program set. The run has one of its own, and nested runs report to it by events.
    pub(super) log: Context,
}

/// The run that another one is nested in, and the call of it.
pub(super) struct Parent {
    pub(super) run: SharedRun,
    call: CallInfo,
}

/// What a nested run reports to its parent.
#[derive(Debug)]
pub(super) enum Report {
    /// It is about to ask its model.
    Request,
    /// It is about to make a call.
    Call,
    Event(Box<Event>),
}

impl Parent {
    pub(super) fn of(context: &Context) -> Option<Self> {
        Some(Self {
            run: context.get::<SharedRun>()?.clone(),
            call: context.get::<CallInfo>()?.clone(),
        })
    }

    /// Reports something, and returns when the parent has handled it or is over. A parent whose budget is used up drops the call
    /// instead, and the nested run with it.
    pub(super) async fn report(&self, report: Report) {
        let _ = self.run.queue.push_nested(report).await;
    }

    pub(super) async fn report_event(&self, event: &Event) {
        let event = Event::Nested {
            call_id: self.call.id.clone(),
            tool: self.call.tool.clone(),
            event: Box::new(event.clone()),
        };
        self.report(Report::Event(Box::new(event))).await;
    }
}
