//! What can be wrong with a tool, as data.

use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::generate::{MOST_CHARACTERS, MOST_ITEMS};
use crate::Lowering;
use crate::registry::manifest::freeze::COMMAND;

/// What a tool was tried for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Layer {
    /// The forms of a contract say the same: types, predicates, schema and portable rules. No body runs.
    Agreement,
    /// Each precondition accepts something and refuses something. No body runs.
    Meaning,
    /// The body keeps what the contract promises.
    Promise,
}

/// One thing that is wrong with a tool, and the smallest input that shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// The name by which a model calls the tool.
    pub tool: String,
    /// What the tool was tried for.
    pub layer: Layer,
    /// The condition, as violations call it, such as `divide.pre[0]`; `None` where no single one is at fault.
    pub clause: Option<String>,
    /// The smallest arguments found that show it; `None` where it takes more than one call to see it.
    pub input: Option<Value>,
    /// What was seen.
    pub fault: Fault,
}

/// What was seen that should not be.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fault {
    /// There is no tool of that name to verify; nothing was tried.
    NoSuchTool,
    /// The registry has no tool at all; nothing was tried.
    NoTools,
    /// A schema or a rule could not be read by the judge that is to evaluate it.
    Unreadable {
        /// What the judge says.
        why: String,
    },
    /// A call ended before its conditions were judged, for a reason that is none of its arguments.
    Unjudged {
        /// How it ended.
        why: String,
    },
    /// The schema of the types and the dispatcher differ about whether these are arguments of the tool.
    Types {
        /// Whether the schema accepts them.
        schema: bool,
        /// What the dispatcher says.
        dispatcher: String,
    },
    /// Arguments that are no JSON object with each key once were taken all the same.
    Text {
        /// The arguments as they were sent.
        sent: String,
    },
    /// The keywords of a condition and its predicate differ.
    Schema {
        /// Whether the keywords accept the arguments.
        schema: bool,
        /// Whether the predicate holds of them.
        predicate: bool,
        /// How much of the predicate the keywords claim to say.
        lowering: Lowering,
    },
    /// The published schema accepts other arguments than the types and the keywords of all conditions together.
    Published {
        /// Whether the published schema accepts them.
        published: bool,
    },
    /// The portable rule of a condition and its predicate differ.
    Rule {
        /// The rule.
        rule: String,
        /// What it says of the arguments.
        says: bool,
        /// Whether the predicate holds of them.
        predicate: bool,
    },
    /// The portable rule of a condition gave no answer for any arguments.
    Silent {
        /// The rule.
        rule: String,
    },
    /// A precondition panics, so that it cannot be judged.
    ConditionPanicked,
    /// A precondition answered differently when it was asked again about the same arguments.
    Unsteady,
    /// No arguments were found of which the precondition holds.
    NeverHolds {
        /// How many arguments of the right types were tried.
        tried: u32,
        /// Some of them.
        samples: Vec<Value>,
    },
    /// No arguments were found that the precondition refuses.
    NeverFails {
        /// How many arguments of the right types were tried.
        tried: u32,
        /// Some of them.
        samples: Vec<Value>,
    },
    /// A length is bounded by so much that no text or list is made to reach it, so nothing is known of the precondition.
    Unreached {
        /// The bound.
        bound: i128,
        /// How many arguments of the right types were tried.
        tried: u32,
    },
    /// Too few arguments were found that all preconditions accept.
    TooFewAccepted {
        /// How many arguments of the right types were tried.
        tried: u32,
        /// How many of them were accepted.
        accepted: u32,
        /// How many there must be.
        needed: u32,
    },
    /// Arguments that were accepted when the edges of the tool were recorded are refused.
    NowRefused {
        /// What the model is told.
        message: String,
    },
    /// Arguments that were refused when the edges of the tool were recorded are accepted.
    NowAccepted,
    /// The edges of the tool could not be recorded.
    Unrecorded {
        /// What is wrong with the place.
        why: String,
    },
    /// The body panicked on accepted arguments.
    BodyPanicked {
        /// What the model is told.
        message: String,
    },
    /// A postcondition, or an assertion in the body, did not hold.
    PromiseBroken {
        /// What the model is told.
        message: String,
    },
    /// The body did not end in time.
    TimedOut {
        /// The time it was given, in milliseconds.
        milliseconds: u64,
    },
    /// The result could not be given to the model.
    ResultRefused {
        /// What the model is told.
        message: String,
    },
    /// The result is not what the output schema promises.
    Output {
        /// The result.
        output: Value,
        /// What is wrong with it.
        why: String,
    },
    /// The same call goes on to end differently, of a tool that says it is idempotent.
    NotIdempotent {
        /// How the second call ended.
        second: String,
        /// How the third call ended.
        third: String,
    },
}

impl Fault {
    /// It is known by what was recorded, and its input need not be kept once more.
    pub(super) fn is_moved(&self) -> bool {
        matches!(self, Self::NowAccepted | Self::NowRefused { .. })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.clause {
            Some(clause) => write!(f, "`{clause}`: {}", self.fault),
            None => write!(f, "{}", self.fault),
        }
    }
}

fn verdict(accepts: bool) -> &'static str {
    if accepts { "accepts" } else { "refuses" }
}

fn holds(predicate: bool) -> &'static str {
    if predicate { "holds" } else { "does not hold" }
}

/// The samples on one line, each cut where it is long.
fn listed(samples: &[Value]) -> String {
    let shown = samples.iter().map(|sample| {
        let text = sample.to_string();
        match text.char_indices().nth(120) {
            Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
            None => text,
        }
    });
    shown.collect::<Vec<_>>().join(", ")
}

impl fmt::Display for Fault {
    #[allow(clippy::too_many_lines, reason = "one sentence for each fault")]
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSuchTool => f.write_str("the registry has no tool of that name; nothing was tried"),
            Self::NoTools => f.write_str("the registry has no tools; nothing was tried"),
            Self::Unreadable { why } => write!(f, "it cannot be judged, because it cannot be read: {why}"),
            Self::Unjudged { why } => write!(f, "the call ended before its conditions were judged: {why}"),
            Self::Types { schema, dispatcher } => write!(
                f,
                "the schema of the types {} the arguments, the dispatcher says: {dispatcher}",
                verdict(*schema)
            ),
            Self::Text { sent } => write!(f, "the dispatcher took arguments that it must refuse: {sent}"),
            Self::Schema { schema, predicate, lowering } => {
                let claim = if *lowering == Lowering::Exact { "all" } else { "a part" };
                write!(
                    f,
                    "the predicate {}, and the schema, which claims to say {claim} of it, {} the arguments",
                    holds(*predicate),
                    verdict(*schema)
                )
            }
            Self::Published { published } => write!(
                f,
                "the published schema {} arguments that the types and the keywords of the conditions, each by itself, do not",
                verdict(*published)
            ),
            Self::Rule { rule, says, predicate } => {
                write!(f, "the predicate {}, and the rule `{rule}` says {says}", holds(*predicate))
            }
            Self::Silent { rule } => write!(f, "the rule `{rule}` gave no answer for any arguments"),
            Self::ConditionPanicked => f.write_str(
                "the predicate panics; guard it, for example with `checked_add` or a condition before it",
            ),
            Self::Unsteady => f.write_str(
                "the predicate answered differently when it was asked again; it must depend on the arguments alone",
            ),
            Self::NeverHolds { tried, samples } => write!(
                f,
                "no input was found of which it holds, in {tried}; if there are any, show one with `#[arg(example = ..)]`, or `examples` in the schema; \
                 among those tried: {}",
                listed(samples)
            ),
            Self::NeverFails { tried, samples } => write!(
                f,
                "no input was found that it refuses, in {tried}; remove it if it says nothing, or write one into the file of \
                 regressions; among those tried: {}",
                listed(samples)
            ),
            Self::Unreached { bound, tried } => write!(
                f,
                "its bound of {bound} was not reached, in {tried} inputs: a call takes 1 MiB of arguments, and texts are tried up to \
                 {MOST_CHARACTERS} characters, lists up to {MOST_ITEMS} items; choose a bound that a call can break, or write an \
                 input that breaks it into the file of regressions"
            ),
            Self::TooFewAccepted { tried: 0, .. } => f.write_str(
                "no arguments of the right types were found; a type that must hold another of its own has no values; if there are \
                 any, show some with `#[arg(example = ..)]`, or `examples` in the schema",
            ),
            Self::TooFewAccepted { tried, accepted, needed } => write!(
                f,
                "of {tried} inputs of the right types only {accepted} were accepted, and {needed} are needed; \
                 show accepted arguments with `#[arg(example = ..)]`, or `examples` in the schema"
            ),
            Self::NowRefused { message } => write!(
                f,
                "it refuses what was accepted when the edges were recorded: {message}; if that is meant, run `{COMMAND}` and commit the file"
            ),
            Self::NowAccepted => write!(
                f,
                "what was refused when the edges were recorded is accepted; if that is meant, run `{COMMAND}` and commit the file"
            ),
            Self::Unrecorded { why } => write!(f, "its edges could not be recorded: {why}"),
            Self::BodyPanicked { message } => write!(f, "the body panicked: {message}"),
            Self::PromiseBroken { message } => write!(f, "a promise was broken: {message}"),
            Self::TimedOut { milliseconds } => write!(f, "the body did not end within {milliseconds} ms"),
            Self::ResultRefused { message } => write!(f, "the result could not be given to the model: {message}"),
            Self::Output { output, why } => {
                write!(f, "the result {} is not what the output schema promises: {why}", listed(std::slice::from_ref(output)))
            }
            Self::NotIdempotent { second, third } => write!(
                f,
                "it says that it is idempotent, and the same call goes on to end differently: {second}, then {third}"
            ),
        }
    }
}
