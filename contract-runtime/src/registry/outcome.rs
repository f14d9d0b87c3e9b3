//! How a body ended, as an outcome.

use std::borrow::Cow;
use std::time::Duration;

use super::body::Ran;
use super::inner::Inner;
use super::job::At;
use crate::contract::scope::{ContractScope, Scope};
use crate::contract::watch::{self, Watched};
use crate::tool::outcome::{End, Notes};
use crate::tool::reply::{Ended, Output};
use crate::tool::{Coercion, Outcome};

#[inline]
pub(super) fn outcome(
    inner: &Inner,
    scope: ContractScope,
    ran: Ran,
    deadline: Option<At>,
    coercions: Vec<Coercion>,
) -> Outcome {
    let limit = inner.limits.output_chars;
    if let Some(scope) = scope.get() {
        scope.conclude();
    }
    let clean = scope.get().is_none_or(Scope::is_clean) && coercions.is_empty();
    let (end, notes) = match ran {
        Ran::Replied(Ok(output)) if clean => (End::Ok(capped(output, limit)), None),
        ran => noted(&scope, ran, deadline, limit, coercions),
    };
    let (id, tool) = scope.into_names();
    Outcome {
        id,
        tool,
        end,
        notes,
    }
}

#[cold]
fn noted(
    scope: &ContractScope,
    ran: Ran,
    deadline: Option<At>,
    limit: usize,
    coercions: Vec<Coercion>,
) -> (End, Option<Box<Notes>>) {
    let end = match scope.get().and_then(Scope::noted) {
        // What ended the call is the violation, whatever was made of its panic on the way.
        Some(violation) => End::Violation(Box::new(violation)),
        None => ended(ran, deadline, limit),
    };
    let observed = scope.get().map(Scope::observed).unwrap_or_default();
    if let End::Violation(violation) = &end {
        let of_run = scope.get().filter(|scope| scope.of_run);
        if let Some(scope) = of_run {
            scope.end_run();
        }
        watch::tell(of_run, Watched::Ended(violation));
    }
    let any = !(observed.is_empty() && coercions.is_empty());
    let notes = Notes {
        observed,
        coercions,
    };
    (end, any.then(|| Box::new(notes)))
}

fn ended(ran: Ran, deadline: Option<At>, limit: usize) -> End {
    match ran {
        Ran::Replied(Ok(output)) => End::Ok(capped(output, limit)),
        Ran::Replied(Err(Ended::Checked | Ended::Described)) => End::Ok(Output::default()),
        Ran::Replied(Err(Ended::Violation(violation))) => End::Violation(violation),
        Ran::Replied(Err(Ended::Invalid(invalid))) => End::InvalidArguments(invalid),
        Ran::Replied(Err(Ended::Failed(message))) => {
            End::Failed(head_and_tail(Cow::Owned(message), limit).into_owned())
        }
        Ran::Replied(Err(Ended::Said {
            status,
            error,
            may_still_run,
        })) => End::Said {
            status,
            error: head_and_tail(Cow::Owned(error), limit).into_owned(),
            may_still_run,
        },
        Ran::Panicked => End::Panicked,
        Ran::TimedOut { may_still_run } => End::TimedOut {
            after: deadline.map_or(Duration::ZERO, |deadline| deadline.after),
            may_still_run,
        },
        Ran::Cancelled { may_still_run } => End::Cancelled {
            reason: "the call was cancelled",
            may_still_run,
        },
        Ran::Overloaded { limit } => End::Overloaded { limit },
        Ran::Impossible(why) => End::Failed(why.to_owned()),
    }
}

fn capped(mut output: Output, limit: usize) -> Output {
    // A text has at most as many characters as bytes, and most are far below the limit.
    if output.text.len() > limit
        && let Cow::Owned(text) = head_and_tail(Cow::Borrowed(&output.text), limit)
    {
        output.text = text;
        output.is_json = false;
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
    let at = |position| {
        text.char_indices()
            .nth(position)
            .map_or(text.len(), |(index, _)| index)
    };
    let left_out = total - head - tail;
    Cow::Owned(format!(
        "{}\n[{left_out} of {total} characters left out]\n{}",
        &text[..at(head)],
        &text[at(total - tail)..]
    ))
}
