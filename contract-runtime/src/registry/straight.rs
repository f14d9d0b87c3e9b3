//! The ordinary call of a tool that takes nothing but its arguments, from its scope to its outcome.

use std::sync::{Arc, OnceLock};

use super::body::{self, BodyEnd};
use super::entry::Entry;
use super::inner::{CallPermit, Inner};
use super::outcome;
use crate::contract::scope::{Called, ContractScope, Gate, Inherited, Scope};
use crate::schema::arguments::Examined;
use crate::tool::call::{Call, Request, Running};
use crate::tool::outcome::OutcomeKind;
use crate::tool::{Outcome, Status, ToolCall};

impl Inner {
    /// Runs a sync tool on this thread.
    #[inline]
    pub(super) fn straight(
        &self,
        entry: &Entry,
        call: ToolCall,
        gate: Option<Arc<Gate>>,
        outer: Inherited,
        permit: CallPermit<'_>,
    ) -> Outcome {
        let scope = self.scope(entry, call, gate, outer);
        let examined = OnceLock::new();
        let ran = body::inline(&scope, || begun(entry, &scope, &examined));
        self.ended(entry, scope, ran, examined, permit)
    }

    /// Runs an async tool that nothing interrupts.
    pub(super) async fn straight_later(
        &self,
        entry: &Entry,
        call: ToolCall,
        gate: Option<Arc<Gate>>,
        outer: Inherited,
        permit: CallPermit<'_>,
    ) -> Outcome {
        let scope = self.scope(entry, call, gate, outer);
        let examined = OnceLock::new();
        let ran = match body::later(&scope, || begun(entry, &scope, &examined)) {
            Err(ran) => ran,
            Ok(body) => body.await,
        };
        self.ended(entry, scope, ran, examined, permit)
    }

    #[inline]
    fn scope(
        &self,
        entry: &Entry,
        call: ToolCall,
        gate: Option<Arc<Gate>>,
        outer: Inherited,
    ) -> ContractScope {
        let mut scope = Scope::new(
            Called {
                id: call.id,
                tool: call.name,
                arguments: call.arguments,
                secrets: entry.secrets.clone(),
            },
            entry.policy,
            Some(self.shards.layer()),
            outer.run,
            gate.or(outer.gate),
        );
        scope.depth = outer.depth + 1;
        ContractScope::reusing(scope)
    }

    #[inline]
    fn ended(
        &self,
        entry: &Entry,
        scope: ContractScope,
        ran: BodyEnd,
        examined: OnceLock<Examined>,
        permit: CallPermit<'_>,
    ) -> Outcome {
        let is_clean = examined.get().is_none() && scope.get().is_none_or(Scope::is_clean);
        match ran {
            // A text has at most as many characters as bytes.
            BodyEnd::Replied(Ok(output))
                if is_clean && output.text.len() <= self.limits.output_chars =>
            {
                permit.conclude(Status::Ok);
                let (id, tool) = scope.into_names();
                let end = OutcomeKind::Ok(output);
                Outcome {
                    id,
                    tool,
                    end,
                    notes: None,
                }
            }
            ran => self.unusual(entry, scope, ran, examined, permit),
        }
    }

    #[cold]
    #[inline(never)]
    fn unusual(
        &self,
        entry: &Entry,
        scope: ContractScope,
        ran: BodyEnd,
        examined: OnceLock<Examined>,
        permit: CallPermit<'_>,
    ) -> Outcome {
        let coercions = examined.into_inner().map(|examined| examined.coercions);
        let coercions = coercions.unwrap_or_default();
        let outcome = outcome::conclude(self, entry, scope, ran, None, coercions);
        permit.conclude(outcome.status());
        outcome
    }
}

#[inline]
fn begun<'c>(
    entry: &'c Entry,
    scope: &'c ContractScope,
    examined: &'c OnceLock<Examined>,
) -> Running<'c> {
    let request = Request {
        contract: entry.tool.contract(),
        scope,
        only_check: false,
        text: scope.arguments(),
        inputs: &entry.inputs,
        examined,
        sources: None,
    };
    entry.tool.shim.call(Call::new(request))
}
