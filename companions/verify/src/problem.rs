//! The problems that a verification reports.

use std::fmt;

use contract_runtime::__family::UPDATE_COMMAND as COMMAND;
use contract_runtime::Lowering;
use serde::Serialize;
use serde_json::Value;

use super::generate::{MOST_CHARACTERS, MOST_ITEMS};
use super::sequences::SequenceCall;

/// A layer of verification.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Layer {
    /// The forms of a contract agree: types, predicates, schema and portable rules. No body runs.
    Agreement,
    /// Each precondition accepts something and refuses something. No body runs.
    Meaning,
    /// The body keeps what the contract promises.
    Promise,
}

/// One problem of a tool, with the smallest input that shows it.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Problem {
    /// The name by which a model calls the tool.
    pub tool: String,
    /// What the tool was verified for.
    pub layer: Layer,
    /// The id of the condition in violations, such as `divide.pre[0]`; `None` if no single one is at fault.
    pub clause: Option<String>,
    /// The smallest arguments found that show the problem; `None` if it takes more than one call.
    pub input: Option<Value>,
    /// The calls that show the problem, the last of which is of this tool; empty if it takes one call.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<SequenceCall>,
    /// What was observed.
    pub fault: Fault,
}

/// The kind of problem, with its details.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fault {
    /// The tool to verify does not exist; nothing was tried.
    NoSuchTool,
    /// The registry is empty; nothing was tried.
    NoTools,
    /// A schema or a rule could not be read by its evaluator.
    Unreadable {
        /// The message of the evaluator.
        why: String,
    },
    /// A call ended before its conditions were evaluated, for a reason other than its arguments.
    Unjudged {
        /// How it ended.
        why: String,
    },
    /// The schema of the types and the dispatcher disagree on whether these arguments are valid.
    Types {
        /// Whether the schema accepts them.
        schema: bool,
        /// The verdict of the dispatcher.
        dispatcher: String,
    },
    /// Arguments that are not a JSON object with unique keys were accepted.
    Text {
        /// The arguments as they were sent.
        sent: String,
    },
    /// The keywords of a condition and its predicate disagree.
    Schema {
        /// Whether the keywords accept the arguments.
        schema: bool,
        /// Whether the predicate holds for them.
        predicate: bool,
        /// How much of the predicate the keywords claim to express.
        lowering: Lowering,
    },
    /// The published schema accepts other arguments than the types and the keywords of all conditions together.
    Published {
        /// Whether the published schema accepts them.
        published: bool,
    },
    /// The portable rule of a condition and its predicate disagree.
    Rule {
        /// The rule.
        rule: String,
        /// The answer of the rule for the arguments.
        says: bool,
        /// Whether the predicate holds for them.
        predicate: bool,
    },
    /// The portable rule of a condition gave no answer for any arguments.
    Silent {
        /// The rule.
        rule: String,
    },
    /// A precondition panics, so it cannot be evaluated.
    ConditionPanicked,
    /// A precondition gave different answers for the same arguments.
    Unsteady,
    /// No arguments were found that satisfy the precondition.
    NeverHolds {
        /// The number of arguments of the right types that were tried.
        tried: u32,
        /// Some of them.
        samples: Vec<Value>,
    },
    /// No arguments were found that violate the precondition.
    NeverFails {
        /// The number of arguments of the right types that were tried.
        tried: u32,
        /// Some of them.
        samples: Vec<Value>,
    },
    /// A length bound is too large to generate a text or list that reaches it, so nothing is known about the
    /// precondition.
    Unreached {
        /// The bound.
        bound: i128,
        /// The number of arguments of the right types that were tried.
        tried: u32,
    },
    /// Too few arguments were found that satisfy all preconditions.
    TooFewAccepted {
        /// The number of arguments of the right types that were tried.
        tried: u32,
        /// The number of arguments that were accepted.
        accepted: u32,
        /// The minimum.
        needed: u32,
        /// The number of arguments for which a `#[given]` found nothing.
        ungiven: u32,
    },
    /// Arguments that were accepted when the boundaries of the tool were recorded are refused.
    NowRefused {
        /// The message for the model.
        message: String,
    },
    /// Arguments that were refused when the boundaries of the tool were recorded are accepted.
    NowAccepted,
    /// The boundaries of the tool could not be recorded.
    Unrecorded {
        /// The reason.
        why: String,
    },
    /// The body panicked on accepted arguments.
    BodyPanicked {
        /// The message for the model.
        message: String,
    },
    /// A postcondition, or an assertion in the body, did not hold.
    PromiseBroken {
        /// The message for the model.
        message: String,
    },
    /// The body did not finish in time.
    TimedOut {
        /// The time limit, in milliseconds.
        milliseconds: u64,
    },
    /// The result could not be passed to the model.
    ResultRefused {
        /// The message for the model.
        message: String,
    },
    /// The result does not match the output schema.
    Output {
        /// The result.
        output: Value,
        /// What is wrong with it.
        why: String,
    },
    /// Repeated calls of a tool that claims to be idempotent end differently.
    NotIdempotent {
        /// How the second call ended.
        second: String,
        /// How the third call ended.
        third: String,
    },
}

impl Problem {
    /// A problem of the whole tool.
    pub(super) fn of(tool: &str, fault: Fault) -> Self {
        Self {
            tool: tool.to_owned(),
            layer: Layer::Agreement,
            clause: None,
            input: None,
            calls: Vec::new(),
            fault,
        }
    }
}

impl Fault {
    /// Whether further runs are pointless; each may take long.
    pub(super) fn is_final(&self) -> bool {
        matches!(self, Self::TimedOut { .. } | Self::Unjudged { .. })
    }

    /// It is known by what was recorded, and its input need not be kept once more.
    pub(super) fn is_moved(&self) -> bool {
        matches!(self, Self::NowAccepted | Self::NowRefused { .. })
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(clause) = &self.clause {
            write!(f, "`{clause}`: ")?;
        }
        write!(f, "{}", self.fault)?;
        if let Some(input) = &self.input {
            write!(f, "\n  input: {input}")?;
        }
        for (place, call) in self.calls.iter().enumerate() {
            write!(
                f,
                "\n  call {}: {} {}",
                place + 1,
                call.tool,
                call.arguments
            )?;
            f.write_str(if call.same_turn {
                ", in the same turn"
            } else {
                ""
            })?;
        }
        Ok(())
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
            Self::Text { sent } => write!(f, "the dispatcher accepted arguments that it must refuse: {sent}"),
            Self::Schema { schema, predicate, lowering } => {
                let claim = if *lowering == Lowering::Exact { "all" } else { "a part" };
                write!(
                    f,
                    "the predicate {}, and the schema, which claims to express {claim} of it, {} the arguments",
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
                "the predicate returned something else when it was evaluated again; it must depend on the arguments alone",
            ),
            Self::NeverHolds { tried, samples } => write!(
                f,
                "no input was found for which it holds, in {tried}; if there are any, show one with `#[arg(example = ..)]`, or `examples` in the schema; \
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
            Self::TooFewAccepted { tried, accepted, needed, ungiven } if accepted + ungiven >= *needed => write!(
                f,
                "of {tried} inputs of the right types only {accepted} were accepted, and {needed} are needed, because a `#[given]` \
                 found nothing; write a function that gives what it looks for, and name it in `#[verify(setup = ..)]` above the \
                 tool, or in `verify!(.., setup = ..)`"
            ),
            Self::TooFewAccepted { tried, accepted, needed, .. } => write!(
                f,
                "of {tried} inputs of the right types only {accepted} were accepted, and {needed} are needed; \
                 show accepted arguments with `#[arg(example = ..)]`, or `examples` in the schema"
            ),
            Self::NowRefused { message } => write!(
                f,
                "it refuses what was accepted when the boundaries were recorded: {message}; if that is meant, run `{COMMAND}` and commit the file"
            ),
            Self::NowAccepted => write!(
                f,
                "what was refused when the boundaries were recorded is accepted; if that is meant, run `{COMMAND}` and commit the file"
            ),
            Self::Unrecorded { why } => write!(f, "its boundaries could not be recorded: {why}"),
            Self::BodyPanicked { message } => write!(f, "the body panicked: {message}"),
            Self::PromiseBroken { message } => write!(f, "a promise was broken: {message}"),
            Self::TimedOut { milliseconds } => write!(f, "the body did not end within {milliseconds} ms"),
            Self::ResultRefused { message } => write!(f, "the result could not be given to the model: {message}"),
            Self::Output { output, why } => {
                write!(f, "the result {} is not what the output schema promises: {why}", listed(std::slice::from_ref(output)))
            }
            Self::NotIdempotent { second, third } => write!(
                f,
                "it is declared `idempotent`, but the same call again ends differently: {second}, then {third}"
            ),
        }
    }
}
