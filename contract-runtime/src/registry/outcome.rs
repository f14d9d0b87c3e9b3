//! Turns the end of a body into an outcome.

use std::borrow::Cow;
use std::time::Duration;

use super::body::BodyEnd;
use super::entry::Entry;
use super::inner::Inner;
use super::job::At;
use crate::contract::approval::ApprovalRequest;
use crate::contract::history::CallEnd;
use crate::contract::observer::{self, CheckEvent};
use crate::contract::scope::{ContractScope, Phase, Scope};
use crate::schema::Coercion;
use crate::tool::call_input::CallInput;
use crate::tool::context::OutcomeObserver;
use crate::tool::failure::FailureKind;
use crate::tool::outcome::{Notes, OutcomeKind, OutputKind};
use crate::tool::reply::{NoOutput, Output};
use crate::tool::{Effect, Outcome};

/// How a call ended, without its names.
pub struct Ending {
    pub(super) end: OutcomeKind,
    pub(super) effect: Effect,
    pub(super) notes: Option<Box<Notes>>,
}

impl Ending {
    /// Of a call that has not begun.
    #[cold]
    pub(super) fn before_body(kind: FailureKind) -> Self {
        Self {
            effect: kind.effect(Phase::BeforeBody),
            end: kind.into(),
            notes: None,
        }
    }

    /// Tells an observer of the outcome.
    pub(super) fn told(self, call: &CallInput<'_>, tell: OutcomeObserver) -> Self {
        let outcome = self.of(call.id.to_string(), call.name.to_string());
        tell(&outcome);
        let Outcome {
            end, effect, notes, ..
        } = outcome;
        Self { end, effect, notes }
    }

    #[inline]
    pub(super) fn of(self, id: String, tool: String) -> Outcome {
        let Self { end, effect, notes } = self;
        Outcome {
            id,
            tool,
            end,
            effect,
            notes,
        }
    }
}

#[inline]
pub(super) fn conclude(
    inner: &Inner,
    entry: &Entry,
    scope: &ContractScope,
    ran: BodyEnd,
    deadline: Option<At>,
    coercions: Vec<Coercion>,
) -> Ending {
    let limit = inner.limits.output_chars;
    let place = scope.get().and_then(|scope| {
        scope.conclude();
        scope.place.as_deref()
    });
    let clean = scope.get().is_none_or(Scope::is_clean) && coercions.is_empty();
    let phase = match &ran {
        BodyEnd::Impossible(_) | BodyEnd::Replied(Err(NoOutput::Checked)) => Phase::BeforeBody,
        _ => scope.phase(),
    };
    let (end, notes) = match ran {
        BodyEnd::Replied(Ok(output)) if clean => (OutcomeKind::Ok(capped(output, limit)), None),
        ran => recorded(entry, scope, ran, deadline, limit, coercions),
    };
    let effect = match &end {
        OutcomeKind::Ok(_) if phase == Phase::BeforeBody => Effect::None,
        OutcomeKind::Ok(_) => Effect::Complete,
        OutcomeKind::Failure(failure) => failure.kind.effect(phase),
    };
    if let Some(place) = place {
        place.end(match (&end, effect) {
            (_, Effect::None) => CallEnd::Refused,
            (OutcomeKind::Ok(_), _) => CallEnd::Succeeded,
            (OutcomeKind::Failure(_), _) => CallEnd::MayHaveRun,
        });
    }
    // The history counts bodies that were entered, also those of tools that have no effect.
    let effect = if entry.read_only {
        Effect::None
    } else {
        effect
    };
    Ending { end, effect, notes }
}

#[cold]
fn recorded(
    entry: &Entry,
    scope: &ContractScope,
    ran: BodyEnd,
    deadline: Option<At>,
    limit: usize,
    coercions: Vec<Coercion>,
) -> (OutcomeKind, Option<Box<Notes>>) {
    let mut end = match scope.get().and_then(Scope::recorded) {
        // What ended the call is the violation, whatever was made of its panic on the way.
        Some(violation) => Err(FailureKind::Violation(Box::new(violation))),
        None => ended(ran, deadline, limit),
    };
    match &mut end {
        Err(FailureKind::InvalidArguments(invalid)) => entry.name_bounds(invalid),
        Err(FailureKind::Violation(violation)) => entry.name_demand(violation),
        _ => {}
    }
    let observed = scope.get().map(Scope::observed).unwrap_or_default();
    if let Err(FailureKind::Violation(violation)) = &end {
        let of_run = scope.get().filter(|scope| scope.of_run);
        if let Some(scope) = of_run {
            scope.end_run();
        }
        observer::tell(of_run, CheckEvent::Ended(violation));
    }
    let any = !(observed.is_empty() && coercions.is_empty());
    let notes = Notes {
        observed,
        coercions,
    };
    let end = end.map_or_else(OutcomeKind::from, OutcomeKind::Ok);
    (end, any.then(|| Box::new(notes)))
}

fn ended(ran: BodyEnd, deadline: Option<At>, limit: usize) -> Result<Output, FailureKind> {
    Err(match ran {
        BodyEnd::Replied(Ok(output)) => return Ok(capped(output, limit)),
        BodyEnd::Replied(Err(NoOutput::Checked | NoOutput::Described)) => {
            return Ok(Output::default());
        }
        BodyEnd::Replied(Err(NoOutput::Violation(violation))) => FailureKind::Violation(violation),
        BodyEnd::Replied(Err(NoOutput::Invalid(invalid))) => FailureKind::InvalidArguments(invalid),
        BodyEnd::Replied(Err(NoOutput::Failed(message))) => {
            FailureKind::Failed(head_and_tail(Cow::Owned(message), limit).into_owned())
        }
        BodyEnd::Replied(Err(NoOutput::Unwritable(why))) => FailureKind::Unwritable(why),
        BodyEnd::Replied(Err(NoOutput::Reported {
            status,
            error,
            effect,
            may_still_run,
        })) => FailureKind::Reported {
            status,
            error: head_and_tail(Cow::Owned(error), limit).into_owned(),
            effect,
            may_still_run,
        },
        BodyEnd::Replied(Err(NoOutput::Asked(questions))) => {
            FailureKind::Asked(Box::new(ApprovalRequest::about(questions)))
        }
        BodyEnd::Panicked => FailureKind::Panicked,
        BodyEnd::TimedOut(stopped) => FailureKind::TimedOut {
            after: deadline.map_or(Duration::ZERO, |deadline| deadline.after),
            stopped,
        },
        BodyEnd::Cancelled(stopped) => FailureKind::Cancelled {
            reason: "the call was cancelled",
            stopped,
        },
        BodyEnd::Overloaded { limit } => FailureKind::Overloaded { limit },
        BodyEnd::Impossible(why) => FailureKind::Failed(why.to_owned()),
    })
}

fn capped(mut output: Output, limit: usize) -> Output {
    // A text has at most as many characters as bytes, and most are far below the limit.
    if output.text.len() > limit
        && let Cow::Owned(text) = head_and_tail(Cow::Borrowed(&output.text), limit)
    {
        output.text = text;
        output.kind = OutputKind::Text;
    }
    output
}

/// Keeps the head and the tail of a text that is too long, whole characters only.
fn head_and_tail(text: Cow<'_, str>, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return text;
    }
    let total = text.chars().count();
    if total <= limit {
        return text;
    }
    let head = limit - limit / 2;
    let tail = limit / 2;
    let mut places = text.char_indices().map(|(place, _)| place);
    let behind_head = places.nth(head).unwrap_or(text.len());
    // From the end, so that what is left out is only counted.
    let before_tail = tail.checked_sub(1).and_then(|last| places.nth_back(last));
    let left_out = total - head - tail;
    Cow::Owned(format!(
        "{}\n[{left_out} of {total} characters left out]\n{}",
        &text[..behind_head],
        &text[before_tail.unwrap_or(text.len())..]
    ))
}
