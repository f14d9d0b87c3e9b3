//! The result of a run.

use std::sync::Arc;

use contract_runtime::ToolCall;
use contract_runtime::approval::{ApprovalRequest, Decided, Decision};
use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;

use super::calls::{StepCall, StepCalls};
use crate::event::{Event, RunError};
use crate::message::{Conversation, Message, not_known};
use crate::model::Usage;
use crate::run_log::{self as log, CallEnd, RunLog, RunState, StoreError};

/// The result of a run.
///
/// ```
/// use contract_agent::{ContractAgent, Scripted, ToolCallingAgent};
/// use contract_runtime::prelude::*;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let model = Scripted::new().text("It is noon.");
/// let agent = ContractAgent::builder(ToolCallingAgent::new(model, Registry::builder().build()?)).build();
/// let result = agent.run("What time is it?").await;
/// assert_eq!(result.answer.as_deref(), Some("It is noon."));
/// assert!(result.success && result.error.is_none());
/// assert_eq!(result.messages.len(), 2);
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct RunResult {
    /// The answer, which satisfies every postcondition.
    pub answer: Option<String>,
    /// Whether there is an answer. A failed call on the way does not change that.
    pub success: bool,
    /// Why there is no answer.
    pub error: Option<RunError>,
    /// The number of steps.
    pub iterations: u64,
    /// The counts of conditions.
    pub statistics: RunStatistics,
    /// The tokens of the model's replies and of those of nested runs, as far as they are reported.
    pub usage: Usage,
    /// The last events, at most 1,000 of them, without pieces of text.
    pub steps: Vec<Event>,
    /// The run as it can be resumed, with rejected answers and the secrets of arguments.
    #[serde(skip)]
    pub state: RunState,
    /// The conversation without rejected answers; it can begin the next run. Every call in it has its outcome, whatever ended
    /// the run: a call that was cut off says that it may have taken effect.
    pub messages: Vec<Message>,
}

/// How many conditions of tools and of the run were reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RunStatistics {
    /// Conditions that were evaluated.
    pub checks: u64,
    /// Conditions that did not hold.
    pub violations: u64,
    /// Conditions of the run that were not evaluated, under `ignore`.
    pub skipped: u64,
    /// How often the model was told which condition it broke, and went on.
    pub retries: u64,
}

/// The most events that a result holds.
const STEPS: usize = 1_000;

/// What is written down while a run goes on.
#[derive(Clone, Debug)]
pub(super) struct Record {
    noted: Arc<Mutex<Noted>>,
    pub(super) calls: StepCalls,
    pub(super) log: RunLog,
    conversation: Conversation,
}

#[derive(Debug, Default)]
pub(super) struct Noted {
    answer: Option<String>,
    error: Option<RunError>,
    pub(super) iterations: u64,
    pub(super) statistics: RunStatistics,
    pub(super) usage: Usage,
    steps: std::collections::VecDeque<Event>,
}

impl Record {
    pub(super) fn new(conversation: Conversation, log: RunLog) -> Self {
        Self {
            noted: Arc::default(),
            calls: StepCalls::default(),
            log,
            conversation,
        }
    }

    pub(super) fn locked(&self) -> MutexGuard<'_, Noted> {
        self.noted.lock()
    }

    pub(super) fn event(&self, event: &Event) {
        let mut noted = self.locked();
        match event {
            event if event.is_piece() => return,
            Event::Omitted {
                checks, violations, ..
            } => {
                noted.statistics.checks += checks;
                noted.statistics.violations += violations;
            }
            Event::ContractCheck { .. } => noted.statistics.checks += 1,
            Event::ContractViolation { .. } => noted.statistics.violations += 1,
            Event::Retry { .. } => noted.statistics.retries += 1,
            Event::Answer { text } => noted.answer = Some(text.clone()),
            Event::Error { error } => noted.error = Some(error.clone()),
            _ => {}
        }
        if noted.steps.len() == STEPS {
            noted.steps.pop_front();
        }
        noted.steps.push_back(event.clone());
    }

    /// Records that a call begins.
    pub(super) async fn begin(&self, call: &ToolCall) -> Result<(), StoreError> {
        let Some(record) = self.calls.beginning(call) else {
            return Ok(());
        };
        let appended = self.log.append(record).await;
        appended.inspect_err(|error| self.calls.set_unrecorded(call, error.to_string()))
    }

    /// Asks an approver, and records that the call waits for it.
    pub(super) async fn decide<F: Future<Output = Decided>>(
        &self,
        request: ApprovalRequest,
        approver: &(dyn Fn(ApprovalRequest) -> F + Send + Sync),
    ) -> Decided {
        // A question of a call that a body makes is not one of its own call.
        let (id, tool) = (&request.call_id, &request.tool);
        let waiting = self.calls.waiting(id, tool);
        let Some(index) = waiting else {
            return approver(request).await;
        };
        let call = self.calls.call(index);
        let append = async |record| {
            self.log.append(record).await.map_err(|error| {
                if let Some(call) = &call {
                    self.calls.set_unrecorded(call, error.to_string());
                }
                Decided::from(Decision::Denied(error.to_string()))
            })
        };
        let recorded = async {
            let asked = request.clone();
            append(log::Record::Asked { index, request }).await?;
            let decided = approver(asked).await;
            let answer = log::Record::Decided {
                index,
                decided: decided.clone(),
            };
            append(answer).await?;
            // A process that is killed here leaves a decision that the next one uses.
            if let (Decision::Approved(_), Some(begun)) =
                (&decided.decision, self.calls.begun(index))
            {
                append(begun).await?;
            }
            Ok(decided)
        };
        recorded.await.unwrap_or_else(|denied| denied)
    }

    pub(super) fn finish(self) -> RunResult {
        let noted = std::mem::take(&mut *self.locked());
        let past = self.conversation.past();
        let state = self.log.state();
        let said = self.conversation.messages();
        let mut messages = state.published(&said, self.conversation.instructions());
        let made = self
            .calls
            .made()
            .into_iter()
            .map(|(_, call)| call)
            .collect();
        complete(&mut messages, past, made, noted.error.as_ref());
        RunResult {
            success: noted.answer.is_some() && noted.error.is_none(),
            answer: noted.answer,
            error: noted.error,
            iterations: noted.iterations,
            statistics: noted.statistics,
            usage: noted.usage,
            steps: noted.steps.into(),
            state,
            messages,
        }
    }
}

/// Gives every call its outcome, where the run ended before the inner agent could.
fn complete(
    messages: &mut Vec<Message>,
    past: usize,
    mut made: Vec<StepCall>,
    error: Option<&RunError>,
) {
    let timed_out = error == Some(&RunError::TimedOut);
    let asked = messages.iter().rposition(
        |message| matches!(message, Message::Assistant { calls, .. } if !calls.is_empty()),
    );
    if let Some(asked) = asked
        && let Some(Message::Assistant { calls, .. }) = messages.get(asked)
    {
        let answered = messages
            .iter()
            .skip(asked + 1)
            .take_while(|message| matches!(message, Message::Tool { .. }))
            .count();
        made.retain(|made| made.is_after(asked + 1) || asked < past);
        let ends: Vec<Message> = calls
            .iter()
            .map(|call| {
                let end = match take_logged(&mut made, call) {
                    Some(made) => made.end(timed_out),
                    None if asked < past => return not_known(call),
                    None => CallEnd::not_started(),
                };
                end.message(call)
            })
            .skip(answered)
            .collect();
        let end = asked + 1 + answered;
        messages.splice(end..end, ends);
    }
    if error.is_none() {
        return;
    }
    // Calls that were made in text, and of which the model has read nothing.
    made.retain(|made| made.is_after(messages.len()));
    messages.extend(made.iter().map(|made| Message::User {
        text: format!("Observation: {}", made.end(timed_out).text),
    }));
}

/// What dispatch knows of a call; of equal ones, the first.
fn take_logged(made: &mut Vec<StepCall>, call: &ToolCall) -> Option<StepCall> {
    let place = made.iter().position(|made| made.is(call))?;
    Some(made.remove(place))
}
