//! One call between admission and outcome.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use tokio_util::sync::CancellationToken;

use super::entry::Entry;
use super::inner::Inner;
use crate::contract::approval::Asking;
use crate::contract::history::CallPlace;
use crate::contract::panics::discard;
use crate::contract::policy::Resolved;
use crate::contract::policy::{Policy, PolicyOrigin};
use crate::contract::scope::{ContractScope, Gate, Inherited};
use crate::schema::Coercion;
use crate::schema::arguments::Examined;
use crate::tool::ToolCall;
use crate::tool::call::{Call, Request, Running};
use crate::tool::context::{CallInfo, Context, Deadline, now};
use crate::tool::context_params::{CallExtensions, Sources};

/// What a call carries while its body runs.
pub(super) struct Job {
    pub(super) index: usize,
    pub(super) scope: ContractScope,
    pub(super) context: Context,
    pub(super) deadline: Option<At>,
    own: Option<Box<CallExtensions>>,
    examined: OnceLock<Box<Examined>>,
    only_check: bool,
}

impl Job {
    #[inline]
    pub(super) fn new(
        inner: &Inner,
        index: usize,
        call: ToolCall,
        context: Context,
        mode: Mode,
        outer: Inherited,
    ) -> Self {
        let entry = &inner.entries[index];
        let deadline = earlier(context.deadline(), entry.timeout);
        let own = (!entry.needs.is_empty()).then(|| Box::new(own(&call, &context, deadline)));
        let own_run = context.run_layer();
        let of_run = own_run.is_some();
        let history = if of_run {
            context.history().cloned()
        } else {
            outer.place.and_then(|outer| outer.inherited())
        };
        let place = history.map(|history| {
            let tool = (call.name.as_str(), entry.tool.function);
            Arc::new(CallPlace::new(history, tool, of_run, inner.asker(index)))
        });
        let policy = mode.policy().or(entry.policy);
        let mut scope = ContractScope::fresh();
        if let Some(scope) = scope.filled() {
            scope.call_id = call.id;
            scope.tool = call.name.into();
            scope.arguments = call.arguments;
            scope.secrets = entry.secrets.clone();
            scope.take_up(policy, inner.shards.layer());
            let outer = Inherited {
                run: own_run.or(outer.run),
                gate: mode.gate.or(outer.gate),
                depth: outer.depth,
                caller: context.caller().or(outer.caller),
                place: None,
            };
            scope.inherit(policy, outer);
            scope.of_run = of_run;
            scope.asking = mode.asking;
            scope.place = place;
        }
        Self {
            index,
            scope,
            context,
            deadline,
            own,
            examined: OnceLock::new(),
            only_check: mode.only_check,
        }
    }

    /// What the generated code is given.
    pub(super) fn request<'c>(&'c self, inner: &'c Inner) -> Request<'c> {
        let entry: &Entry = &inner.entries[self.index];
        Request {
            contract: entry.tool.contract(),
            only_check: self.only_check,
            text: self.scope.arguments(),
            inputs: &entry.inputs,
            coerce: entry.inputs.coerce || self.context.coerces(),
            examined: &self.examined,
            sources: self.own.as_deref().map(|own| Sources {
                context: &self.context,
                shared: &inner.shared,
                own,
            }),
        }
    }

    /// Starts the generated code.
    pub(super) fn call<'c>(&self, inner: &'c Inner, request: &'c Request<'_>) -> Running<'c> {
        inner.entries[self.index].tool.shim.call(Call::new(request))
    }

    /// A guard that tells a body that looks at its token when nobody waits for it any more.
    pub(super) fn cancel_guard(&self) -> Option<tokio_util::sync::DropGuard> {
        self.own
            .as_ref()
            .map(|own| own.cancellation.clone().drop_guard())
    }

    /// What is left of a job when it is done.
    #[inline]
    pub(super) fn conclude(self) -> (ContractScope, Vec<Coercion>) {
        let Self {
            scope,
            context,
            own,
            examined,
            ..
        } = self;
        drop(own);
        if !context.is_empty() {
            // It may hold the caller's last handle of a value whose destructor panics.
            discard(context);
        }
        let coercions = examined
            .into_inner()
            .map_or_else(Vec::new, |examined| examined.coercions);
        (scope, coercions)
    }
}

#[cold]
fn own(call: &ToolCall, context: &Context, deadline: Option<At>) -> CallExtensions {
    CallExtensions {
        info: CallInfo {
            id: call.id.clone(),
            tool: call.name.clone(),
        },
        cancellation: match context.token() {
            Some(token) => token.child_token(),
            None => CancellationToken::new(),
        },
        deadline: Deadline(deadline.map(|deadline| deadline.at)),
        progress: context.reports(),
        log: context.logs(&call.id, &call.name),
    }
}

/// How a call stands behind the gate of its registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum GateUse {
    /// Not at all, or its batch sees to it.
    #[default]
    None,
    Shared,
    Exclusive,
}

/// How far a call goes, and behind which gate it already is.
#[derive(Clone, Debug, Default)]
pub(super) struct Mode {
    pub(super) only_check: bool,
    pub(super) gate: Option<Arc<Gate>>,
    /// Instead of every setting of authors and operators.
    pub(super) policy: Option<Policy>,
    /// What the call may ask; nothing of a trial, which nobody answers.
    pub(super) asking: Option<Arc<Asking>>,
    /// How the call stands behind the gate of its registry while it runs, and not while somebody is asked.
    pub(super) gate_use: GateUse,
}

impl Mode {
    /// A call that somebody makes, rather than a check or a trial.
    pub(super) fn is_a_call(&self) -> bool {
        !self.only_check && self.policy().is_none()
    }

    /// A call that somebody makes, and that asks nothing.
    #[inline]
    pub(super) fn is_plain(&self) -> bool {
        self.is_a_call() && self.asking.is_none()
    }

    fn policy(&self) -> Option<Resolved> {
        let origin = PolicyOrigin::Override;
        self.policy.map(|policy| Resolved { policy, origin })
    }
}

/// A moment, and how long after the beginning of the call it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct At {
    pub(super) at: Instant,
    pub(super) after: Duration,
}

fn earlier(context: Option<Instant>, timeout: Option<Duration>) -> Option<At> {
    if context.is_none() && timeout.is_none() {
        return None;
    }
    let now = now();
    let own = timeout.and_then(|timeout| now.checked_add(timeout));
    let at = match (context, own) {
        (Some(one), Some(other)) => one.min(other),
        (one, other) => one.or(other)?,
    };
    Some(At {
        at,
        after: at.saturating_duration_since(now),
    })
}
