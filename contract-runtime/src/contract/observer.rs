//! Observers of condition evaluation.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::approval::{ApprovalRequest, Decision};
use super::condition::ConditionKind;
use super::panics::guard;
use super::scope::{ContractScope, PolicyLayer, Scope};
use super::violation::Violation;

/// Observes what happens in a run, with the arguments of the call as they were sent; changes no decision.
pub(crate) type Watch = Arc<dyn Fn(CheckEvent<'_>, &str) + Send + Sync>;

/// What a [`Run`](crate::Run) reports to its watcher.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use contract_runtime::{CheckEvent, Run};
/// use contract_runtime::prelude::*;
///
/// /// Halve a number.
/// #[tool]
/// #[pre(number % 2 == 0, "only even numbers are halved")]
/// fn halve(number: u8) -> u8 {
///     number / 2
/// }
///
/// let registry = Registry::builder().tool(halve).build()?;
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let told = Arc::clone(&seen);
/// let run = Run::new().watch(move |event| {
///     if let CheckEvent::Check(check) = event {
///         told.lock().unwrap().push(check.contract);
///     }
/// });
/// # tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(async {
/// let call = ToolCall::new("1", "halve", r#"{"number": 4}"#);
/// assert!(registry.call(call).context(Context::new().run(&run)).await.is_ok());
/// # });
/// assert_eq!(*seen.lock().unwrap(), ["halve.pre[0]"]);
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum CheckEvent<'a> {
    /// A condition is about to be evaluated.
    Check(Check),
    /// A condition did not hold; the handler has not been called yet.
    Violation(&'a Violation),
    /// A call of the run is about to enter its body. Calls that a body makes are not reported.
    Entered {
        /// The caller's id of the call.
        call_id: &'a str,
        /// The name by which the tool was called.
        tool: &'a str,
    },
    /// A violation ended a call of the run, whatever the body made of it.
    Ended(&'a Violation),
    /// A violation ended something that a call of the run had left behind, such as a task, after the call was over.
    Late(&'a Violation),
    /// A call waits for the decision of an approver, which is not asked before the watcher has heard.
    Asked(&'a ApprovalRequest),
    /// A call waits no longer.
    Answered {
        /// What was asked.
        request: &'a ApprovalRequest,
        /// What was decided; `None` when the caller gave up before.
        decision: Option<&'a Decision>,
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
    #[inline]
    pub(crate) fn watch(&self) -> Option<&Watch> {
        self.run.as_ref()?.watch.as_ref()
    }
}

/// Tells whoever watches the run, in a scope of its own: what a watcher breaks is not broken by the call.
#[cold]
pub(crate) fn tell(scope: Option<&Scope>, watched: CheckEvent<'_>) {
    let Some(watch) = scope.and_then(Scope::watch) else {
        return;
    };
    let aside = ContractScope::new(Scope::aside(scope));
    let arguments = scope.map_or("", |scope| &scope.arguments);
    let _ = aside.enter(|| guard(|| watch(watched, arguments)));
}

/// Tells whoever watches the run that a person is asked, and whatever comes of it that nobody is asked any more.
pub(crate) struct Questioning<'r> {
    scope: Scope,
    request: &'r ApprovalRequest,
    decision: Option<Decision>,
}

impl<'r> Questioning<'r> {
    pub(crate) fn begin(run: Option<Arc<PolicyLayer>>, request: &'r ApprovalRequest) -> Self {
        let mut scope = Scope::aside(ContractScope::current().get());
        scope.run = run;
        tell(Some(&scope), CheckEvent::Asked(request));
        Self {
            scope,
            request,
            decision: None,
        }
    }

    pub(crate) fn decided(&mut self, decision: &Decision) {
        self.decision = Some(decision.clone());
    }
}

impl Drop for Questioning<'_> {
    fn drop(&mut self) {
        let (request, decision) = (self.request, self.decision.as_ref());
        tell(
            Some(&self.scope),
            CheckEvent::Answered { request, decision },
        );
    }
}

/// The id of a call, where it has one.
pub(crate) fn call_id(scope: Option<&Scope>) -> Option<String> {
    scope
        .map(|scope| scope.call_id.clone())
        .filter(|id| !id.is_empty())
}
