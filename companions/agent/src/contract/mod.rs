//! An agent that checks contracts on a whole run.
//!
//! `run` is the loop of a run, and makes the calls that the inner agent wants. `select` picks its next input, from dispatch
//! (`event_queue`) or from the inner agent, and `judge` checks it against the `hooks` and `budget`s. `state` is what invariants read,
//! `loop_detection` finds loops, `recovery` counts attempts, `calls` keeps the outcomes of calls, `clock` measures the time of the
//! run, `result` is its result, `typed` the type of its answer, `agent_run` how a program begins a run, and `parent` what it shares
//! with runs that are nested in its calls.

mod agent_run;
mod budget;
mod calls;
mod clock;
mod event_queue;
mod hooks;
mod judge;
mod loop_detection;
mod parent;
mod recovery;
mod result;
mod run;
mod select;
mod state;
mod typed;

use std::future::Future;
use std::sync::Arc;

use contract_runtime::ConditionKind;
use contract_runtime::Policy;
use contract_runtime::approval::{ApprovalRequest, Decided};
use contract_runtime::observe::Observer;
use serde::de::DeserializeOwned;

pub use agent_run::{AgentRun, RunEvents};
pub use budget::Budget;
pub use hooks::Hook;
use hooks::RunCondition;
pub use loop_detection::LoopDetection;
use parent::Approver;
pub use recovery::Recovery;
pub use result::{RunResult, RunStatistics};
pub use state::IterationState;
pub use typed::TypedResult;

use super::inner::InnerAgent;

/// An agent that checks contracts on a whole run: its task, every step, every tool call and the answer.
///
/// The contracts of tools are enforced wherever tools are called; this adds the conditions of the run, reports everything
/// as an event, and decides what follows a violation. One agent serves any number of runs at once.
pub struct ContractAgent<A> {
    inner: A,
    config: RunConfig,
}

/// What a run is held to.
struct RunConfig {
    name: Option<String>,
    policy: Option<Policy>,
    observer: Observer,
    approver: Option<Approver>,
    recovery: Recovery,
    loops: LoopDetection,
    max_steps: u64,
    shows_values: bool,
    verbose: bool,
    tasks: Vec<RunCondition<str>>,
    invariants: Vec<RunCondition<IterationState>>,
    answers: Vec<RunCondition<str>>,
}

/// A model that never answers is not followed for ever.
const MAX_STEPS: u64 = 100;

/// Configures a [`ContractAgent`] and its conditions.
#[must_use]
pub struct ContractAgentBuilder<A> {
    inner: A,
    config: RunConfig,
}

impl<A: InnerAgent> ContractAgent<A> {
    /// Starts with an inner agent and no conditions.
    pub fn builder(inner: A) -> ContractAgentBuilder<A> {
        ContractAgentBuilder {
            inner,
            config: RunConfig {
                name: None,
                policy: None,
                observer: Observer::new(),
                approver: None,
                recovery: Recovery::default(),
                loops: LoopDetection::default(),
                max_steps: MAX_STEPS,
                shows_values: false,
                verbose: false,
                tasks: Vec::new(),
                invariants: Vec::new(),
                answers: Vec::new(),
            },
        }
    }
}

impl<A: InnerAgent> ContractAgentBuilder<A> {
    /// Names the agent in the spans of its runs.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.config.name = Some(name.into());
        self
    }

    /// Sets the policy of every condition whose author did not choose one.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.config.policy = Some(policy);
        self
    }

    /// Sets the observer of each run; see [`Run::observe`](contract_runtime::Run::observe).
    pub fn observe(mut self, observer: Observer) -> Self {
        self.config.observer = observer;
        self
    }

    /// Sets who decides where a call asks, in the place of the registry's approver; see
    /// [`Builder::approver`](contract_runtime::Builder::approver).
    ///
    /// The run waits for the decision, up to the deadline and the cancellation of its context; the time in which a question is
    /// open counts against neither the timeout of the tool nor [`Budget::Time`]. A denied call is not a violation: the model
    /// reads the reason, and the run goes on. Where there is no approver at all, the run ends as [`RunError::Asked`], when
    /// every call of the turn has its outcome, and [`resume`](ContractAgent::resume) takes the answers.
    ///
    /// A run whose log is in a store records each question before its approver is asked, and each decision before the body may run.
    /// If the process is killed, the next one asks again or uses the decision.
    ///
    /// ```
    /// use contract_agent::{ContractAgent, Scripted, ToolCallingAgent};
    /// use contract_runtime::prelude::*;
    /// use contract_runtime::approval::{Approval, Decision};
    ///
    /// /// Cancel an order.
    /// #[tool(destructive, confirm = "Cancel order {order_id}?")]
    /// fn cancel(order_id: String) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(cancel).build()?;
    /// let model = Scripted::new().calls("", [("cancel", r#"{"order_id":"W1"}"#)]).text("It is cancelled.");
    /// let agent = ContractAgent::builder(ToolCallingAgent::new(model, registry))
    ///     .approver(async |request| {
    ///         println!("{request}"); // Cancel order \"W1\"?
    ///         Decision::Approved(Approval::Once)
    ///     })
    ///     .build();
    /// assert!(agent.run("Cancel W1.").await.success);
    /// # Ok(()) }
    /// ```
    ///
    /// [`RunError::Asked`]: crate::RunError::Asked
    pub fn approver<F>(
        mut self,
        approver: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output: Into<Decided>> + Send + 'static,
    {
        self.config.approver = Some(Arc::new(move |request| {
            let deciding = approver(request);
            Box::pin(async move { deciding.await.into() })
        }));
        self
    }

    /// Sets what follows an enforced violation.
    pub fn recovery(mut self, recovery: Recovery) -> Self {
        self.config.recovery = recovery;
        self
    }

    /// Sets when the model counts as stuck.
    pub fn loop_detection(mut self, detection: LoopDetection) -> Self {
        self.config.loops = detection;
        self
    }

    /// Sets the maximum number of steps of a run, whatever its budgets say; the default is 100. A reply that is requested
    /// again counts as one.
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.config.max_steps = steps;
        self
    }

    /// Includes the values of violations in events and results, too: arguments, tasks, answers that were rejected.
    ///
    /// Without it only the model and observers read them. A nested run shows them if the run around it does so, too.
    pub fn show_values(mut self, shows: bool) -> Self {
        self.config.shows_values = shows;
        self
    }

    /// Writes each event to standard error as one line of JSON. The lines hold what the model says and the arguments of its calls.
    pub fn verbose(mut self, verbose: bool) -> Self {
        self.config.verbose = verbose;
        self
    }

    /// Adds a condition that must hold for the task before anything runs; may be given several times, checked in order.
    #[track_caller]
    pub fn task_pre(
        mut self,
        hook: impl Into<Hook>,
        holds: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        let condition = RunCondition::new(hook.into(), ConditionKind::Task, holds);
        self.config.tasks.push(condition);
        self
    }

    /// Adds a condition that must hold at the beginning of every step; may be given several times, checked in order.
    #[track_caller]
    pub fn invariant(
        mut self,
        hook: impl Into<Hook>,
        holds: impl Fn(&IterationState) -> bool + Send + Sync + 'static,
    ) -> Self {
        let condition = RunCondition::new(hook.into(), ConditionKind::Invariant, holds);
        self.config.invariants.push(condition);
        self
    }

    /// Adds a condition that must hold for the answer before anyone sees it; may be given several times, checked in
    /// order.
    #[track_caller]
    pub fn answer_post(
        mut self,
        hook: impl Into<Hook>,
        holds: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        let condition = RunCondition::new(hook.into(), ConditionKind::Answer, holds);
        self.config.answers.push(condition);
        self
    }

    /// Adds a condition that must hold for the value of the answer, like [`answer_post`](Self::answer_post). An answer that is not
    /// a `T`, written as JSON, breaks it; see [`AgentRun::typed`].
    #[track_caller]
    pub fn answer_post_of<T: DeserializeOwned>(
        self,
        hook: impl Into<Hook>,
        holds: impl Fn(&T) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.answer_post(hook, move |text| {
            typed::read(text).is_ok_and(|value| holds(&value))
        })
    }

    /// Adds a budget, as an invariant that is also checked before every request to the model; a budget of calls also
    /// before every call.
    #[track_caller]
    pub fn budget(mut self, budget: Budget) -> Self {
        let holds = move |state: &IterationState| budget.holds(state);
        let mut condition = RunCondition::new(budget.hook(), ConditionKind::Invariant, holds);
        condition.at_requests = true;
        condition.at_calls = budget.is_of_calls();
        self.config.invariants.push(condition);
        self
    }

    /// Builds the agent.
    #[must_use]
    pub fn build(self) -> ContractAgent<A> {
        ContractAgent {
            inner: self.inner,
            config: self.config,
        }
    }
}

impl<A> std::fmt::Debug for ContractAgent<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContractAgent").finish_non_exhaustive()
    }
}

impl<A> std::fmt::Debug for ContractAgentBuilder<A> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ContractAgentBuilder")
            .finish_non_exhaustive()
    }
}
