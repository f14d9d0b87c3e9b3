//! Observers of conditions, violations and questions.

use std::sync::{Arc, RwLock};

use serde::{Deserialize, Serialize};

use super::approval::{ApprovalRequest, Decided, Decision};
use super::condition::{Condition, ConditionKind};
use super::panics::{guard, ignore_poison};
use super::policy;
use super::scope::{ContractScope, Scope};
use super::violation::Violation;

/// An observer of what happens inside of calls; changes no decision.
#[derive(Clone)]
pub(crate) struct Watcher {
    /// Whether it is told of each condition that is evaluated, and not only of violations.
    pub(crate) of_conditions: bool,
    pub(crate) tell: Arc<dyn Fn(CheckEvent<'_>) + Send + Sync>,
}

/// The observers of a scope.
#[derive(Clone, Default)]
pub(crate) struct Observers {
    /// The observers of the context and the run.
    pub(crate) own: Vec<Watcher>,
    pub(crate) audience: Audience,
}

/// Which observers are told of what happens in a scope.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Audience {
    /// Those of the context, the run, the registry and the process.
    #[default]
    All,
    /// Those of the context and the run, because the call is only tried.
    Own,
    /// None, because an observer is running.
    None,
}

/// What an observer of [`events`](crate::observe::Observer::events) is told.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CheckEvent<'a> {
    /// A condition is about to be evaluated.
    Check(Check),
    /// A condition does not hold. Under [`Policy::QuickEnforce`](crate::Policy::QuickEnforce) there is only the end of the call.
    Violation(&'a Violation),
    /// A call of the run is about to enter its body. Calls that a body makes are not reported.
    Entered {
        /// The caller's id of the call.
        call_id: &'a str,
        /// The name by which the tool was called.
        tool: &'a str,
        /// The arguments as they were sent.
        arguments: &'a str,
    },
    /// A violation ended a call of the run, whatever the body made of it.
    Ended(&'a Violation),
    /// A violation ended something that a call of the run had left behind, such as a task, after the call was over.
    Late(&'a Violation),
    /// A call waits for the decision of an approver, which is not asked before the observers were told.
    Asked(&'a ApprovalRequest),
    /// A call waits no longer.
    Answered {
        /// What was asked.
        request: &'a ApprovalRequest,
        /// What was decided; `None` when the caller gave up before.
        decision: Option<&'a Decision>,
        /// Who decided, if the approver says so.
        by: Option<&'a str>,
    },
}

/// A condition that is about to be evaluated.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Check {
    /// The id of the condition: function, kind and position, such as `divide.pre[0]`; or the name of an agent's hook.
    pub contract: String,
    /// What the condition applies to.
    pub kind: ConditionKind,
    /// The predicate as the author typed it; empty for a hook, which has a name instead.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub predicate: String,
    /// The id of the call by name in which it happens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

impl Check {
    /// Creates the report of a condition that is judged outside of any call, such as one of a whole run.
    #[must_use]
    pub fn new(
        contract: impl Into<String>,
        kind: ConditionKind,
        predicate: impl Into<String>,
    ) -> Self {
        Self {
            contract: contract.into(),
            kind,
            predicate: predicate.into(),
            call_id: None,
        }
    }
}

impl Scope {
    fn watchers(&self) -> impl Iterator<Item = &Watcher> {
        let own = (self.observers.audience != Audience::None).then_some(&self.observers.own);
        let layer = self.registry.as_deref();
        let registry = layer.filter(|_| self.observers.audience == Audience::All);
        let registry = registry.map(|layer| &layer.watchers);
        own.into_iter().chain(registry).flatten()
    }
}

fn is_told_to_the_process(scope: Option<&Scope>) -> bool {
    scope.is_none_or(|scope| scope.observers.audience == Audience::All)
}

/// Returns whether an observer is told of each condition.
pub(crate) fn is_watched(scope: Option<&Scope>) -> bool {
    let of_conditions = |scope: &Scope| scope.watchers().any(|watcher| watcher.of_conditions);
    policy::is_watched() && is_told_to_the_process(scope) || scope.is_some_and(of_conditions)
}

static PROCESS: RwLock<Vec<Watcher>> = RwLock::new(Vec::new());

pub(crate) fn set_process_watchers(watchers: Vec<Watcher>) {
    policy::set_watched(watchers.iter().any(|watcher| watcher.of_conditions));
    // Dropped after the lock is free: the destructor of what a closure holds is not ours.
    let _old = std::mem::replace(&mut *ignore_poison(PROCESS.write()), watchers);
}

/// Tells the observers of a scope.
#[cold]
pub(crate) fn tell(scope: Option<&Scope>, event: &CheckEvent<'_>) {
    let own = scope.into_iter().flat_map(Scope::watchers);
    let mut watchers: Vec<Watcher> = own.cloned().collect();
    if is_told_to_the_process(scope) {
        watchers.extend_from_slice(&ignore_poison(PROCESS.read()));
    }
    if !watchers.is_empty() {
        aside(scope, || {
            for watcher in &watchers {
                let _ = guard(|| (watcher.tell)(event.clone()));
            }
        });
    }
}

/// Runs observers in a scope of their own: what they break is not broken by the call, and no observer is told of it.
pub(crate) fn aside(scope: Option<&Scope>, observers: impl FnOnce()) {
    let mut aside = Scope::aside(scope);
    aside.observers.audience = Audience::None;
    ContractScope::new(aside).enter(observers);
}

/// Tells observers that a person is asked, and when it is dropped that the question is no longer open.
pub(crate) struct Questioning<'r> {
    scope: Scope,
    request: &'r ApprovalRequest,
    decision: Option<Decided>,
}

impl<'r> Questioning<'r> {
    pub(crate) fn begin(scope: Scope, request: &'r ApprovalRequest) -> Self {
        tell(Some(&scope), &CheckEvent::Asked(request));
        Self {
            scope,
            request,
            decision: None,
        }
    }

    pub(crate) fn decided(&mut self, decision: &Decided) {
        self.decision = Some(decision.clone());
    }
}

impl Drop for Questioning<'_> {
    fn drop(&mut self) {
        let decided = self.decision.as_ref();
        let event = CheckEvent::Answered {
            request: self.request,
            decision: decided.map(|decided| &decided.decision),
            by: decided.and_then(|decided| decided.by.as_deref()),
        };
        tell(Some(&self.scope), &event);
    }
}

/// Tells the observers of a condition that is about to be evaluated.
#[cold]
pub(crate) fn tell_of_check(scope: Option<&Scope>, contract: String, condition: &Condition) {
    let call_id = scope.map(|scope| scope.call_id.clone());
    let check = Check {
        call_id: call_id.filter(|id| !id.is_empty()),
        ..Check::new(contract, condition.kind(), condition.predicate())
    };
    tell(scope, &CheckEvent::Check(check));
}
