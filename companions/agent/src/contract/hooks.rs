//! Conditions of a run: on its task, its steps and its answer.

use std::panic::Location as Caller;

use serde_json::{Map, Value};

use super::state::IterationState;
use crate::contract::condition::ConditionKind;
use crate::contract::panics::guard;
use crate::contract::policy::{Policy, PolicyOrigin, process_policy};
use crate::contract::violation::{Blame, Detection, Location, Violation};
use crate::contract::watch::Check;

/// The name of a condition of a run, and what else is said about it.
///
/// ```
/// use contract_runtime::Policy;
/// use contract_runtime::agent::Hook;
///
/// let hook = Hook::new("short").message("answer in one sentence").policy(Policy::Observe);
/// let same_without_more: Hook = "short".into();
/// # let _ = (hook, same_without_more);
/// ```
#[derive(Clone, Debug)]
#[must_use]
pub struct Hook {
    name: String,
    message: Option<String>,
    policy: Option<Policy>,
    location: Location,
}

impl Hook {
    /// A condition by its name.
    #[track_caller]
    pub fn new(name: impl Into<String>) -> Self {
        let caller = Caller::caller();
        Self {
            name: name.into(),
            message: None,
            policy: None,
            location: Location {
                file: caller.file().to_owned(),
                line: caller.line(),
                column: caller.column(),
            },
        }
    }

    /// What the model is told when it does not hold.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// The policy of this condition alone, stronger than the agent's.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = Some(policy);
        self
    }
}

impl From<&str> for Hook {
    #[track_caller]
    fn from(name: &str) -> Self {
        Self::new(name)
    }
}

impl From<String> for Hook {
    #[track_caller]
    fn from(name: String) -> Self {
        Self::new(name)
    }
}

type Predicate<T> = Box<dyn Fn(&T) -> bool + Send + Sync>;

/// A hook and what it demands.
pub(super) struct Demand<T: ?Sized> {
    hook: Hook,
    kind: ConditionKind,
    predicate: Predicate<T>,
    /// Judged before every call of a tool, not only at the beginning of a step.
    pub(super) at_calls: bool,
}

/// What a condition looks at, as it stands in a violation.
pub(super) trait Subject {
    fn values(&self) -> Map<String, Value>;
}

impl Subject for IterationState {
    fn values(&self) -> Map<String, Value> {
        let state = serde_json::to_value(self).unwrap_or_default();
        Map::from_iter([("state".to_owned(), state)])
    }
}

impl<T: ?Sized> Demand<T> {
    pub(super) fn new(
        hook: Hook,
        kind: ConditionKind,
        predicate: impl Fn(&T) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            hook,
            kind,
            predicate: Box::new(predicate),
            at_calls: false,
        }
    }

    /// The policy that applies: the hook's own, else the agent's, else the process's.
    pub(super) fn policy(&self, agent: Option<Policy>) -> (Policy, PolicyOrigin) {
        match (self.hook.policy, agent) {
            (Some(policy), _) => (policy, PolicyOrigin::Condition),
            (None, Some(policy)) => (policy, PolicyOrigin::Run),
            (None, None) => (process_policy(), PolicyOrigin::Process),
        }
    }

    pub(super) fn check(&self) -> Check {
        Check {
            contract: self.id(),
            kind: self.kind,
            predicate: self.hook.name.clone(),
            call_id: None,
        }
    }

    /// How it failed, if it did.
    pub(super) fn judge(&self, subject: &T) -> Option<Detection> {
        match guard(|| (self.predicate)(subject)) {
            Ok(true) => None,
            Ok(false) => Some(Detection::PredicateFalse),
            Err(_) => Some(Detection::Panicked),
        }
    }

    /// Whether there is nothing to judge further.
    pub(super) fn holds(&self, subject: &T) -> bool {
        self.judge(subject).is_none()
    }

    pub(super) fn violation(
        &self,
        detection: Detection,
        (policy, origin): (Policy, PolicyOrigin),
        values: Map<String, Value>,
    ) -> Violation {
        Violation {
            contract: self.id(),
            kind: self.kind,
            tool: AGENT.to_owned(),
            predicate: self.hook.name.clone(),
            message: self.hook.message.clone(),
            location: self.hook.location.clone(),
            policy,
            origin,
            detection,
            blame: match self.kind {
                ConditionKind::Task => Blame::Caller,
                _ => Blame::Model,
            },
            values,
            call_id: None,
            template: None,
        }
    }

    fn id(&self) -> String {
        format!("{AGENT}.{}.{}", self.kind.name(), self.hook.name)
    }
}

/// What states the conditions of a run.
const AGENT: &str = "agent";
