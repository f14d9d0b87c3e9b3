//! The calls of a reply: how far each has come in dispatch, in the events and in the log of the run.

use std::sync::Arc;

use contract_runtime::__family::MAY_HAVE_TAKEN_EFFECT;
use contract_runtime::observe::{CheckEvent, Observer};
use contract_runtime::{Effect, Hints, Registry, Status, ToolCall};
use parking_lot::Mutex;

use super::clock::RunClock;
use super::event_queue::EventQueue;
use crate::run_log::{CallEnd, Record};

/// The calls of the last reply, as dispatch, the driver and the result of a run see them; clones are the same calls.
#[derive(Clone, Debug, Default)]
pub(super) struct StepCalls(Arc<Mutex<Vec<StepCall>>>);

/// A call of a reply.
#[derive(Clone, Debug)]
pub(super) struct StepCall {
    call: ToolCall,
    hints: Hints,
    /// See [`ToolInfo::repeatable`](contract_runtime::ToolInfo::repeatable).
    repeatable: Option<String>,
    /// Its tool may ask a person.
    asks: bool,
    /// How many messages there were.
    messages: usize,
    /// The number that dispatch gave it when it took it up.
    number: Option<u64>,
    /// Its body runs on a thread of its own, which may reach it unseen and is not stopped.
    blocking: bool,
    entered: bool,
    end: Option<CallEnd>,
    /// Why its beginning could not be recorded, so that its body does not run.
    unrecorded: Option<String>,
    /// What the log of the run has of it.
    logged: Stage,
    /// What events have reported of it: an action, and then an observation.
    reported: Stage,
}

/// How much of a call has been recorded or reported.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    #[default]
    Nothing,
    Beginning,
    End,
}

impl StepCalls {
    /// Follows the calls of a run in dispatch, and queues what happens in them.
    pub(super) fn observer(&self, queue: &EventQueue, clock: &RunClock) -> Observer {
        let (began, ended, events) = (self.clone(), self.clone(), self.clone());
        let (outcomes, queue, clock) = (queue.clone(), queue.clone(), clock.clone());
        Observer::new()
            .call_began(move |observed| {
                let waits = |one: &StepCall| one.number.is_none() && one.end.is_none();
                began.find(&observed.call, waits, |one| {
                    one.number = Some(observed.number);
                    one.blocking = observed.blocking;
                });
            })
            .call_ended(move |observed, outcome, _| {
                let is_it = |one: &StepCall| one.number == Some(observed.number);
                let end = CallEnd::of(outcome);
                let ends = |one: &mut StepCall| {
                    if one.unrecorded.is_none() {
                        one.end = Some(end);
                    }
                };
                if let Some(index) = ended.find(&observed.call, is_it, ends) {
                    outcomes.push_outcome(index, outcome.approval_request().cloned());
                }
            })
            .events(move |event| {
                match &event {
                    CheckEvent::Entered {
                        call_id,
                        tool,
                        arguments,
                    } => {
                        let call = ToolCall::new(*call_id, *tool, *arguments);
                        let waits = |one: &StepCall| one.number.is_some() && one.is_before_body();
                        if let Some(index) = events.find(&call, waits, |one| one.entered = true) {
                            queue.push_entered(index);
                        }
                    }
                    CheckEvent::Asked(_) => clock.asked(),
                    CheckEvent::Answered { .. } => clock.answered(),
                    _ => {}
                }
                queue.push(event);
            })
    }

    /// Changes the first call that is equal to this one and for which `is_it` holds, and returns its place in the reply. Calls that are
    /// equal in everything need not be told apart before they are taken up.
    fn find(
        &self,
        call: &ToolCall,
        is_it: impl Fn(&StepCall) -> bool,
        change: impl FnOnce(&mut StepCall),
    ) -> Option<usize> {
        let mut calls = self.0.lock();
        let index = calls
            .iter()
            .position(|one| one.call == *call && is_it(one))?;
        change(calls.get_mut(index)?);
        Some(index)
    }

    /// A new step: the model has read what came of the calls before it.
    pub(super) fn clear(&self) {
        self.0.lock().clear();
    }

    /// Begins to make the calls of a reply, behind this many messages.
    pub(super) fn begin(&self, registry: &Registry, calls: &[ToolCall], messages: usize) {
        let begun = calls.iter().map(|call| {
            let tool = registry.tool(&call.name);
            StepCall {
                call: call.clone(),
                hints: tool.map(|tool| tool.hints()).unwrap_or_default(),
                repeatable: tool.and_then(|tool| tool.repeatable().map(str::to_owned)),
                asks: tool.is_some_and(|tool| tool.asks()),
                messages,
                number: None,
                blocking: false,
                entered: false,
                end: None,
                unrecorded: None,
                logged: Stage::Nothing,
                reported: Stage::Nothing,
            }
        });
        *self.0.lock() = begun.collect();
    }

    /// Sets the end of a call that the log knows already, so that it is not made.
    pub(super) fn set_end(&self, index: usize, end: CallEnd) {
        if let Some(one) = self.0.lock().get_mut(index) {
            one.end = Some(end);
        }
    }

    pub(super) fn end(&self, index: usize) -> Option<CallEnd> {
        self.0.lock().get(index)?.end.clone()
    }

    pub(super) fn call(&self, index: usize) -> Option<ToolCall> {
        self.0.lock().get(index).map(|one| one.call.clone())
    }

    pub(super) fn repeatable(&self, index: usize) -> Option<String> {
        self.0.lock().get(index)?.repeatable.clone()
    }

    /// Returns the call, and what was reported of it before, if this stage is yet to be reported.
    pub(super) fn report(&self, index: usize, stage: Stage) -> Option<(ToolCall, Stage)> {
        let mut calls = self.0.lock();
        let one = calls.get_mut(index).filter(|one| one.reported < stage)?;
        Some((
            one.call.clone(),
            std::mem::replace(&mut one.reported, stage),
        ))
    }

    pub(super) fn is_reported(&self, index: usize) -> bool {
        let calls = self.0.lock();
        calls
            .get(index)
            .is_some_and(|one| one.reported > Stage::Nothing)
    }

    /// Returns the record that a call begins. A call of a read-only tool that never asks a person needs none.
    pub(super) fn beginning(&self, call: &ToolCall) -> Option<Record> {
        let mut calls = self.0.lock();
        let (index, one) = calls.iter_mut().enumerate().find(|one| {
            let (_, one) = one;
            one.call == *call && one.number.is_some() && one.logged == Stage::Nothing
        })?;
        if one.hints.read_only == Some(true) && !one.asks {
            return None;
        }
        one.logged = Stage::Beginning;
        Some(one.begun(index))
    }

    /// Notes that the log could not be told of a call. The call ends as one that never began, because the run is resumed with it.
    pub(super) fn set_unrecorded(&self, call: &ToolCall, why: String) {
        let is_made = |one: &StepCall| one.number.is_some() && one.is_before_body();
        self.find(call, is_made, |one| one.unrecorded = Some(why));
    }

    /// Returns why a call could not be recorded.
    pub(super) fn unrecorded(&self, index: usize) -> Option<String> {
        self.0.lock().get(index)?.unrecorded.clone()
    }

    /// Returns the record that a call begins after a person has approved it.
    pub(super) fn begun(&self, index: usize) -> Option<Record> {
        self.0.lock().get(index).map(|one| one.begun(index))
    }

    /// Returns the record that a call has ended, if the log does not have it.
    pub(super) fn ending(&self, index: usize, end: CallEnd, is_whole: bool) -> Option<Record> {
        let mut calls = self.0.lock();
        let one = calls.get_mut(index).filter(|one| one.logged < Stage::End)?;
        one.logged = Stage::End;
        Some(Record::Ended {
            index,
            call: one.call.clone(),
            end,
            is_whole,
        })
    }

    /// Returns the place of the call with this id and tool whose beginning is recorded and whose body is not reached, if it is the only
    /// one.
    pub(super) fn waiting(&self, id: &str, tool: &str) -> Option<usize> {
        let calls = self.0.lock();
        let is_it =
            |one: &StepCall| one.call.id == id && one.call.name == tool && one.end.is_none();
        let index = calls.iter().position(is_it)?;
        let one = calls.get(index)?;
        let is_only = calls.iter().filter(|one| is_it(one)).count() == 1;
        (is_only && one.logged == Stage::Beginning && !one.entered).then_some(index)
    }

    /// Returns those that dispatch has taken up or that the log knew, in the order of the reply, each with its place in it.
    pub(super) fn made(&self) -> Vec<(usize, StepCall)> {
        let calls = self.0.lock();
        let made = calls.iter().cloned().enumerate();
        made.filter(|(_, one)| one.number.is_some() || one.end.is_some())
            .collect()
    }
}

impl StepCall {
    fn begun(&self, index: usize) -> Record {
        Record::Began {
            index,
            call: self.call.clone(),
            repeatable: self.repeatable.clone(),
        }
    }

    fn is_before_body(&self) -> bool {
        !self.entered && self.end.is_none()
    }

    pub(super) const fn has_ended(&self) -> bool {
        self.end.is_some()
    }

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
            is_json: None,
            counted: true,
        };
        match &self.end {
            Some(end) => end.clone(),
            None if self.blocking => running("; it may still be running"),
            None if self.entered => running(""),
            None => CallEnd::not_started(),
        }
    }
}
