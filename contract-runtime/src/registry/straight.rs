//! The ordinary call of a tool that takes nothing but its arguments, from its scope to how it ended.

#![allow(
    clippy::inline_always,
    reason = "each is entered once in a call, and to enter and leave it cost as much as what it does"
)]

use std::sync::{Arc, OnceLock};

use super::body::{self, BodyEnd};
use super::dispatch::is_traced;
use super::entry::Entry;
use super::inner::{CallPermit, Inner};
use super::outcome::{self, Ending};
use crate::contract::scope::{ContractScope, Gate, Scope};
use crate::schema::arguments::Examined;
use crate::tool::call::{Call, Request};
use crate::tool::dynamic::Runs;
use crate::tool::outcome::OutcomeKind;
use crate::tool::reply::Output;
use crate::tool::{Effect, Outcome, Status, ToolCallRef};

/// The result of a call of which nothing more is to be said, or how it ended and what is to be said of it.
pub(super) type Ended = Result<Output, Box<Ending>>;

/// A call that was let in and that nothing interrupts.
pub(super) struct Admitted<'r> {
    entry: &'r Entry,
    permit: CallPermit<'r>,
    /// The gate that it stands behind itself.
    pub(super) gate: Option<Arc<Gate>>,
}

impl Admitted<'_> {
    /// The effect of a call that has a result.
    #[inline]
    pub(super) fn effect(&self) -> Effect {
        if self.entry.read_only {
            Effect::None
        } else {
            Effect::Complete
        }
    }

    /// The body is done at its first poll.
    #[inline]
    pub(super) fn runs_here(&self) -> bool {
        self.entry.tool.runs == Runs::Here
    }
}

impl Inner {
    /// Lets a call in that nothing stands in the way of.
    #[inline(always)]
    pub(super) fn start_plain(&self, call: &ToolCallRef<'_>) -> Option<Admitted<'_>> {
        if is_traced() || self.before.is_some() || self.renames {
            return None;
        }
        let index = self.position(call.name)?;
        self.admit_straight(index, call.arguments.len())
    }

    /// Lets a call in that brings nothing but arguments of this many bytes; nothing, where more must be looked at.
    #[inline(always)]
    pub(super) fn admit_straight(&self, index: usize, length: usize) -> Option<Admitted<'_>> {
        let entry = self.entries.get(index)?;
        if !entry.is_straight || length > self.limits.argument_bytes {
            return None;
        }
        if !ContractScope::is_free(self.limits.depth) {
            return None;
        }
        let permit = CallPermit::take(self)?;
        Some(Admitted {
            entry,
            permit,
            gate: None,
        })
    }

    /// Runs a sync tool on this thread.
    #[inline(always)]
    pub(super) fn straight(&self, admitted: Admitted<'_>, call: &ToolCallRef<'_>) -> Ended {
        let entry = admitted.entry;
        let mut scope = self.scope(entry, call, admitted.gate);
        let examined = OnceLock::new();
        let request = request(entry, call, &examined);
        let ran = body::inline(&mut scope, || entry.tool.shim.call(Call::new(&request)));
        self.ended(entry, scope, ran, examined.into_inner(), admitted.permit)
    }

    /// Runs an async tool.
    pub(super) async fn straight_later(
        &self,
        admitted: Admitted<'_>,
        call: &ToolCallRef<'_>,
    ) -> Ended {
        let Admitted {
            entry,
            permit,
            gate,
        } = admitted;
        let mut scope = self.scope(entry, call, gate);
        let examined = OnceLock::new();
        let request = request(entry, call, &examined);
        let ran = match body::later(&mut scope, || entry.tool.shim.call(Call::new(&request))) {
            Err(ran) => ran,
            Ok(body) => body.await,
        };
        self.ended(entry, scope, ran, examined.into_inner(), permit)
    }

    #[inline(always)]
    fn scope(
        &self,
        entry: &Entry,
        call: &ToolCallRef<'_>,
        gate: Option<Arc<Gate>>,
    ) -> ContractScope {
        let is_bare = gate.is_none() && entry.secrets.is_empty() && ContractScope::is_outermost();
        let mut scope = ContractScope::fresh();
        if let Some(scope) = scope.filled() {
            scope.call_id.push_str(call.id);
            scope.name(&entry.tool.name);
            // A violation shows what was sent, and secrets are looked for in it.
            scope.arguments.push_str(call.arguments);
            scope.take_up(entry.policy, self.shards.layer());
            if !is_bare {
                inherit(scope, entry, gate);
            }
        }
        scope
    }

    #[inline(always)]
    fn ended(
        &self,
        entry: &Entry,
        scope: ContractScope,
        ran: BodyEnd,
        examined: Option<Box<Examined>>,
        permit: CallPermit<'_>,
    ) -> Ended {
        let is_clean = examined.is_none() && scope.get().is_none_or(Scope::is_clean);
        match ran {
            // A text has at most as many characters as bytes.
            BodyEnd::Replied(Ok(output))
                if is_clean && output.text.len() <= self.limits.output_chars =>
            {
                permit.conclude(Status::Ok);
                scope.release();
                Ok(output)
            }
            ran => Err(self.unusual(entry, scope, ran, examined, permit)),
        }
    }

    #[allow(
        clippy::unnecessary_box_returns,
        reason = "the ordinary end of a call moves none of it"
    )]
    #[cold]
    #[inline(never)]
    fn unusual(
        &self,
        entry: &Entry,
        scope: ContractScope,
        ran: BodyEnd,
        examined: Option<Box<Examined>>,
        permit: CallPermit<'_>,
    ) -> Box<Ending> {
        let coercions = examined.map(|examined| examined.coercions);
        let coercions = coercions.unwrap_or_default();
        let ending = outcome::conclude(self, entry, &scope, ran, None, coercions);
        permit.conclude(ending.end.status());
        scope.release();
        Box::new(ending)
    }
}

/// Gives a scope what more a call has than its names: secrets, a gate, a call around it.
#[cold]
#[inline(never)]
fn inherit(scope: &mut Scope, entry: &Entry, gate: Option<Arc<Gate>>) {
    scope.secrets = entry.secrets.clone();
    let mut outer = ContractScope::inherited().unwrap_or_default();
    outer.gate = gate.or(outer.gate);
    scope.inherit(entry.policy, outer);
}

/// The outcome of a call that is over, given the effect of one that has a result.
#[inline(always)]
pub(super) fn outcome_of(ended: Ended, effect: Effect, id: String, tool: String) -> Outcome {
    match ended {
        Ok(output) => Outcome {
            id,
            tool,
            end: OutcomeKind::Ok(output),
            effect,
            notes: None,
        },
        Err(ending) => ending.of(id, tool),
    }
}

/// The text of a result, or what stands in its place.
#[inline(always)]
pub(super) fn text(ended: Ended, call: &ToolCallRef<'_>) -> Result<String, Outcome> {
    match ended {
        Ok(output) => Ok(output.text),
        Err(ending) => text_of(ending.of(call.id.to_owned(), call.name.to_owned())),
    }
}

#[cold]
#[inline(never)]
pub(super) fn text_of(outcome: Outcome) -> Result<String, Outcome> {
    match outcome.end {
        OutcomeKind::Ok(output) => Ok(output.text),
        OutcomeKind::Failure(_) => Err(outcome),
    }
}

#[inline]
fn request<'c>(
    entry: &'c Entry,
    call: &ToolCallRef<'c>,
    examined: &'c OnceLock<Box<Examined>>,
) -> Request<'c> {
    Request {
        contract: entry.tool.contract(),
        only_check: false,
        text: call.arguments,
        inputs: &entry.inputs,
        coerce: entry.inputs.coerce,
        examined,
        sources: None,
    }
}
