//! The end of a call without a result, and the sentence that says why.

use std::sync::OnceLock;
use std::time::Duration;

use super::outcome::{Effect, OutcomeKind, Status};
use crate::contract::ConditionKind;
use crate::contract::approval::ApprovalRequest;
use crate::contract::frame::Stop;
use crate::contract::scope::Phase;
use crate::contract::violation::{Blame, MASK, Violation};
use crate::schema::arguments::InvalidArguments;

/// The end of a call without a result, as its outcome keeps it.
#[derive(Clone, Debug)]
pub(crate) struct Failure {
    pub(crate) kind: FailureKind,
    /// Composed when it is asked for.
    sentence: OnceLock<String>,
}

/// Why a call by name gave no result, wherever on its way that was found.
#[derive(Clone, Debug)]
pub enum FailureKind {
    /// The arguments were refused.
    InvalidArguments(Box<InvalidArguments>),
    /// The registry has no tool of that name.
    UnknownTool {
        /// The nearest name or those there are, as the end of the sentence.
        instead: String,
    },
    /// A condition does not hold.
    Violation(Box<Violation>),
    /// A person has to be asked.
    Asked(Box<ApprovalRequest>),
    /// A person, or the lack of one, denied it.
    Denied {
        /// What the model is told.
        reason: String,
    },
    /// The tool said that it failed, with its error.
    Failed(String),
    /// JSON cannot carry the result, and why.
    Unwritable(String),
    /// The tool, or what was run for it, panicked.
    Panicked,
    /// Its time was over.
    TimedOut {
        /// How long it had.
        after: Duration,
        /// How far it had come.
        stopped: Stopped,
    },
    /// It was given up.
    Cancelled {
        /// Why.
        reason: &'static str,
        /// How far it had come.
        stopped: Stopped,
    },
    /// Too many calls are running.
    Overloaded {
        /// The most that may run.
        limit: usize,
    },
    /// In the words of what ended it: a hook before the call, the other side of a connection, the lack of a runtime.
    Reported {
        /// How it ended.
        status: Status,
        /// What is said of it.
        error: String,
        /// Whether it took effect.
        effect: Effect,
        /// Whether the body may still be running.
        may_still_run: bool,
    },
    /// No failure: everything before the body holds, and nothing more was asked for.
    Checked,
}

/// How far the body had come when its call was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// Nothing of it had run.
    NotStarted,
    /// Something was being looked up for it.
    BeforeBody,
    /// It was stopped on its way.
    CutOff,
    /// Nothing can stop it.
    MayStillRun,
}

/// What a model is told where a question panicked.
const UNASKED: &str = "not started, because the question to a person about it panicked; this is a fault of the tool, not of the arguments";

impl From<Stop> for FailureKind {
    #[cold]
    fn from(stop: Stop) -> Self {
        match stop {
            Stop::Violation(violation) => Self::Violation(violation),
            Stop::BeforeBody => Self::Checked,
            Stop::Asked(open) => Self::Asked(Box::new(ApprovalRequest::about(open.questions))),
            Stop::Unasked => Self::before_body(Status::Denied, UNASKED),
        }
    }
}

impl From<FailureKind> for OutcomeKind {
    #[cold]
    fn from(kind: FailureKind) -> Self {
        Self::Failure(Box::new(Failure {
            kind,
            sentence: OnceLock::new(),
        }))
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
    pub(super) fn approval_request_mut(&mut self) -> Option<&mut ApprovalRequest> {
        self.sentence = OnceLock::new();
        match &mut self.kind {
            FailureKind::Asked(request) => Some(request),
            _ => None,
        }
    }
}

impl FailureKind {
    #[cold]
    pub(crate) fn unread() -> Self {
        Self::Failed("an argument was used before it was read".to_owned())
    }

    /// The end of a call of which nothing has run, with its sentence.
    pub(crate) fn before_body(status: Status, error: &str) -> Self {
        Self::Reported {
            status,
            error: error.to_owned(),
            effect: Effect::None,
            may_still_run: false,
        }
    }

    /// The same end without any value, as a log may hold it; what a tool or a person said may hold any.
    pub(super) fn masked(&self) -> Self {
        let mut masked = self.clone();
        match &mut masked {
            Self::InvalidArguments(invalid) => **invalid = invalid.masked(),
            Self::Violation(violation) => **violation = violation.masked(),
            Self::Asked(request) => **request = request.masked(),
            Self::Denied { reason: text }
            | Self::Failed(text)
            | Self::Unwritable(text)
            | Self::Reported { error: text, .. } => MASK.clone_into(text),
            _ => {}
        }
        masked
    }

    pub(super) fn status(&self) -> Status {
        match self {
            Self::InvalidArguments(_) => Status::InvalidArguments,
            Self::UnknownTool { .. } => Status::UnknownTool,
            Self::Violation(_) => Status::Violation,
            Self::Asked(_) => Status::Asked,
            Self::Denied { .. } => Status::Denied,
            Self::Failed(_) | Self::Unwritable(_) => Status::Failed,
            Self::Panicked => Status::Panicked,
            Self::TimedOut { .. } => Status::TimedOut,
            Self::Cancelled { .. } => Status::Cancelled,
            Self::Overloaded { .. } => Status::Overloaded,
            Self::Reported { status, .. } => *status,
            Self::Checked => Status::Ok,
        }
    }

    /// Returns whether a call that ended this way in this phase took effect.
    pub(crate) fn effect(&self, phase: Phase) -> Effect {
        match self {
            Self::InvalidArguments(_)
            | Self::UnknownTool { .. }
            | Self::Overloaded { .. }
            | Self::Checked => Effect::None,
            Self::TimedOut { stopped, .. } | Self::Cancelled { stopped, .. } => match stopped {
                Stopped::NotStarted | Stopped::BeforeBody => Effect::None,
                Stopped::CutOff | Stopped::MayStillRun => Effect::Unknown,
            },
            Self::Reported { effect, .. } => *effect,
            _ if phase == Phase::BeforeBody => Effect::None,
            // Of a tool that is elsewhere: its body was not entered there.
            Self::Violation(violation) if is_own_precondition(violation) => Effect::None,
            Self::Unwritable(_) => Effect::Complete,
            Self::Panicked if phase == Phase::Result => Effect::Complete,
            _ => Effect::Unknown,
        }
    }

    /// What went wrong, and whether it took effect. A text of the tool or of the other side of a connection stays as it is.
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

    /// What went wrong, as a sentence for the model.
    fn sentence(&self, tool: &str) -> String {
        match self {
            Self::InvalidArguments(invalid) => invalid.to_string(),
            Self::UnknownTool { instead } => format!("there is no tool of that name{instead}"),
            Self::Violation(violation) => violation.refusal(),
            Self::Asked(request) => format!(
                "not started, because a person must be asked first: {}",
                request.to_string().replace('\n', " ")
            ),
            Self::Denied { reason } if reason.trim().is_empty() => {
                "not started, because it was denied".to_owned()
            }
            Self::Denied { reason } => {
                format!("not started, because it was denied: {reason}")
            }
            Self::Failed(message) if message.trim().is_empty() => {
                format!("`{tool}` failed and did not say why")
            }
            Self::Failed(message) | Self::Unwritable(message) => message.clone(),
            Self::Panicked => {
                format!("`{tool}` panicked; this is a fault of the tool, not of the arguments")
            }
            Self::TimedOut {
                stopped: Stopped::NotStarted,
                ..
            } => format!("`{tool}` was not started, because its time was over"),
            Self::TimedOut { after, stopped } => format!(
                "`{tool}` did not end within {}{}",
                seconds(*after),
                stopped.doubt()
            ),
            Self::Cancelled {
                reason,
                stopped: Stopped::NotStarted,
            } => format!("not started, because {reason}"),
            Self::Cancelled { reason, stopped } => format!("{reason}{}", stopped.doubt()),
            Self::Overloaded { limit } => {
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
    /// How far the call had come.
    fn doubt(self) -> &'static str {
        match self {
            Self::NotStarted | Self::CutOff => "",
            Self::BeforeBody => "; its body did not begin",
            Self::MayStillRun => "; it may still be running",
        }
    }
}

fn seconds(duration: Duration) -> String {
    // What is left of a limit is a little less than the limit.
    match duration.as_micros().div_ceil(1000) {
        millis if millis % 1000 == 0 => format!("{} s", millis / 1000),
        millis => format!("{millis} ms"),
    }
}
