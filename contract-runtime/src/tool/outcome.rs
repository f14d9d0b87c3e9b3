use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::arguments::{Coercion, InvalidArguments};
use super::content::Artifact;
use super::reply::Output;
use super::wire::ToolResult;
use crate::contract::violation::Violation;

/// How a call ended; every call ends in exactly one of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Status {
    /// The tool gave a result that keeps its promises.
    Ok,
    /// The arguments are not what the tool takes; nothing ran.
    InvalidArguments,
    /// The registry has no tool of that name.
    UnknownTool,
    /// A condition did not hold, under a policy that ends the call.
    Violation,
    /// The tool said that it failed, or its result could not be used.
    Failed,
    /// The tool panicked, or [`Builder::before_call`](crate::Builder::before_call) did, and nothing ran.
    Panicked,
    /// The tool did not end in time.
    TimedOut,
    /// The call was cancelled, or never started: an earlier one of its batch broke a contract, or
    /// [`Builder::before_call`](crate::Builder::before_call) refused it.
    Cancelled,
    /// Too many calls were running.
    Overloaded,
}

impl Status {
    pub(crate) const COUNT: usize = 9;

    /// The name used in exports and logs.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::InvalidArguments => "invalid_arguments",
            Self::UnknownTool => "unknown_tool",
            Self::Violation => "violation",
            Self::Failed => "failed",
            Self::Panicked => "panicked",
            Self::TimedOut => "timed_out",
            Self::Cancelled => "cancelled",
            Self::Overloaded => "overloaded",
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What came of one call.
///
/// ```
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
/// let outcome = registry.call_blocking(ToolCall::new("7", "divide", r#"{"dividend":1,"divisor":0}"#));
/// assert_eq!(outcome.status(), Status::Violation);
/// assert_eq!(
///     outcome.error().unwrap(),
///     "cannot divide by zero; `divide` requires `divisor != 0.0`, got divisor = 0.0",
/// );
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Outcome {
    pub(crate) id: String,
    pub(crate) tool: String,
    pub(crate) end: End,
    pub(crate) notes: Option<Box<Notes>>,
}

/// What happened on the way to an end, of which most calls have nothing.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes {
    pub(crate) observed: Vec<Violation>,
    pub(crate) coercions: Vec<Coercion>,
}

#[derive(Clone, Debug)]
pub(crate) enum End {
    Ok(Output),
    InvalidArguments(Box<InvalidArguments>),
    UnknownTool {
        nearest: Option<String>,
    },
    Violation(Box<Violation>),
    Failed(String),
    Panicked,
    TimedOut {
        after: Duration,
        may_still_run: bool,
    },
    Cancelled {
        reason: &'static str,
        may_still_run: bool,
    },
    Overloaded {
        limit: usize,
    },
    /// In the words of whoever ended it: a hook before the call, or the other side of a connection.
    Said {
        status: Status,
        error: String,
        may_still_run: bool,
    },
}

impl Outcome {
    pub(crate) fn new(id: String, tool: String, end: End) -> Self {
        Self {
            id,
            tool,
            end,
            notes: None,
        }
    }

    /// The caller's id of the call.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.id
    }

    /// The name by which the tool was called.
    #[must_use]
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// How the call ended.
    #[must_use]
    pub fn status(&self) -> Status {
        match &self.end {
            End::Ok(_) => Status::Ok,
            End::InvalidArguments(_) => Status::InvalidArguments,
            End::UnknownTool { .. } => Status::UnknownTool,
            End::Violation(_) => Status::Violation,
            End::Failed(_) => Status::Failed,
            End::Panicked => Status::Panicked,
            End::TimedOut { .. } => Status::TimedOut,
            End::Cancelled { .. } => Status::Cancelled,
            End::Overloaded { .. } => Status::Overloaded,
            End::Said { status, .. } => *status,
        }
    }

    /// Whether the tool gave a result.
    #[must_use]
    pub fn is_ok(&self) -> bool {
        matches!(self.end, End::Ok(_))
    }

    /// The result as the model gets it, if there is one.
    #[must_use]
    pub fn output(&self) -> Option<&str> {
        match &self.end {
            End::Ok(output) => Some(&output.text),
            _ => None,
        }
    }

    /// The result as a JSON value, if there is one; a string that was given as it is becomes a JSON string.
    ///
    /// A result that was cut at the registry's limit is no longer JSON and becomes a string too.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        let End::Ok(output) = &self.end else {
            return None;
        };
        let parsed = output
            .is_json
            .then(|| serde_json::from_str(&output.text).ok())
            .flatten();
        Some(match (parsed, output.text.is_empty()) {
            (Some(value), _) => value,
            (None, true) if !output.is_json => Value::Null,
            (None, _) => Value::from(output.text.as_str()),
        })
    }

    /// What goes along with the result.
    #[must_use]
    pub fn artifacts(&self) -> &[Artifact] {
        match &self.end {
            End::Ok(output) => output.artifacts.as_deref().map_or(&[], Vec::as_slice),
            _ => &[],
        }
    }

    /// What went wrong, as a sentence for the model; `None` if nothing did.
    #[must_use]
    pub fn error(&self) -> Option<String> {
        let tool = &self.tool;
        Some(match &self.end {
            End::Ok(_) => return None,
            End::InvalidArguments(invalid) => invalid.to_string(),
            End::UnknownTool { nearest } => match nearest {
                Some(nearest) => {
                    format!("there is no tool of that name; did you mean `{nearest}`?")
                }
                None => "there is no tool of that name".to_owned(),
            },
            End::Violation(violation) => violation.to_string(),
            End::Failed(message) if message.trim().is_empty() => {
                format!("`{tool}` failed and did not say why")
            }
            End::Failed(message) => message.clone(),
            End::Panicked => {
                format!("`{tool}` panicked; this is a fault of the tool, not of the arguments")
            }
            End::TimedOut {
                after,
                may_still_run,
            } if after.is_zero() && !may_still_run => {
                format!("`{tool}` was not started, because its time was over")
            }
            End::TimedOut {
                after,
                may_still_run,
            } => format!(
                "`{tool}` did not end within {}{}",
                seconds(*after),
                still_running(*may_still_run)
            ),
            End::Cancelled {
                reason,
                may_still_run,
            } => format!("{reason}{}", still_running(*may_still_run)),
            End::Overloaded { limit } => {
                format!("{limit} calls are running, which is the limit; try again later")
            }
            End::Said { error, .. } => error.clone(),
        })
    }

    /// The violation that ended the call, if one did.
    #[must_use]
    pub fn violation(&self) -> Option<&Violation> {
        match &self.end {
            End::Violation(violation) => Some(violation),
            _ => None,
        }
    }

    /// What is wrong with the arguments, if that ended the call.
    #[must_use]
    pub fn invalid_arguments(&self) -> Option<&InvalidArguments> {
        match &self.end {
            End::InvalidArguments(invalid) => Some(invalid),
            _ => None,
        }
    }

    /// The violations that were observed and did not end the call, in order; the first 100, while statistics count all.
    #[must_use]
    pub fn observed(&self) -> &[Violation] {
        self.notes.as_ref().map_or(&[], |notes| &notes.observed)
    }

    /// The arguments that were read as another type than they were sent.
    #[must_use]
    pub fn coercions(&self) -> &[Coercion] {
        self.notes.as_ref().map_or(&[], |notes| &notes.coercions)
    }

    /// Whether the body may still be running, after a timeout or a cancellation of a `blocking` tool.
    #[must_use]
    pub fn may_still_be_running(&self) -> bool {
        matches!(
            self.end,
            End::TimedOut {
                may_still_run: true,
                ..
            } | End::Cancelled {
                may_still_run: true,
                ..
            } | End::Said {
                may_still_run: true,
                ..
            }
        )
    }

    /// What goes back to the model.
    #[must_use]
    pub fn into_result(self) -> ToolResult {
        let error = self.error();
        let answer = match (self.end, error) {
            (End::Ok(output), _) => Ok((
                output.text,
                output.artifacts.map_or_else(Vec::new, |list| *list),
            )),
            (_, error) => Err(error.unwrap_or_default()),
        };
        ToolResult::new(self.id, self.tool, answer)
    }
}

fn still_running(may_still_run: bool) -> &'static str {
    if may_still_run {
        "; it may still be running"
    } else {
        ""
    }
}

fn seconds(duration: Duration) -> String {
    // What is left of a limit is a little less than the limit.
    match duration.as_micros().div_ceil(1000) {
        millis if millis % 1000 == 0 => format!("{} s", millis / 1000),
        millis => format!("{millis} ms"),
    }
}
