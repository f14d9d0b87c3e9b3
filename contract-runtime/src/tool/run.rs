//! A series of calls that belong together.

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use super::context::Context;
use super::observe::Observer;
use super::wire::ToolCall;
use crate::contract::approval::{Answering, ApprovalRequest, Approver, Decided};
use crate::contract::counts::Counts;
use crate::contract::frame::log;
use crate::contract::history::RunHistory;
use crate::contract::observer::{self, CheckEvent};
use crate::contract::policy::Policy;
use crate::contract::scope::{PolicyLayer, Scope};
use crate::contract::violation::Violation;

/// A series of calls that belong together, such as one run of an agent.
///
/// ```
/// use contract_runtime::prelude::*;
/// use contract_runtime::Run;
///
/// /// Take a square root.
/// #[tool]
/// #[pre(of >= 0.0)]
/// fn root(of: f64) -> f64 {
///     of.sqrt().max(0.0)
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(root).build()?;
/// let run = Run::new().policy(Policy::Observe);
/// let call = ToolCall::new("1", "root", r#"{"of":-1}"#);
/// let outcome = registry.call(call).context(Context::new().run(&run)).await;
/// assert!(outcome.is_ok());
/// assert_eq!(outcome.observed().len(), 1);
/// assert_eq!(run.counts().violated, 1);
/// # Ok(()) }
/// ```
///
/// A run remembers its calls, and conditions ask for them with [`history`](crate::history()).
#[derive(Clone, Debug)]
#[must_use]
pub struct Run {
    pub(super) layer: Arc<PolicyLayer>,
    /// `None` if several callers share the run who know nothing of each other.
    pub(super) history: Option<RunHistory>,
    pub(super) observer: Observer,
    pub(crate) before: CallHooks,
}

/// The hooks of a registry or a run that may refuse a call before it begins; most have none.
#[derive(Clone, Default)]
pub(crate) struct CallHooks(pub(crate) Vec<Ask>);

type Ask = Arc<dyn Fn(ToolCall, Context) -> Answering<Result<(), String>> + Send + Sync>;

impl CallHooks {
    pub(crate) fn add<F>(&mut self, ask: impl Fn(ToolCall, Context) -> F + Send + Sync + 'static)
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        let ask = move |call, context| -> Answering<_> { Box::pin(ask(call, context)) };
        self.0.push(Arc::new(ask));
    }
}

impl fmt::Debug for CallHooks {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CallHooks").field(&self.0.len()).finish()
    }
}

impl Default for Run {
    fn default() -> Self {
        Self::of(PolicyLayer::default(), Observer::new())
    }
}

impl Run {
    /// Creates a run without a policy or an observer of its own.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the policy of every condition whose author did not choose one.
    ///
    /// Belongs before the first call: a run that has been given to a [`Context`] keeps what it had.
    pub fn policy(self, policy: Policy) -> Self {
        self.with(|layer| layer.policy = Some(policy))
    }

    /// Adds an observer of this run, besides those of the registry and the process.
    ///
    /// It is told of the calls of the run, and of what happens inside of them, also in calls that their bodies make.
    pub fn observe(mut self, observer: Observer) -> Self {
        self.observer.add(observer);
        self
    }

    /// Sets who decides where calls of this run ask, instead of the registry's approver; see
    /// [`Builder::approver`](crate::Builder::approver).
    pub fn approver<F>(
        self,
        approver: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output: Into<Decided>> + Send + 'static,
    {
        self.with(|layer| layer.approver = Some(Approver::new(approver)))
    }

    /// Adds a hook that runs before every call that is made with this run, after those of the registry, and may refuse it; see
    /// [`Builder::before_call`](crate::Builder::before_call). It also runs for a call that brings the answer to what it asked.
    ///
    /// It can record that a call begins, because the call waits for it. Calls that bodies make do not run it.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use contract_runtime::Run;
    ///
    /// /// Say hello.
    /// #[tool]
    /// fn hello() -> &'static str {
    ///     "hello"
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(hello).build()?;
    /// let run = Run::new().before_call(async |_, _| Err("the disk is full".to_owned()));
    /// let outcome = registry.call(("1", "hello", "")).context(Context::new().run(&run)).await;
    /// assert_eq!(outcome.error(), Some("the disk is full"));
    /// # Ok(()) }
    /// ```
    pub fn before_call<F>(
        mut self,
        ask: impl Fn(ToolCall, Context) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
    {
        self.before.add(ask);
        self
    }

    /// Puts this run inside of the one that a context has, or of the run of the call whose body has the context: that one decides what this one leaves open, its observers
    /// are told what those of this one are told, and it counts what this one counts.
    pub fn within(self, context: &Context) -> Self {
        let Some(outer) = context.run_around() else {
            return self;
        };
        let mut inner = self.with(|layer| {
            layer.policy = layer.policy.or(outer.layer.policy);
            let approver = || outer.layer.approver.clone();
            layer.approver = layer.approver.take().or_else(approver);
            layer.outer = Some(Arc::clone(&outer.layer));
        });
        inner.history = outer.history.as_ref().map(RunHistory::within);
        inner.observer.add(outer.observer.clone());
        inner
    }

    /// Begins a turn: the calls that are made with what this returns are those of one reply of a model.
    ///
    /// For a host that makes the calls of one reply one after the other, and not with
    /// [`call_all`](crate::Registry::call_all): what one of them returns, the model has not read when it asked for the next.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use contract_runtime::Run;
    ///
    /// /// Find a user.
    /// #[tool(read_only)]
    /// fn find_user(name: String) -> u32 {
    ///     name.len() as u32
    /// }
    ///
    /// /// Remove a user.
    /// #[tool(destructive)]
    /// #[pre(history().seen(find_user), "find the user first")]
    /// fn remove_user(id: u32) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(find_user).tool(remove_user).build()?;
    /// let find = || ToolCall::new("1", "find_user", r#"{"name":"ada"}"#);
    /// let remove = || ToolCall::new("2", "remove_user", r#"{"id":3}"#);
    ///
    /// let run = Run::new();
    /// let reply = Context::new().run(&run.turn());
    /// assert!(registry.call(find()).context(reply.clone()).await.is_ok());
    /// assert!(!registry.call(remove()).context(reply).await.is_ok());
    ///
    /// let next = Context::new().run(&run.turn());
    /// assert!(registry.call(remove()).context(next).await.is_ok());
    /// # Ok(()) }
    /// ```
    pub fn turn(&self) -> Self {
        Self {
            history: self.history.as_ref().map(RunHistory::turn),
            ..self.clone()
        }
    }

    /// Creates a run for one of several callers, such as a session of a server: with the settings of this one, which counts
    /// what it counts, and with a history of its own.
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use contract_runtime::Run;
    ///
    /// /// Say hello, once.
    /// #[tool]
    /// #[pre(history().count(greet) < 1, "once is enough")]
    /// fn greet() {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(greet).build()?;
    /// let server = Run::new();
    /// for session in [server.for_session(), server.for_session()] {
    ///     let greet = || registry.call(ToolCall::new("1", "greet", "")).context(Context::new().run(&session));
    ///     assert!(greet().await.is_ok());
    ///     assert!(!greet().await.is_ok());
    /// }
    /// assert_eq!(server.counts().violated, 2);
    /// # Ok(()) }
    /// ```
    pub fn for_session(&self) -> Self {
        let mut layer = self.layer.uncounted();
        layer.outer = Some(Arc::clone(&self.layer));
        Self {
            before: self.before.clone(),
            ..Self::of(layer, self.observer.clone())
        }
    }

    /// Returns the same run without its history, for calls of callers that know nothing of each other: conditions over the
    /// history fail there, as they do outside of a run.
    pub fn without_history(&self) -> Self {
        // The callers do not share approvals either.
        Self {
            history: None,
            ..self.for_session()
        }
    }

    /// Says that calls were made in this run which it does not know, such as by an earlier process: questions of conditions that
    /// those could decide have no answer from now on. A program that knows them tells them with
    /// [`Registry::remember`](crate::Registry::remember).
    ///
    /// ```
    /// use contract_runtime::prelude::*;
    /// use contract_runtime::Run;
    ///
    /// /// Say hello, once.
    /// #[tool]
    /// #[pre(history().count(greet) < 1, "once is enough")]
    /// fn greet() {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(greet).build()?;
    /// let resumed = Run::new().with_earlier_calls();
    /// let outcome = registry.call(ToolCall::new("1", "greet", "")).context(Context::new().run(&resumed)).await;
    /// assert!(outcome.error().unwrap().starts_with("the run had calls before"));
    /// # Ok(()) }
    /// ```
    pub fn with_earlier_calls(self) -> Self {
        if let Some(history) = &self.history {
            history.expect_earlier();
        }
        self
    }

    /// Returns whether its history has calls, or may have, that were not made with this run itself: calls of bodies, of runs that it
    /// is within or that are within it, and [earlier ones](Self::with_earlier_calls).
    #[must_use]
    pub fn has_other_calls(&self) -> bool {
        self.history.as_ref().is_some_and(RunHistory::has_others)
    }

    /// Returns a random number that runs with one history share, as those within one run do. `None` if it has no history.
    #[must_use]
    pub fn history_id(&self) -> Option<u64> {
        self.history.as_ref().map(RunHistory::id)
    }

    /// Returns the run for calls whose model has read the results so far, and nothing later.
    #[doc(hidden)]
    pub fn as_of_now(&self) -> Self {
        Self {
            history: self.history.as_ref().map(RunHistory::as_of_now),
            ..self.clone()
        }
    }

    fn of(layer: PolicyLayer, observer: Observer) -> Self {
        Self {
            layer: Arc::new(layer),
            history: Some(RunHistory::default()),
            observer,
            before: CallHooks::default(),
        }
    }

    /// Returns the policy that was set, here or by the run around this one.
    #[must_use]
    pub fn chosen_policy(&self) -> Option<Policy> {
        self.layer.policy
    }

    /// Reports a violation of a condition of the run itself: writes it to the log without values, and tells the observers
    /// of the run and the process if the policy of the violation says so.
    pub fn report(&self, violation: &Violation) {
        log(violation);
        if violation.policy.tells_observers() {
            let mut scope = Scope::below(None);
            scope.observers.own.clone_from(&self.observer.watchers);
            observer::tell(Some(&scope), &CheckEvent::Violation(violation));
        }
    }

    /// Starts no call after one that a violation has ended.
    pub fn stop_after_violation(self) -> Self {
        self.with(|layer| layer.ends = true)
    }

    fn with(self, set: impl FnOnce(&mut PolicyLayer)) -> Self {
        let mut layer = self.layer.uncounted();
        set(&mut layer);
        Self {
            before: self.before,
            ..Self::of(layer, self.observer)
        }
    }

    /// Returns how many conditions the calls of this run have reached.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.layer.counters.read()
    }
}
