//! The events of a run.

use contract_runtime::approval::{ApprovalRequest, Decision};
use contract_runtime::observe::Check;
use contract_runtime::{Effect, Status, ToolCall};
use contract_runtime::{LogLevel, Violation};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::message::written_call;
use super::model::{ModelError, Usage};

/// The contract of a retry whose reply was of no use.
pub(super) const REPLY: &str = "agent.reply";

/// One event of a run.
///
/// A violation comes before the event that it concerns, and nothing comes after the error that ends a run.
///
/// ```
/// use contract_agent::{ContractAgent, Event, Scripted, ToolCallingAgent};
/// use contract_runtime::prelude::*;
///
/// /// Tell the time.
/// #[tool(read_only)]
/// fn time() -> &'static str {
///     "noon"
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(time).build()?;
/// let model = Scripted::new().calls("I look.", [("time", "{}")]).text("It is noon.");
/// let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry)).build();
/// let result = agent.run("What time is it?").await;
/// let read = result.steps.iter().find_map(|event| match event {
///     Event::Observation { text, .. } => Some(text.as_str()),
///     _ => None,
/// });
/// assert_eq!(read, Some("noon"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Event {
    /// A piece of the model's text.
    TextDelta {
        /// The piece.
        text: String,
    },
    /// A piece of what the model thinks before it speaks, where its provider tells.
    Reasoning {
        /// The piece.
        text: String,
    },
    /// What the model said before it acts; empty if it said nothing.
    Thought {
        /// The text.
        text: String,
    },
    /// A call has passed its preconditions and reached its body, or was refused before that for a reason other than a
    /// contract.
    ///
    /// It is a report and cannot stop the call: the body of a sync tool may have ended when the event is read.
    Action {
        /// The call as the model made it.
        #[serde(deserialize_with = "written_call")]
        call: ToolCall,
    },
    /// The outcome of a call, emitted when the call ends. For a call that ends the run, only the violation is emitted.
    Observation {
        /// The id of the call.
        call_id: String,
        /// The name by which the tool was called.
        tool: String,
        /// How the call ended.
        status: Status,
        /// Whether it took effect; `unknown` where a record does not say.
        #[serde(default)]
        effect: Effect,
        /// The text that the model reads.
        text: String,
        /// The result as a JSON value, if there is one; see [`Outcome::value`](contract_runtime::Outcome::value).
        #[serde(default, skip_serializing_if = "Option::is_none")]
        value: Option<Value>,
    },
    /// The answer, which satisfies every postcondition.
    Answer {
        /// The text.
        text: String,
    },
    /// The run ended without an answer.
    Error {
        /// The reason.
        error: RunError,
    },
    /// A condition is about to be evaluated.
    ContractCheck {
        /// The condition.
        check: Check,
    },
    /// A condition did not hold.
    ContractViolation {
        /// The violation.
        violation: Box<Violation>,
    },
    /// Bodies reached more conditions, or said more, than the queue holds: these were counted instead of emitted one by one.
    Omitted {
        /// Conditions that were evaluated.
        checks: u64,
        /// Conditions that did not hold; none of them ended anything.
        violations: u64,
        /// Log messages.
        #[serde(default)]
        messages: u64,
    },
    /// The body of a tool has something to say to people.
    Log {
        /// The id of the call.
        call_id: String,
        /// The name by which the tool was called.
        tool: String,
        /// How much it matters.
        level: LogLevel,
        /// The message.
        message: String,
    },
    /// A person must be asked before a call may go on. The call waits for the answer; without anybody to ask, the run ends
    /// when the other calls of the turn are over.
    ApprovalRequested {
        /// What has to be decided.
        request: ApprovalRequest,
    },
    /// A person has decided.
    ApprovalAnswered {
        /// The [`id`](ApprovalRequest::id) of the request.
        request: String,
        /// The id of the call.
        call_id: String,
        /// What was decided.
        decision: Decision,
        /// Who decided, if the approver says so.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<String>,
    },
    /// The model was told which condition it broke, and goes on.
    Retry {
        /// The id of the condition.
        contract: String,
        /// The number of this attempt, for this condition.
        attempt: u32,
        /// The text that the model reads.
        feedback: String,
    },
    /// The model repeats itself.
    LoopDetected {
        /// What is repeated.
        pattern: LoopKind,
        /// How often in a row.
        repeated: u64,
    },
    /// The token usage of a reply.
    Usage {
        /// The tokens.
        usage: Usage,
    },
    /// An event of the run of another agent, which the body of a call makes with the [`Context`](contract_runtime::Context) of its call.
    Nested {
        /// The id of the call.
        call_id: String,
        /// The name by which the tool was called.
        tool: String,
        /// The event.
        event: Box<Self>,
    },
}

impl Event {
    /// Returns whether it is a piece of a reply.
    pub(super) fn is_piece(&self) -> bool {
        match self {
            Self::TextDelta { .. } | Self::Reasoning { .. } => true,
            Self::Nested { event, .. } => event.is_piece(),
            _ => false,
        }
    }
}

/// What a model repeats in a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LoopKind {
    /// The same tool with the same arguments.
    ActionRepeat,
    /// The same tool with any arguments.
    ToolRepeat,
}

/// Why a run ended without an answer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum RunError {
    /// A contract ended the run.
    #[error("a contract ended the run: {message}{}", if *.terminated { TERMINATED } else { "" })]
    Contract {
        /// The id of the condition.
        contract: String,
        /// The sentence of the violation.
        message: String,
        /// Whether [`Recovery::Terminate`](crate::Recovery::Terminate) ended the run, where another recovery would have told the
        /// model what it broke.
        #[serde(default)]
        terminated: bool,
    },
    /// The model could not be reached, or its reply could not be read.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use contract_agent::{ModelError, RunError};
    ///
    /// fn worth_another_try(error: &RunError) -> Option<Duration> {
    ///     match error {
    ///         RunError::Model { error: ModelError::Status { status: 429 | 503, retry_after, .. } } => {
    ///             Some(retry_after.unwrap_or(Duration::from_secs(30)))
    ///         }
    ///         RunError::Model { error: ModelError::Cut } => Some(Duration::ZERO),
    ///         _ => None,
    ///     }
    /// }
    /// # assert_eq!(worth_another_try(&RunError::NoAnswer), None);
    /// ```
    #[error("the model failed: {error}")]
    Model {
        /// Its error.
        error: ModelError,
    },
    /// The model repeated itself.
    #[error("the model is in a loop: it repeated itself {repeated} times")]
    Loop {
        /// What was repeated.
        pattern: LoopKind,
        /// How often.
        repeated: u64,
    },
    /// The model repeatedly wrote what could not be parsed.
    #[error("the model's replies cannot be understood: {message}")]
    Format {
        /// The last message to the model.
        message: String,
    },
    /// Calls wait for a decision of a person, and the run has no approver.
    /// [`ContractAgent::resume`](crate::ContractAgent::resume) continues with the answers, in this process or another one.
    #[error("the run waits for a person: {}", sentences(requests))]
    Asked {
        /// What has to be decided, in the order of the calls.
        requests: Vec<ApprovalRequest>,
    },
    /// The log of the run could not be continued, so nothing more was done.
    #[error("{message}")]
    Store {
        /// The message of the [`StoreError`](crate::StoreError).
        message: String,
    },
    /// The run has nothing to go on with.
    #[error("the run cannot be resumed: {reason}")]
    NotResumable {
        /// Why, and what to do.
        reason: String,
    },
    /// The run exceeded its maximum number of steps.
    #[error("the run exceeded its limit of {most} steps")]
    TooManySteps {
        /// The maximum.
        most: u64,
    },
    /// One step emitted more events than any reply could contain.
    #[error("a step emitted more than {events} events")]
    EndlessStep {
        /// How many there were.
        events: u64,
    },
    /// The model or the inner agent panicked.
    #[error("the model or the agent panicked")]
    Panicked,
    /// The run has a deadline, and there is no tokio runtime to hold it.
    #[error("the run has a deadline, which needs a tokio runtime; run it inside one")]
    NoTimer,
    /// The token of the run's context was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
    /// The deadline of the run's context has passed.
    #[error("the run exceeded its deadline")]
    TimedOut,
    /// No answer can be judged by the type that it must have; no request was made.
    #[error("{message}")]
    AnswerType {
        /// Which part of its schema cannot be enforced.
        message: String,
    },
    /// The inner agent stopped without an answer.
    #[error("the agent stopped without an answer")]
    NoAnswer,
}

impl RunError {
    /// Returns the name of its kind, as it is serialized.
    pub(super) fn kind(&self) -> Option<String> {
        let written = serde_json::to_value(self).ok()?;
        written["kind"].as_str().map(str::to_owned)
    }

    /// Whether the run has failed for good: it takes another task, and cannot be resumed.
    pub(super) const fn is_final(&self) -> bool {
        matches!(
            self,
            Self::Contract { .. }
                | Self::Loop { .. }
                | Self::Format { .. }
                | Self::TooManySteps { .. }
                | Self::EndlessStep { .. }
                | Self::NoAnswer
        )
    }
}

const TERMINATED: &str = "; the model was not told, because the recovery of the agent is `Terminate`; choose `Recovery::retry(n)` to let it try again";

fn sentences(requests: &[ApprovalRequest]) -> String {
    let texts: Vec<String> = requests
        .iter()
        .map(|one| one.to_string().replace('\n', " "))
        .collect();
    texts.join(" ")
}
