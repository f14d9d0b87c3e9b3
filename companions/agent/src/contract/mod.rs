//! An agent whose whole run is under contract.
//!
//! `run` is the life of a run: `following` gives it what comes next, from dispatch (`told`) or from the inner agent, and `judge`
//! judges it by its `hooks` and `budget`s. `state` is what invariants look at, `stuck` finds loops, `recovery` counts tries, `calls`
//! and `kept_back` hold what is not told yet, and `result` is what comes of it all.

mod budget;
mod calls;
mod following;
mod hooks;
mod judge;
mod kept_back;
mod recovery;
mod result;
mod run;
mod state;
mod stuck;
mod told;

use std::sync::Arc;

pub use budget::Budget;
pub use hooks::Hook;
pub use recovery::Recovery;
pub use result::{RunResult, RunStatistics};
pub use state::IterationState;
pub use stuck::LoopDetection;

use super::inner::InnerAgent;
use super::live::Events;
use super::message::Message;
use crate::contract::condition::ConditionKind;
use crate::contract::handler::Handler;
use crate::contract::policy::Policy;
use crate::contract::violation::Violation;
use crate::tool::Context;
use hooks::Demand;

/// An agent whose whole run is under contract: its task, every step, every call of a tool, and its answer.
///
/// The contracts of tools are enforced wherever tools are called; this adds the conditions of the run, tells of everything
/// as it happens, and decides what follows a violation. One agent serves any number of runs at once.
pub struct ContractAgent<A> {
    inner: A,
    terms: Terms,
}

/// What a run is held to.
struct Terms {
    policy: Option<Policy>,
    handler: Option<Handler>,
    recovery: Recovery,
    loops: LoopDetection,
    max_steps: u64,
    shows_values: bool,
    tasks: Vec<Demand<str>>,
    invariants: Vec<Demand<IterationState>>,
    answers: Vec<Demand<str>>,
}

/// A model that never answers is not followed for ever.
const MAX_STEPS: u64 = 100;

/// Collects the conditions of a [`ContractAgent`].
#[must_use]
pub struct ContractAgentBuilder<A> {
    inner: A,
    terms: Terms,
}

impl<A: InnerAgent> ContractAgent<A> {
    /// Starts with an inner agent and no condition.
    pub fn builder(inner: A) -> ContractAgentBuilder<A> {
        ContractAgentBuilder {
            inner,
            terms: Terms {
                policy: None,
                handler: None,
                recovery: Recovery::default(),
                loops: LoopDetection::default(),
                max_steps: MAX_STEPS,
                shows_values: false,
                tasks: Vec::new(),
                invariants: Vec::new(),
                answers: Vec::new(),
            },
        }
    }

    /// Works on a task, and tells what happens while it happens. Dropping the stream stops all work.
    pub fn stream(&self, task: impl Into<String>) -> Events<'_> {
        self.stream_after([], Context::new(), task)
    }

    /// [`stream`](Self::stream) after an earlier conversation, with a context for the calls of tools.
    pub fn stream_after(
        &self,
        past: impl IntoIterator<Item = Message>,
        context: Context,
        task: impl Into<String>,
    ) -> Events<'_> {
        run::stream(self, run::start(past, context, task.into())).0
    }

    /// Works on a task to its end.
    pub async fn run(&self, task: impl Into<String>) -> RunResult {
        self.run_after([], Context::new(), task).await
    }

    /// [`run`](Self::run) after an earlier conversation, with a context for the calls of tools.
    pub async fn run_after(
        &self,
        past: impl IntoIterator<Item = Message>,
        context: Context,
        task: impl Into<String>,
    ) -> RunResult {
        let (mut events, record) = run::stream(self, run::start(past, context, task.into()));
        while events.next().await.is_some() {}
        drop(events);
        record.finish()
    }
}

impl<A: InnerAgent> ContractAgentBuilder<A> {
    /// The policy of every condition whose author did not choose one.
    pub fn policy(mut self, policy: Policy) -> Self {
        self.terms.policy = Some(policy);
        self
    }

    /// Is told about violations. It must be quick and changes no decision, not even by panicking.
    pub fn on_violation(mut self, handler: impl Fn(&Violation) + Send + Sync + 'static) -> Self {
        self.terms.handler = Some(Arc::new(handler));
        self
    }

    /// What follows an enforced violation.
    pub fn recovery(mut self, recovery: Recovery) -> Self {
        self.terms.recovery = recovery;
        self
    }

    /// When the model counts as stuck.
    pub fn loop_detection(mut self, detection: LoopDetection) -> Self {
        self.terms.loops = detection;
        self
    }

    /// The most steps of a run, whatever its budgets say: 100.
    pub fn max_steps(mut self, steps: u64) -> Self {
        self.terms.max_steps = steps;
        self
    }

    /// Shows the values of violations in events and results, too: arguments, tasks, answers that were rejected.
    ///
    /// Without it the model alone reads them, and handlers.
    pub fn show_values(mut self, shows: bool) -> Self {
        self.terms.shows_values = shows;
        self
    }

    /// Must hold of the task before anything runs. Any number, in order.
    #[track_caller]
    pub fn task_pre(
        mut self,
        hook: impl Into<Hook>,
        holds: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        let demand = Demand::new(hook.into(), ConditionKind::Task, holds);
        self.terms.tasks.push(demand);
        self
    }

    /// Must hold at the beginning of every step. Any number, in order.
    #[track_caller]
    pub fn invariant(
        mut self,
        hook: impl Into<Hook>,
        holds: impl Fn(&IterationState) -> bool + Send + Sync + 'static,
    ) -> Self {
        let demand = Demand::new(hook.into(), ConditionKind::Invariant, holds);
        self.terms.invariants.push(demand);
        self
    }

    /// Must hold of the answer before anyone sees it. Any number, in order.
    #[track_caller]
    pub fn answer_post(
        mut self,
        hook: impl Into<Hook>,
        holds: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Self {
        let demand = Demand::new(hook.into(), ConditionKind::Answer, holds);
        self.terms.answers.push(demand);
        self
    }

    /// What the run may use up, as an invariant. Budgets of calls are judged before every call, too.
    #[track_caller]
    pub fn budget(mut self, budget: Budget) -> Self {
        let holds = move |state: &IterationState| budget.holds(state);
        let mut demand = Demand::new(budget.hook(), ConditionKind::Invariant, holds);
        demand.at_calls = budget.is_of_calls();
        self.terms.invariants.push(demand);
        self
    }

    /// The agent.
    #[must_use]
    pub fn build(self) -> ContractAgent<A> {
        ContractAgent {
            inner: self.inner,
            terms: self.terms,
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
