//! What the end of a call says of its effect, for the history of its run.

use crate::contract::history::{CallEnd, CallPlace};
use crate::contract::violation::Blame;
use crate::contract::{ConditionKind, Violation};
use crate::tool::Status;
use crate::tool::failure::{FailureKind, Stopped};
use crate::tool::outcome::OutcomeKind;

pub(super) fn record(place: &CallPlace, end: &OutcomeKind) {
    let end = match (end, place.has_entered()) {
        (OutcomeKind::Ok(_), true) => CallEnd::Succeeded,
        (OutcomeKind::Failure(failure), entered) if may_have_run(&failure.kind, entered) => {
            CallEnd::MayHaveRun
        }
        _ => CallEnd::Refused,
    };
    place.end(end);
}

/// Whether the body of a call that did not succeed may have had an effect.
fn may_have_run(end: &FailureKind, entered: bool) -> bool {
    match end {
        // A thread may still get to the body.
        FailureKind::TimedOut { stopped, .. } | FailureKind::Cancelled { stopped, .. } => {
            entered || *stopped == Stopped::MayStillRun
        }
        FailureKind::Reported {
            status,
            may_still_run,
            ..
        } => *may_still_run || (entered && !is_refusal(*status)),
        // Of a tool that is elsewhere: it was refused there.
        FailureKind::InvalidArguments(_) => false,
        FailureKind::Violation(violation) => entered && !is_own_precondition(violation),
        _ => entered,
    }
}

fn is_own_precondition(violation: &Violation) -> bool {
    let before = matches!(violation.kind, ConditionKind::Pre | ConditionKind::Given);
    before && violation.blame == Blame::Model
}

/// Whether a call that ended elsewhere with this status did not begin there.
fn is_refusal(status: Status) -> bool {
    matches!(
        status,
        Status::InvalidArguments
            | Status::UnknownTool
            | Status::Asked
            | Status::Denied
            | Status::Overloaded
    )
}
