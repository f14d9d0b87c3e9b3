//! The end of a call without a result, and the sentence that says why.

use std::sync::OnceLock;
use std::time::Duration;

use super::outcome::{Effect, Status};
use crate::contract::ConditionKind;
use crate::contract::approval::ApprovalRequest;
use crate::contract::frame::Stop;
use crate::contract::scope::Phase;
use crate::contract::violation::{Blame, MASK, Violation};
use crate::schema::arguments::InvalidArguments;

/// Why a call gave no result, with the sentence for the model.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    sentence: OnceLock<String>,
}

/// Why a call by name gave no result.
#[derive(Clone, Debug)]
pub enum FailureKind {
    InvalidArguments(Box<InvalidArguments>),
    /// The registry has no tool of that name. The text is the end of the sentence: the nearest name, or the names of the tools.
    UnknownTool(String),
    Violation(Box<Violation>),
    /// A person has to be asked.
    Asked(Box<ApprovalRequest>),
    /// A person denied the call, for this reason, or there was nobody to ask.
    Denied(String),
    /// The tool returned an error, with this text.
    Failed(String),
    /// The result cannot be written as JSON, for this reason.
    Unwritable(String),
    /// The tool panicked, or a hook that was run for it.
    Panicked,
    GivenUp(Cause, Stopped),
    /// As many calls are running as may.
    Overloaded(usize),
    /// The call was ended by something else, in its own words: a hook before the call, the other side of a connection, a missing
    /// runtime.
    Reported {
        status: Status,
        error: String,
        effect: Effect,
        may_still_run: bool,
    },
    /// The call was a check, and everything before the body holds. This does not fail a call.
    Checked,
}

/// Why a call was given up.
#[derive(Clone, Copy, Debug)]
pub enum Cause {
    /// It had this long.
    OutOfTime(Duration),
    /// It was cancelled, for this reason.
    Cancelled(&'static str),
}

/// How far a call had got when it was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The call had not begun.
    NotStarted,
    /// A given or a question was awaited before the body.
    BeforeBody,
    /// The body was stopped.
    CutOff,
    /// The body cannot be stopped and may still run.
    MayStillRun,
}

/// The sentence for the model when writing a question panicked.
const UNASKED: &str = "not started, because the question to a person about it panicked; this is a fault of the tool, not of the arguments";

impl From<Stop> for FailureKind {
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Violation(violation) => Self::Violation(violation),
            Stop::BeforeBody => Self::Checked,
            Stop::Asked(open) => Self::Asked(Box::new(ApprovalRequest::about(open.questions))),
            Stop::Unasked => Self::before_body(Status::Denied, UNASKED),
        }
    }
}

impl From<FailureKind> for Box<Failure> {
    fn from(kind: FailureKind) -> Self {
        Self::new(Failure {
            kind,
            sentence: OnceLock::new(),
        })
    }
}

impl Failure {
    pub(super) fn sentence(&self, tool: &str, effect: Effect) -> &str {
        self.sentence
            .get_or_init(|| self.kind.sentence_with(tool, effect))
    }

    pub(super) fn into_sentence(mut self, tool: &str, effect: Effect) -> String {
        let composed = self.sentence.take();
        composed.unwrap_or_else(|| self.kind.sentence_with(tool, effect))
    }

    /// The request of a call that ended as asked, to be completed.
    pub(crate) fn approval_request_mut(&mut self) -> Option<&mut ApprovalRequest> {
        self.sentence = OnceLock::new();
        match &mut self.kind {
            FailureKind::Asked(request) => Some(request),
            _ => None,
        }
    }
}

impl FailureKind {
    pub(crate) fn unread() -> Self {
        Self::Failed("an argument was used before it was read".to_owned())
    }

    /// Creates the failure of a call whose body has not run, with its sentence.
    pub(crate) fn before_body(status: Status, error: &str) -> Self {
        Self::Reported {
            status,
            error: error.to_owned(),
            effect: Effect::None,
            may_still_run: false,
        }
    }

    /// Returns the failure without any value, for logs. What a tool or a person wrote may contain any value and is left out.
    pub(super) fn masked(&self) -> Self {
        let mut masked = self.clone();
        match &mut masked {
            Self::InvalidArguments(invalid) => **invalid = invalid.masked(),
            Self::Violation(violation) => **violation = violation.masked(),
            Self::Asked(request) => **request = request.masked(),
            Self::Denied(text)
            | Self::Failed(text)
            | Self::Unwritable(text)
            | Self::Reported { error: text, .. } => MASK.clone_into(text),
            _ => {}
        }
        masked
    }

    pub(crate) fn status(&self) -> Status {
        match self {
            Self::InvalidArguments(_) => Status::InvalidArguments,
            Self::UnknownTool(_) => Status::UnknownTool,
            Self::Violation(_) => Status::Violation,
            Self::Asked(_) => Status::Asked,
            Self::Denied(_) => Status::Denied,
            Self::Failed(_) | Self::Unwritable(_) => Status::Failed,
            Self::Panicked => Status::Panicked,
            Self::GivenUp(Cause::OutOfTime(_), _) => Status::TimedOut,
            Self::GivenUp(Cause::Cancelled(_), _) => Status::Cancelled,
            Self::Overloaded(_) => Status::Overloaded,
            Self::Reported { status, .. } => *status,
            Self::Checked => Status::Ok,
        }
    }

    /// Returns whether a call that ended this way in this phase took effect.
    pub(crate) fn effect(&self, phase: Phase) -> Effect {
        match self {
            Self::InvalidArguments(_)
            | Self::UnknownTool(_)
            | Self::Overloaded(_)
            | Self::Checked => Effect::None,
            Self::GivenUp(_, stopped) => match stopped {
                Stopped::NotStarted | Stopped::BeforeBody => Effect::None,
                Stopped::CutOff | Stopped::MayStillRun => Effect::Unknown,
            },
            Self::Reported { effect, .. } => *effect,
            _ if phase == Phase::BeforeBody => Effect::None,
            // The tool is in another process, and its body was not entered there.
            Self::Violation(violation) if is_own_precondition(violation) => Effect::None,
            Self::Unwritable(_) => Effect::Complete,
            Self::Panicked if phase == Phase::Result => Effect::Complete,
            _ => Effect::Unknown,
        }
    }

    /// Returns what went wrong and whether the call took effect. A text of the tool or of another process stays as it is.
    fn sentence_with(&self, tool: &str, effect: Effect) -> String {
        let sentence = self.sentence(tool);
        let is_as_given = match self {
            Self::Failed(message) => !message.trim().is_empty(),
            Self::Reported { .. } => true,
            _ => false,
        };
        match effect {
            _ if is_as_given => sentence,
            Effect::None => sentence,
            Effect::Complete => format!("it took effect, but {sentence}; do not repeat it"),
            Effect::Unknown => format!("{sentence}; {MAY_HAVE_TAKEN_EFFECT}"),
        }
    }

    /// Returns what went wrong, as a sentence for the model.
    fn sentence(&self, tool: &str) -> String {
        match self {
            Self::InvalidArguments(invalid) => invalid.to_string(),
            Self::UnknownTool(instead) => format!("there is no tool of that name{instead}"),
            Self::Violation(violation) => violation.refusal(),
            Self::Asked(request) => format!(
                "not started, because a person must be asked first: {}",
                request.to_string().replace('\n', " ")
            ),
            Self::Denied(reason) if reason.trim().is_empty() => {
                "not started, because it was denied".to_owned()
            }
            Self::Denied(reason) => format!("not started, because it was denied: {reason}"),
            Self::Failed(message) if message.trim().is_empty() => {
                format!("`{tool}` failed and did not say why")
            }
            Self::Failed(message) | Self::Unwritable(message) => message.clone(),
            Self::Panicked => {
                format!("`{tool}` panicked; this is a fault of the tool, not of the arguments")
            }
            Self::GivenUp(Cause::OutOfTime(_), Stopped::NotStarted) => {
                format!("`{tool}` was not started, because its time was over")
            }
            Self::GivenUp(Cause::OutOfTime(after), stopped) => {
                let (after, doubt) = (seconds(*after), stopped.doubt());
                format!("`{tool}` did not end within {after}{doubt}")
            }
            Self::GivenUp(Cause::Cancelled(reason), Stopped::NotStarted) => {
                format!("not started, because {reason}")
            }
            Self::GivenUp(Cause::Cancelled(reason), stopped) => {
                format!("{reason}{}", stopped.doubt())
            }
            Self::Overloaded(limit) => {
                format!("{limit} calls are running, which is the limit; try again later")
            }
            Self::Reported { error, .. } => error.clone(),
            Self::Checked => String::new(),
        }
    }
}

/// The text for the model if it is unknown whether a call took effect.
pub const MAY_HAVE_TAKEN_EFFECT: &str = "it may have taken effect, so check before you repeat it";

fn is_own_precondition(violation: &Violation) -> bool {
    let before = matches!(violation.kind, ConditionKind::Pre | ConditionKind::Given);
    before && violation.blame == Blame::Model
}

impl Stopped {
    /// Returns how far the call had got.
    fn doubt(self) -> &'static str {
        match self {
            Self::NotStarted | Self::CutOff => "",
            Self::BeforeBody => "; its body did not begin",
            Self::MayStillRun => "; it may still be running",
        }
    }
}

fn seconds(duration: Duration) -> String {
    // The remaining time is a little less than the limit, so it is rounded.
    match duration.as_micros().div_ceil(1000) {
        millis if millis % 1000 == 0 => format!("{} s", millis / 1000),
        millis => format!("{millis} ms"),
    }
}
