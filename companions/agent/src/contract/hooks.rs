//! Conditions of a run: on its task, its steps and its answer.

use contract_runtime::__family::guard;
use contract_runtime::ConditionKind;
use contract_runtime::observe::Check;
use contract_runtime::{Detection, Location, Violation};
use contract_runtime::{Policy, PolicyOrigin, process_policy};
use serde_json::{Map, Value};

/// The name of a condition of a run, with its message and policy.
///
/// ```
/// use contract_runtime::Policy;
/// use contract_agent::Hook;
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
    /// Creates a condition with this name.
    #[track_caller]
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            message: None,
            policy: None,
            location: Location::caller(),
        }
    }

    /// Sets what the model is told when the condition does not hold.
    pub fn message(mut self, message: impl Into<String>) -> Self {
        self.message = Some(message.into());
        self
    }

    /// Sets the policy of this condition, which overrides the agent's.
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
pub(super) struct RunCondition<T: ?Sized> {
    hook: Hook,
    kind: ConditionKind,
    predicate: Predicate<T>,
    /// Judged before every request to the model, not only when its reply has come.
    pub(super) at_requests: bool,
    /// Judged before every call of a tool, not only at the beginning of a step.
    pub(super) at_calls: bool,
}

impl<T: ?Sized> RunCondition<T> {
    pub(super) fn new(
        hook: Hook,
        kind: ConditionKind,
        predicate: impl Fn(&T) -> bool + Send + Sync + 'static,
    ) -> Self {
        Self {
            hook,
            kind,
            predicate: Box::new(predicate),
            at_requests: false,
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
        Check::new(self.id(), self.kind, &self.hook.name)
    }

    /// How it failed, if it did.
    pub(super) fn judge(&self, subject: &T) -> Option<Detection> {
        match guard(|| (self.predicate)(subject)) {
            Ok(true) => None,
            Ok(false) => Some(Detection::PredicateFalse),
            Err(_) => Some(Detection::Panicked),
        }
    }

    pub(super) fn violation(
        &self,
        detection: Detection,
        (policy, origin): (Policy, PolicyOrigin),
        values: Map<String, Value>,
    ) -> Violation {
        let mut violation = Violation::new(self.id(), self.kind, AGENT, &self.hook.name);
        violation.message.clone_from(&self.hook.message);
        violation.location = self.hook.location.clone();
        violation.policy = policy;
        violation.origin = origin;
        violation.detection = detection;
        violation.values = values.into();
        violation
    }

    fn id(&self) -> String {
        format!("{AGENT}.{}.{}", self.kind.name(), self.hook.name)
    }
}

/// What states the conditions of a run.
const AGENT: &str = "agent";
