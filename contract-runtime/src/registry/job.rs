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
use crate::contract::scope::{ContractScope, Gate, Inherited, Scope};
use crate::schema::Coercion;
use crate::schema::arguments::Examined;
use crate::tool::call::Request;
use crate::tool::call_input::CallInput;
use crate::tool::context::{CallInfo, Context, Deadline, now};
use crate::tool::context_params::{CallExtensions, Sources};
use crate::tool::dynamic::Runs;
use crate::tool::failure::{FailureKind, Stopped};

/// What a call carries beside its scope while its body runs.
pub(super) struct Job {
    pub(super) context: Context,
    pub(super) deadline: Option<At>,
    own: Option<Box<CallExtensions>>,
    examined: OnceLock<Box<Examined>>,
    only_check: bool,
}

impl Job {
    #[inline]
    pub(super) fn new(
        entry: &Entry,
        call: &CallInput<'_>,
        context: Context,
        only_check: bool,
    ) -> Self {
        let deadline = earlier(context.deadline(), entry.timeout);
        let own = (!entry.needs.is_empty()).then(|| Box::new(own(call, &context, deadline)));
        Self {
            context,
            deadline,
            own,
            examined: OnceLock::new(),
            only_check,
        }
    }

    /// What the generated code is given.
    #[inline]
    pub(super) fn request<'c>(
        &'c self,
        inner: &'c Inner,
        entry: &'c Entry,
        arguments: &'c str,
    ) -> Request<'c> {
        Request {
            contract: entry.tool.contract(),
            only_check: self.only_check,
            text: arguments,
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

    /// A guard that tells a body that looks at its token when nobody waits for it any more.
    pub(super) fn cancel_guard(&self) -> Option<tokio_util::sync::DropGuard> {
        self.own
            .as_ref()
            .map(|own| own.cancellation.clone().drop_guard())
    }

    /// What was put right among the arguments of a job that is done.
    #[inline]
    pub(super) fn conclude(self) -> Vec<Coercion> {
        let Self {
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
        examined
            .into_inner()
            .map_or_else(Vec::new, |examined| examined.coercions)
    }
}

impl Inner {
    /// The scope of a call.
    #[inline]
    pub(super) fn scope(
        &self,
        index: usize,
        call: &CallInput<'_>,
        context: &Context,
        mode: Mode,
        outer: Option<Inherited>,
    ) -> ContractScope {
        let entry = &self.entries[index];
        let policy = mode.policy().or(entry.policy);
        let is_bare = outer.is_none()
            && context.is_empty()
            && entry.secrets.is_empty()
            && mode.gate.is_none()
            && mode.asking.is_none()
            && entry.tool.runs != Runs::Blocking;
        let mut scope = ContractScope::fresh();
        if let Some(scope) = scope.filled() {
            scope.call_id.push_str(&call.id);
            scope.name(&entry.tool.name);
            // A violation shows what was sent, and secrets are looked for in it.
            scope.arguments.push_str(&call.arguments);
            scope.take_up(policy, self.shards.layer());
            if !is_bare {
                let outer = outer.unwrap_or_default();
                self.inherit(scope, index, context, mode, outer);
            }
        }
        scope
    }

    /// Gives a scope what a call has from its caller, its context and the calls around it.
    #[inline(never)]
    fn inherit(
        &self,
        scope: &mut Scope,
        index: usize,
        context: &Context,
        mode: Mode,
        outer: Inherited,
    ) {
        let entry = &self.entries[index];
        let run = context.run_layer();
        scope.of_run = run.is_some();
        let history = if scope.of_run {
            context.history().cloned()
        } else {
            outer.place.and_then(|outer| outer.inherited())
        };
        scope.place = history.map(|history| {
            let tool = (entry.tool.name(), entry.tool.function);
            let asker = self.asker(index);
            Arc::new(CallPlace::new(history, tool, scope.of_run, asker))
        });
        scope.secrets = entry.secrets.clone();
        let outer = Inherited {
            run: run.or(outer.run),
            gate: mode.gate.clone().or(outer.gate),
            depth: outer.depth,
            caller: context.caller().or(outer.caller),
            place: None,
        };
        scope.inherit(mode.policy().or(entry.policy), outer);
        scope.asking = mode.asking;
    }
}

#[cold]
fn own(call: &CallInput<'_>, context: &Context, deadline: Option<At>) -> CallExtensions {
    CallExtensions {
        info: CallInfo {
            id: call.id.to_string(),
            tool: call.name.to_string(),
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

impl At {
    pub(super) fn timed_out(self, stopped: Stopped) -> FailureKind {
        let after = self.after;
        FailureKind::TimedOut { after, stopped }
    }
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
