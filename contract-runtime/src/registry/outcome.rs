//! Turns the end of a body into an outcome.

use std::borrow::Cow;
use std::mem::take;

use super::entry::Entry;
use super::inner::Inner;
use crate::contract::history::CallEnd;
use crate::contract::observer::{self, CheckEvent};
use crate::contract::scope::{ContractScope, Phase, Scope};
use crate::schema::arguments::Examined;
use crate::tool::call_input::CallInput;
use crate::tool::failure::{FailureKind, Stopped};
use crate::tool::observe::ObservedCall;
use crate::tool::outcome::{Notes, OutcomeKind, OutputKind};
use crate::tool::reply::{Output, Reply};
use crate::tool::{Effect, Outcome};

/// How a call ended, without its names.
pub struct Ending {
    pub(super) end: OutcomeKind,
    pub(super) effect: Effect,
    pub(super) notes: Option<Box<Notes>>,
}

impl Ending {
    /// Creates the end of a call that has not begun.
    #[cold]
    pub(super) fn before_body(kind: FailureKind) -> Self {
        Self {
            effect: kind.effect(Phase::BeforeBody),
            end: kind.into(),
            notes: None,
        }
    }

    /// Tells the observers of a call of its end.
    pub(super) fn told(self, call: &CallInput<'_>, observed: ObservedCall) -> Self {
        let outcome = self.of(call.id.to_string(), call.name.to_string());
        observed.end(&outcome);
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
    ran: Reply,
    examined: Option<Box<Examined>>,
) -> Ending {
    let limit = inner.limits.output_chars;
    let place = scope.get().and_then(|scope| {
        scope.conclude();
        scope.place.as_deref()
    });
    let clean = scope.get().is_none_or(Scope::is_clean) && examined.is_none();
    let phase = match &ran {
        Err(FailureKind::Checked) => Phase::BeforeBody,
        _ => scope.phase(),
    };
    let (end, notes) = match ran {
        Ok(mut output) if clean => {
            cap(&mut output, limit);
            (OutcomeKind::Ok(output), None)
        }
        ran => recorded(entry, scope, ran, limit, examined),
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
    ran: Reply,
    limit: usize,
    examined: Option<Box<Examined>>,
) -> (OutcomeKind, Option<Box<Notes>>) {
    let mut end = match (scope.get().and_then(Scope::recorded), ran) {
        // A recorded violation ended the call, even if code between caught its panic and returned something else.
        (Some(violation), _) => Err(FailureKind::Violation(Box::new(violation))),
        (None, Ok(mut output)) => {
            cap(&mut output, limit);
            Ok(output)
        }
        (None, Err(FailureKind::Checked)) => Ok(Output::default()),
        (None, Err(kind)) => Err(kind),
    };
    match &mut end {
        Err(FailureKind::InvalidArguments(invalid)) => entry.name_bounds(invalid),
        Err(FailureKind::Violation(violation)) => entry.name_demand(violation),
        Err(FailureKind::Failed(error) | FailureKind::Reported { error, .. }) => {
            *error = head_and_tail(Cow::Owned(take(error)), limit).into_owned();
        }
        // The call was given up before its body, while a given or a question was awaited.
        Err(FailureKind::TimedOut { stopped, .. } | FailureKind::Cancelled { stopped, .. })
            if *stopped == Stopped::CutOff && scope.phase() == Phase::BeforeBody =>
        {
            *stopped = Stopped::BeforeBody;
        }
        _ => {}
    }
    let observed = scope.get().map(Scope::observed).unwrap_or_default();
    if let Err(FailureKind::Violation(violation)) = &end {
        let of_run = scope.get().filter(|scope| scope.of_run);
        if let Some(scope) = of_run {
            scope.end_run();
        }
        observer::tell(of_run, &CheckEvent::Ended(violation));
    }
    let coercions = examined.map_or_else(Vec::new, |examined| examined.coercions);
    let any = !(observed.is_empty() && coercions.is_empty());
    let notes = Notes {
        observed,
        coercions,
    };
    let end = end.map_or_else(OutcomeKind::from, OutcomeKind::Ok);
    (end, any.then(|| Box::new(notes)))
}

fn cap(output: &mut Output, limit: usize) {
    // A text has at most as many characters as bytes. Most are far below the limit.
    if output.text.len() > limit
        && let Cow::Owned(text) = head_and_tail(Cow::Borrowed(&output.text), limit)
    {
        output.text = text;
        output.kind = OutputKind::Text;
    }
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
