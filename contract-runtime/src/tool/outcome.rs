//! How a call ended: its status, result and violations.

use std::borrow::Cow;
use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use super::backed::CallError;
use super::content::{Artifact, Content};
use super::failure::{Failure, FailureKind, Stopped};
use super::wire::ToolResult;
use crate::contract::approval::{ApprovalRequest, Decided, Decision};
use crate::contract::scope::{Phase, written};
use crate::contract::violation::{MASK, Violation};
use crate::schema::arguments::{ArgumentProblem, Coercion, InvalidArguments};

/// How a call ended; every call ends with exactly one status.
///
/// ```
/// use contract_runtime::Status;
/// use contract_runtime::prelude::*;
///
/// /// Halve a number.
/// #[tool]
/// #[pre(number % 2 == 0, "only even numbers are halved")]
/// fn halve(number: u8) -> u8 {
///     number / 2
/// }
///
/// let registry = Registry::builder().tool(halve).build()?;
/// let call = |arguments| registry.call(ToolCall::new("1", "halve", arguments)).blocking();
/// assert_eq!(call(r#"{"number": 4}"#).status(), Status::Ok);
/// assert_eq!(call(r#"{"number": 5}"#).status(), Status::Violation);
/// assert_eq!(call(r#"{"number": "x"}"#).status(), Status::InvalidArguments);
/// assert_eq!(Status::InvalidArguments.name(), "invalid_arguments");
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The tool returned a result that satisfies its postconditions.
    Ok,
    /// The arguments are not what the tool accepts; nothing ran.
    InvalidArguments,
    /// The registry has no tool with that name.
    UnknownTool,
    /// A condition did not hold, under a policy that ends the call.
    Violation,
    /// A person must be asked before the call may go on; nothing ran. See [`Outcome::approval_request`].
    Asked,
    /// A person refused the call, or there was nobody to ask; nothing ran.
    Denied,
    /// [`Builder::before_call`](crate::Builder::before_call) refused the call; nothing ran.
    Refused,
    /// The tool reported a failure, or its result could not be used. A word that is not known is read as this.
    Failed,
    /// The tool panicked, or [`Builder::before_call`](crate::Builder::before_call) did.
    Panicked,
    /// The tool did not finish in time.
    TimedOut,
    /// The call was cancelled, or never started because an earlier one of its batch broke a contract.
    Cancelled,
    /// Too many calls were running.
    Overloaded,
}

impl Status {
    /// Every status, in the order of their declaration.
    pub const ALL: &'static [Self] = &[
        Self::Ok,
        Self::InvalidArguments,
        Self::UnknownTool,
        Self::Violation,
        Self::Asked,
        Self::Denied,
        Self::Refused,
        Self::Failed,
        Self::Panicked,
        Self::TimedOut,
        Self::Cancelled,
        Self::Overloaded,
    ];

    /// Returns the name used in exports and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::InvalidArguments => "invalid_arguments",
            Self::UnknownTool => "unknown_tool",
            Self::Violation => "violation",
            Self::Asked => "asked",
            Self::Denied => "denied",
            Self::Refused => "refused",
            Self::Failed => "failed",
            Self::Panicked => "panicked",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Overloaded => "overloaded",
        }
    }
}

impl<'de> Deserialize<'de> for Status {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = Cow::<'de, str>::deserialize(deserializer)?;
        let known = Self::ALL.iter().find(|status| status.name() == name);
        Ok(known.copied().unwrap_or(Self::Failed))
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Whether a call took effect: whether repeating it would do it twice.
///
/// A tool that is `read_only` has no effect, however its call ends.
///
/// ```
/// use contract_runtime::Effect;
/// use contract_runtime::prelude::*;
///
/// /// Book a seat.
/// #[tool]
/// #[pre(seat <= 300, "the hall has 300 seats")]
/// fn book(seat: u16) -> Result<f64, String> {
///     match seat {
///         0 => Err("the booking was interrupted".to_owned()),
///         1 => Ok(f64::NAN),
///         _ => Ok(9.5),
///     }
/// }
///
/// let registry = Registry::builder().tool(book).build()?;
/// let book = |seat: u16| {
///     registry.call(ToolCall::new("1", "book", format!(r#"{{"seat": {seat}}}"#))).blocking()
/// };
/// assert_eq!(book(2).effect(), Effect::Complete);
/// assert_eq!(book(301).effect(), Effect::None, "the body was not entered");
/// assert_eq!(book(0).effect(), Effect::Unknown, "only the tool knows");
/// assert_eq!(book(1).effect(), Effect::Complete, "JSON cannot carry the result");
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Effect {
    /// It took none: the body was not entered, the call was only checked, or the tool is `read_only`.
    None,
    /// It took effect: the body has ended and nothing that is enforced was broken, whatever became of the result.
    Complete,
    /// It may have taken effect, in whole or in part. Any word that is not known is read as this.
    #[default]
    #[serde(other)]
    Unknown,
}

impl Effect {
    /// Returns the name used in exports and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Complete => "complete",
            Self::Unknown => "unknown",
        }
    }
}

impl fmt::Display for Effect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What the text of a result is.
///
/// ```
/// use contract_runtime::OutputKind;
/// use contract_runtime::prelude::*;
///
/// /// Say hello.
/// #[tool]
/// fn hello() -> &'static str {
///     "hello"
/// }
///
/// /// Count to three.
/// #[tool]
/// fn count() -> [u8; 3] {
///     [1, 2, 3]
/// }
///
/// let registry = Registry::builder().tool(hello).tool(count).build()?;
/// let kind = |name| registry.call(ToolCall::new("1", name, "{}")).blocking().output_kind();
/// assert_eq!(kind("hello"), Some(OutputKind::Text));
/// assert_eq!(kind("count"), Some(OutputKind::Json));
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OutputKind {
    /// The tool returned `()`: there is no result, and the text is empty.
    #[default]
    Nothing,
    /// A string, as it is; it may be empty too.
    Text,
    /// A JSON value.
    Json,
}

/// The outcome of one call.
///
/// As JSON it has the names of [`ToolResult`] and of its methods, without what is empty: `id`, `name`, `status`, `effect`, `output`,
/// `error`, `violation`, `problems`, `approval_request`, `observed`, `coercions`, `decisions` and `may_still_be_running`. Artifacts are left out.
/// It holds what was sent and returned; [`masked`](Self::masked) is for logs.
///
/// ```
/// use contract_runtime::Status;
/// use contract_runtime::prelude::*;
///
/// /// Divide one number by another.
/// #[tool]
/// #[pre(divisor != 0.0, "cannot divide by zero")]
/// fn divide(dividend: f64, divisor: f64) -> f64 {
///     dividend / divisor
/// }
///
/// let registry = Registry::builder().tool(divide).build()?;
/// let outcome = registry.call(ToolCall::new("7", "divide", r#"{"dividend":1,"divisor":0}"#)).blocking();
/// assert_eq!(outcome.status(), Status::Violation);
/// assert_eq!(
///     outcome.error().unwrap(),
///     "cannot divide by zero, got divisor = 0.0",
/// );
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Outcome {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) ending: Ending,
}

/// How a call ended, without its names.
#[derive(Clone, Debug)]
pub struct Ending {
    /// The failure is boxed, so that the sentence costs a call with a result nothing.
    pub(crate) end: Result<Content, Box<Failure>>,
    pub(crate) effect: Effect,
    /// Whether the history of a run counts the call.
    pub(crate) counted: bool,
    pub(crate) notes: Option<Box<Notes>>,
}

/// Observed violations, corrections and decisions. Most calls have none.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    pub(crate) observed: Vec<Violation>,
    pub(crate) coercions: Vec<Coercion>,
    pub(crate) decisions: Vec<Decided>,
}

impl Ending {
    /// Creates the end of a call that failed in this phase.
    pub(crate) fn failed(kind: FailureKind, phase: Phase) -> Self {
        let effect = kind.effect(phase);
        Self {
            effect,
            counted: effect != Effect::None,
            end: Err(kind.into()),
            notes: None,
        }
    }

    pub(crate) fn status(&self) -> Status {
        let failed = self.end.as_ref().err();
        failed.map_or(Status::Ok, |failure| failure.kind.status())
    }
}

impl Outcome {
    /// Creates the outcome of a call that no registry saw to its end, such as one that a program gave up waiting for.
    ///
    /// ```
    /// use contract_runtime::dynamic::CallError;
    /// use contract_runtime::{Effect, Outcome, Status};
    ///
    /// let gone = CallError::Ended {
    ///     status: Status::Cancelled,
    ///     error: "the line was lost".to_owned(),
    ///     effect: Effect::Unknown,
    ///     may_still_run: true,
    /// };
    /// let outcome = Outcome::new("7", "print", Err(gone));
    /// assert_eq!(outcome.status(), Status::Cancelled);
    /// ```
    pub fn new(
        id: impl Into<String>,
        tool: impl Into<String>,
        answer: Result<Content, CallError>,
    ) -> Self {
        Self {
            id: id.into(),
            tool: tool.into(),
            ending: match answer {
                Ok(content) => Ending {
                    end: Ok(content),
                    effect: Effect::Complete,
                    counted: true,
                    notes: None,
                },
                Err(error) => Ending::failed(error.into(), Phase::Body),
            },
        }
    }

    /// Sets the effect, where it is known from a record of the call. [`new`](Self::new) takes a result for one of a tool that changes
    /// something.
    pub fn with_effect(mut self, effect: Effect) -> Self {
        self.ending.effect = effect;
        self
    }

    /// Returns the caller's id of the call.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Returns the name by which the tool was called.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// Returns how the call ended.
    #[must_use]
    pub fn status(&self) -> Status {
        self.ending.status()
    }

    /// Returns whether the call took effect.
    #[must_use]
    pub fn effect(&self) -> Effect {
        self.ending.effect
    }

    /// Returns whether the history of a run counts the call, because its body may have run. Unlike [`effect`](Self::effect), it also
    /// says so of tools that change nothing.
    #[must_use]
    pub fn is_counted(&self) -> bool {
        self.ending.counted
    }

    /// Returns whether the tool returned a result.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        self.ending.end.is_ok()
    }

    /// Returns the result as the model gets it, if there is one.
    #[must_use]
    pub fn output(&self) -> Option<&str> {
        self.content().map(Content::as_text)
    }

    /// Returns the result as a JSON value, if there is one; a string that the model gets as it is becomes a JSON string,
    /// and `()` becomes `null`.
    ///
    /// A result that was cut at the registry's limit is no longer JSON and becomes a string too, and so does one of more than 127
    /// arrays and objects inside each other.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        let output = self.content()?;
        let text = || Value::from(output.text.as_str());
        Some(match output.kind {
            OutputKind::Nothing => Value::Null,
            OutputKind::Text => text(),
            OutputKind::Json => serde_json::from_str(&output.text).unwrap_or_else(|_| text()),
        })
    }

    /// Returns what [`output`](Self::output) is, if there is a result.
    #[must_use]
    pub fn output_kind(&self) -> Option<OutputKind> {
        self.content().map(|output| output.kind)
    }

    /// Returns the artifacts of the result.
    #[must_use]
    pub fn artifacts(&self) -> &[Artifact] {
        self.content().map_or(&[], Content::artifacts)
    }

    /// Returns what went wrong and whether it took effect, as a sentence for the model; `None` if nothing did.
    ///
    /// Where the tool returned an `Err`, the sentence is its text alone.
    #[must_use]
    pub fn error(&self) -> Option<&str> {
        let failure = self.ending.end.as_ref().err()?;
        Some(failure.sentence(&self.tool, self.effect()))
    }

    /// Returns the violation that ended the call, if one did.
    #[must_use]
    pub fn violation(&self) -> Option<&Violation> {
        match self.failure_kind() {
            Some(FailureKind::Violation(violation)) => Some(violation),
            _ => None,
        }
    }

    /// Returns what a person must be asked before the call may go on, if that ended it.
    #[must_use]
    pub fn approval_request(&self) -> Option<&ApprovalRequest> {
        match self.failure_kind() {
            Some(FailureKind::Asked(request)) => Some(request),
            _ => None,
        }
    }

    /// Returns what is wrong with the arguments, if that ended the call.
    #[must_use]
    pub fn invalid_arguments(&self) -> Option<&InvalidArguments> {
        match self.failure_kind() {
            Some(FailureKind::InvalidArguments(invalid)) => Some(invalid),
            _ => None,
        }
    }

    /// Returns the violations that did not end the call, in order; only the first 100 are kept, while statistics count
    /// all.
    ///
    /// Of those whose values would exceed a mebibyte together with the values before them, values longer than 1,000 characters
    /// are cut.
    ///
    /// They were found under [`Policy::Observe`](crate::Policy::Observe), or in a destructor while an earlier violation
    /// unwound.
    #[must_use]
    pub fn observed(&self) -> &[Violation] {
        let notes = self.ending.notes.as_ref();
        notes.map_or(&[], |notes| &notes.observed)
    }

    /// Returns the arguments that were read as another value than was sent: strings as numbers, and `null` as a default.
    #[must_use]
    pub fn coercions(&self) -> &[Coercion] {
        let notes = self.ending.notes.as_ref();
        notes.map_or(&[], |notes| &notes.coercions)
    }

    /// Returns what was decided about the call, and by whom, in order. Of a call that was made again with an answer, it is that answer.
    ///
    /// What a run remembers is decided without a new decision.
    #[must_use]
    pub fn decisions(&self) -> &[Decided] {
        let notes = self.ending.notes.as_ref();
        notes.map_or(&[], |notes| &notes.decisions)
    }

    /// Returns whether the body may still be running, after a timeout or a cancellation of a `blocking` tool.
    #[must_use]
    pub fn may_still_be_running(&self) -> bool {
        matches!(
            self.failure_kind(),
            Some(
                FailureKind::GivenUp(_, Stopped::MayStillRun)
                    | FailureKind::Reported {
                        may_still_run: true,
                        ..
                    }
            )
        )
    }

    /// Returns the outcome without any value, for logs: as [`Violation::masked`] for every violation, with `"***"` in the place of the
    /// output, of what was given for an argument, and of what the tool said of its failure. Artifacts and the id of an approval
    /// request are left out.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    ///
    /// /// Divide one number by another.
    /// #[tool]
    /// #[pre(divisor != 0, "cannot divide {dividend} by zero")]
    /// fn divide(dividend: i32, divisor: i32) -> i32 {
    ///     dividend / divisor
    /// }
    ///
    /// let registry = Registry::builder().tool(divide).build()?;
    /// let outcome = registry.call(("7", "divide", r#"{"dividend":42,"divisor":0}"#)).blocking();
    /// let line = serde_json::to_string(&outcome.masked()).unwrap();
    /// assert!(line.starts_with(r#"{"id":"7","name":"divide","status":"violation","effect":"none","error":"#));
    /// assert!(!line.contains("42"));
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn masked(&self) -> Self {
        let end = match &self.ending.end {
            Ok(output) if output.kind == OutputKind::Nothing => Ok(Content::default()),
            Ok(_) => Ok(Content::text(MASK)),
            Err(failure) => Err(failure.kind.masked().into()),
        };
        let mut coercions = self.coercions().to_vec();
        for coercion in &mut coercions {
            (coercion.from, coercion.to) = (Value::Null, Value::Null);
            coercion.secret = true;
        }
        let mut decisions = self.decisions().to_vec();
        for decided in &mut decisions {
            if let Decision::Denied(reason) = &mut decided.decision {
                MASK.clone_into(reason);
            }
        }
        let notes = Notes {
            observed: self.observed().iter().map(Violation::masked).collect(),
            coercions,
            decisions,
        };
        Self {
            id: self.id.clone(),
            tool: self.tool.clone(),
            ending: Ending {
                end,
                effect: self.effect(),
                counted: self.ending.counted,
                notes: Some(Box::new(notes)),
            },
        }
    }

    /// Converts the outcome to the result that goes back to the model.
    #[must_use]
    pub fn into_result(self) -> ToolResult {
        let Ending { end, effect, .. } = self.ending;
        let success = end.is_ok();
        let (output, error, artifacts) = match end {
            Ok(content) => (Some(content.text), None, content.artifacts),
            Err(failure) => (None, Some(failure.into_sentence(&self.tool, effect)), None),
        };
        ToolResult {
            id: self.id,
            name: self.tool,
            success,
            effect,
            output,
            error,
            artifacts: artifacts.map_or_else(Vec::new, |list| *list),
        }
    }

    fn content(&self) -> Option<&Content> {
        self.ending.end.as_ref().ok()
    }

    fn failure_kind(&self) -> Option<&FailureKind> {
        Some(&self.ending.end.as_ref().err()?.kind)
    }
}

#[derive(Serialize)]
struct OutcomeJson<'o> {
    id: &'o str,
    name: &'o str,
    status: Status,
    effect: Effect,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'o str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'o str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<&'o Violation>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problems: Option<&'o [ArgumentProblem]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    approval_request: Option<&'o ApprovalRequest>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    observed: Vec<Violation>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    coercions: &'o [Coercion],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    decisions: &'o [Decided],
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    may_still_be_running: bool,
}

impl Serialize for Outcome {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let json = OutcomeJson {
            id: self.id(),
            name: self.tool(),
            status: self.status(),
            effect: self.effect(),
            output: self.output(),
            error: self.error(),
            violation: self.violation(),
            problems: self.invalid_arguments().map(InvalidArguments::problems),
            approval_request: self.approval_request(),
            observed: written(self.observed()),
            coercions: self.coercions(),
            decisions: self.decisions(),
            may_still_be_running: self.may_still_be_running(),
        };
        json.serialize(serializer)
    }
}

/// Returns whether the call failed because its result cannot be written as JSON.
#[must_use]
pub fn is_unwritable(outcome: &Outcome) -> bool {
    matches!(outcome.failure_kind(), Some(FailureKind::Unwritable(_)))
}
