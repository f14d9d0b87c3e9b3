//! One problem with the arguments of a call.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::escape::{clip, escaped, quoted};

/// The kind of an [`ArgumentProblem`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProblemKind {
    /// The text is not JSON.
    Malformed,
    /// The arguments are JSON, but not an object.
    NotAnObject,
    /// The text is longer than the registry allows.
    TooLarge,
    /// The value has too many ways to be read; it was not judged to the end.
    TooComplex,
    /// A required argument or key is absent.
    Missing,
    /// No argument or key has this name.
    Unknown,
    /// A key is given more than once.
    Duplicate,
    /// The value has the wrong JSON type.
    Type,
    /// A number is too small, too large or not a multiple of the step.
    Range,
    /// A string, array or object has too few or too many parts.
    Length,
    /// The value is not one of those listed, or is excluded.
    Value,
    /// A string does not match its pattern.
    Pattern,
    /// A string does not have its format, such as a date. Reported only with a call that is refused in any case: the type
    /// decides.
    Format,
    /// The value fits none of several forms, or more of them than it may.
    NoMatch,
    /// The schema accepts the value, but the type does not.
    Rejected,
}

/// One problem with the arguments of a call, as data; its `Display` is one sentence.
///
/// ```
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
/// let outcome = call(r#"{"number": "four"}"#);
/// let problem = &outcome.invalid_arguments().unwrap().problems()[0];
/// assert_eq!(problem.pointer, "/number");
/// assert_eq!(problem.expected, "an integer from 0 to 255 that is a multiple of 2");
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ArgumentProblem {
    /// The value, as a JSON pointer (RFC 6901); empty for the arguments as a whole. It stops at a secret argument.
    pub pointer: String,
    /// The kind of problem.
    pub kind: ProblemKind,
    /// What is accepted, in words.
    pub expected: String,
    /// What was given, in words, cut to about 60 characters; the value of a secret is not shown.
    pub got: String,
    /// The accepted values or names, if they are listed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub allowed: Vec<Value>,
    /// The accepted value or name that is closest to the given one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<String>,
}

impl ArgumentProblem {
    pub(super) fn new(
        pointer: String,
        kind: ProblemKind,
        expected: impl Into<String>,
        got: impl Into<String>,
    ) -> Self {
        Self {
            pointer,
            kind,
            expected: expected.into(),
            got: got.into(),
            allowed: Vec::new(),
            nearest: None,
        }
    }

    /// `argument` at the top, `key` below: what the model knows them as.
    fn noun(&self) -> &'static str {
        if self.pointer.matches('/').count() > 1 {
            "key"
        } else {
            "argument"
        }
    }

    fn unknown(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let noun = self.noun();
        write!(out, "no such {noun}")?;
        if let Some(name) = &self.nearest {
            write!(out, "; did you mean `{}`?", escaped(name))?;
        }
        let names: Vec<_> = self.allowed.iter().filter_map(Value::as_str).collect();
        let joint = if self.nearest.is_some() {
            " The"
        } else {
            "; the"
        };
        match names.as_slice() {
            [] if self.nearest.is_some() => Ok(()),
            [] => write!(out, "; expected {}", self.expected),
            [only] => write!(out, "{joint} only {noun} is `{only}`"),
            _ => {
                let shown: Vec<_> = names
                    .iter()
                    .take(20)
                    .map(|name| format!("`{}`", clip(name, 60)))
                    .collect();
                write!(out, "{joint} {noun}s are {}", shown.join(", "))?;
                match names.len().saturating_sub(20) {
                    0 => Ok(()),
                    more => write!(out, " and {more} more"),
                }
            }
        }
    }
}

impl fmt::Display for ArgumentProblem {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.pointer.is_empty() {
            out.write_str("the arguments: ")?;
        } else {
            write!(out, "`{}`: ", escaped(&self.pointer))?;
        }
        match self.kind {
            ProblemKind::Unknown => self.unknown(out),
            ProblemKind::Missing => {
                write!(
                    out,
                    "required {} is missing; expected {}",
                    self.noun(),
                    self.expected
                )
            }
            ProblemKind::Duplicate => out.write_str("is given more than once"),
            ProblemKind::TooComplex => out.write_str(&self.expected),
            _ => {
                write!(out, "expected {}, got {}", self.expected, self.got)?;
                match &self.nearest {
                    Some(name) => write!(out, "; did you mean {}?", quoted(name)),
                    None => Ok(()),
                }
            }
        }
    }
}
