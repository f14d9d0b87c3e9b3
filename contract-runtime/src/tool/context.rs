//! The context of a call: what its caller passes besides the arguments.

use std::any::{Any, TypeId};
use std::collections::HashMap;
use std::fmt;
use std::future::{Future, poll_fn};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::Poll;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use tokio::sync::watch;

use super::log::{Log, LogRecord, Progress};
use super::observe::Observer;
use super::run::Run;
use crate::contract::approval::{Answer, ApprovalRequest, Approver, Decided};
use crate::contract::history::RunHistory;
use crate::contract::observer::Observers;
use crate::contract::scope::PolicyLayer;

/// Values by their type, for `#[context]` parameters.
pub(crate) type Values = HashMap<TypeId, Arc<dyn Any + Send + Sync>>;

/// What a caller passes to a call besides its arguments; the model sees nothing of it.
///
/// A `#[context]` parameter takes a value from here by its type. What is not given here comes from the registry. A parameter of this
/// type itself is for what the body does: it has the values, the caller and the approver of the call, its cancellation and its
/// deadline, and a [`Run`] that is [`within`](Run::within) it is nested in the run of the call.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// struct User(&'static str);
///
/// /// Say who is asking.
/// #[tool]
/// fn who(#[context] user: &User) -> String {
///     user.0.to_owned()
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(who).context(User("nobody")).build()?;
/// let context = Context::new().with(User("ada"));
/// let outcome = registry.call(ToolCall::new("1", "who", "")).context(context).await;
/// assert_eq!(outcome.output(), Some("ada"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Context(
    /// `None` for an empty context, which most calls have.
    Option<Box<ContextInner>>,
);

#[derive(Clone, Debug, Default)]
struct ContextInner {
    values: Values,
    cancellation: Option<CancellationToken>,
    deadline: Option<Instant>,
    progress: Progress,
    log: Log,
    run: Option<Run>,
    /// The run of the call whose body was given this context.
    outer_run: Option<Run>,
    observer: Observer,
    approver: Option<Approver>,
    fallback_approver: Option<Approver>,
    caller: Option<Arc<str>>,
    answers: Vec<Answer>,
    coerce: bool,
}

impl Context {
    /// Creates an empty context.
    pub fn new() -> Self {
        Self::default()
    }

    /// Provides a value to `#[context]` parameters of its type; it takes precedence over the registry's.
    pub fn with<T: Send + Sync + 'static>(self, value: T) -> Self {
        self.with_arc(Arc::new(value))
    }

    /// Provides a value that is already shared, as [`with`](Self::with) does.
    pub fn with_arc<T: Send + Sync + 'static>(mut self, value: Arc<T>) -> Self {
        self.brought().values.insert(TypeId::of::<T>(), value);
        self
    }

    /// Ends the call with `cancelled` when the token is cancelled.
    pub fn cancellation(mut self, token: CancellationToken) -> Self {
        self.brought().cancellation = Some(token);
        self
    }

    /// Ends the call with `timed_out` after this long, unless the tool's own timeout is shorter.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.brought().deadline = now().checked_add(timeout);
        self
    }

    /// Corrects the arguments of the call as [`Builder::coerce`](crate::Builder::coerce) says, besides what its registry corrects.
    pub fn coerce(mut self, coerce: bool) -> Self {
        if coerce {
            self.brought().coerce = true;
        }
        self
    }

    /// Returns whether the arguments of the call are corrected even if its registry does not correct any.
    pub(crate) fn coerces(&self) -> bool {
        self.0.as_ref().is_some_and(|brought| brought.coerce)
    }

    /// Sets the key under which the call has its effect once. A batch leaves it out; there, each call has a context of its own.
    pub fn idempotency_key(self, key: IdempotencyKey) -> Self {
        self.with(key)
    }

    /// Receives the progress reports of the body.
    pub fn progress(mut self, progress: Progress) -> Self {
        self.brought().progress = progress;
        self
    }

    /// Receives the log messages of the body, besides those that listen already; the closure must be quick.
    pub fn log(mut self, hears: impl Fn(&LogRecord) + Send + Sync + 'static) -> Self {
        self.brought().log.listen(hears);
        self
    }

    /// Makes the call part of a run, whose policy overrides the registry's and yields to the author's.
    pub fn run(mut self, run: &Run) -> Self {
        self.brought().run = Some(run.clone());
        self
    }

    /// Adds the answer to what an earlier, equal call asked; see [`Outcome::approval_request`](crate::Outcome::approval_request).
    ///
    /// The first call that it answers uses it up, whatever comes of that call; a batch may be given one for each of its calls.
    pub fn answer(mut self, answer: Answer) -> Self {
        self.brought().answers.push(answer);
        self
    }

    /// Sets who decides where the call asks, instead of the approver of the run or the registry; see
    /// [`Builder::approver`](crate::Builder::approver).
    pub fn approver<F>(
        mut self,
        approver: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output: Into<Decided>> + Send + 'static,
    {
        self.brought().approver = Some(Approver::new(approver));
        self
    }

    /// Sets who decides where neither the call, the run nor the registry has an approver, such as the user of a server's client.
    ///
    /// It is not asked about calls that the body of a tool makes.
    pub fn fallback_approver<F>(
        mut self,
        approver: impl Fn(ApprovalRequest) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output: Into<Decided>> + Send + 'static,
    {
        self.brought().fallback_approver = Some(Approver::new(approver));
        self
    }

    /// Names the caller, such as the user of a server, so that what one caller is asked and answers is good for no other.
    ///
    /// A question belongs to the caller of its call, and so do its answer and what a run remembers of it. A call without a name has
    /// a caller of its own, which is the same for all such calls.
    ///
    /// ```
    /// use contract_runtime::Status;
    /// use contract_runtime::prelude::*;
    ///
    /// /// Cancel an order.
    /// #[tool(confirm = "Cancel order {id}?")]
    /// fn cancel(id: u32) {}
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(cancel).build()?;
    /// let call = |context| registry.call(ToolCall::new("1", "cancel", r#"{"id":7}"#)).context(context);
    /// let asked = call(Context::new().identified_as("ada")).await;
    /// let answer = asked.approval_request().unwrap().approve();
    ///
    /// let of_mallory = Context::new().identified_as("mallory").answer(answer.clone());
    /// assert_eq!(call(of_mallory).await.status(), Status::Asked);
    /// assert!(call(Context::new().identified_as("ada").answer(answer)).await.is_ok());
    /// # Ok(()) }
    /// ```
    pub fn identified_as(mut self, caller: impl Into<Arc<str>>) -> Self {
        self.brought().caller = Some(caller.into());
        self
    }

    /// Returns the name of the caller, if one was given.
    #[must_use]
    pub fn caller(&self) -> Option<&str> {
        self.0.as_ref()?.caller.as_deref()
    }

    pub(crate) fn own_approver(&self) -> Option<Approver> {
        self.0.as_ref()?.approver.clone()
    }

    pub(crate) fn last_approver(&self) -> Option<Approver> {
        self.0.as_ref()?.fallback_approver.clone()
    }

    /// Returns the answers that were given.
    #[must_use]
    pub fn answers(&self) -> &[Answer] {
        self.0.as_ref().map_or(&[], |brought| &brought.answers)
    }

    pub(crate) fn take_answers(&mut self) -> Vec<Answer> {
        let brought = self.0.as_mut();
        brought.map_or_else(Vec::new, |brought| std::mem::take(&mut brought.answers))
    }

    /// Adds an observer of the calls that are made with this context, besides those of its run, the registry and the process.
    pub fn observe(mut self, observer: Observer) -> Self {
        self.brought().observer.add(observer);
        self
    }

    /// Returns the observers of the context and of its run.
    pub(crate) fn observers(&self) -> impl Iterator<Item = &Observer> {
        let own = self.0.as_ref().map(|brought| &brought.observer);
        own.into_iter()
            .chain(self.own_run().map(|run| &run.observer))
    }

    #[inline]
    pub(crate) fn observes_calls(&self) -> bool {
        self.0.is_some() && self.observers().any(Observer::observes_calls)
    }

    /// Returns the observers of what happens inside the call. If it has a run of its own, that replaces the outer run.
    pub(crate) fn observers_inside(&self, mut outer: Observers) -> Observers {
        if self.has_run() {
            outer.own.clear();
        }
        for observer in self.observers() {
            outer.own.extend_from_slice(&observer.watchers);
        }
        outer
    }

    /// Fills what is missing in this context from another one.
    ///
    /// ```
    /// use contract_runtime::Context;
    /// use contract_runtime::prelude::*;
    ///
    /// /// Say who is asking.
    /// #[tool]
    /// fn who(#[context] user: Option<&String>, #[context] tenant: Option<&u64>) -> String {
    ///     format!("{user:?} of {tenant:?}")
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
    /// let registry = Registry::builder().tool(who).build()?;
    /// let everybody = Context::new().with("nobody".to_owned()).with(7_u64);
    /// let context = Context::new().with("ada".to_owned()).or(&everybody);
    /// let outcome = registry.call(ToolCall::new("1", "who", "")).context(context).await;
    /// assert_eq!(outcome.output(), Some("Some(\"ada\") of Some(7)"));
    /// # Ok(()) }
    /// ```
    pub fn or(mut self, other: &Self) -> Self {
        let Some(theirs) = other.0.clone() else {
            return self;
        };
        let Some(ours) = &mut self.0 else {
            return other.clone();
        };
        for (of, value) in theirs.values {
            ours.values.entry(of).or_insert(value);
        }
        if !ours.progress.is_heard() {
            ours.progress = theirs.progress;
        }
        if !ours.log.is_heard() {
            ours.log = theirs.log;
        }
        ours.coerce |= theirs.coerce;
        ours.answers.extend(theirs.answers);
        ours.observer.add(theirs.observer);
        ours.deadline = ours.deadline.or(theirs.deadline);
        ours.cancellation = ours.cancellation.take().or(theirs.cancellation);
        ours.run = ours.run.take().or(theirs.run);
        ours.outer_run = ours.outer_run.take().or(theirs.outer_run);
        ours.approver = ours.approver.take().or(theirs.approver);
        let fallback = ours.fallback_approver.take();
        ours.fallback_approver = fallback.or(theirs.fallback_approver);
        ours.caller = ours.caller.take().or(theirs.caller);
        self
    }

    /// Returns the context that the body of a call is given: calls that are made with it belong to the body and not to the run.
    pub(super) fn of_body(
        &self,
        call: CallInfo,
        token: CancellationToken,
        deadline: Deadline,
    ) -> Self {
        let mut context = self.clone().with(call).cancellation(token);
        let brought = context.brought();
        brought.deadline = deadline.0;
        brought.outer_run = brought.run.take().or(brought.outer_run.take());
        brought.observer = Observer::new();
        brought.answers.clear();
        brought.fallback_approver = None;
        brought.values.remove(&TypeId::of::<IdempotencyKey>());
        context
    }

    /// Replaces the listeners of log messages by those of another context.
    #[doc(hidden)]
    pub fn log_of(mut self, other: &Self) -> Self {
        let log = other.0.as_ref().map(|brought| brought.log.clone());
        self.brought().log = log.unwrap_or_default();
        self
    }

    fn brought(&mut self) -> &mut ContextInner {
        self.0.get_or_insert_default()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_none()
    }

    /// Returns the token that cancels the call, if one was given.
    #[must_use]
    pub fn token(&self) -> Option<&CancellationToken> {
        self.0.as_ref()?.cancellation.as_ref()
    }

    /// Returns when the time of the call is over, if it is limited.
    #[must_use]
    pub fn deadline(&self) -> Option<Instant> {
        self.0.as_ref()?.deadline
    }

    pub(crate) fn reports(&self) -> Progress {
        self.0
            .as_ref()
            .map(|brought| brought.progress.clone())
            .unwrap_or_default()
    }

    pub(crate) fn logs(&self, id: &str, tool: &str) -> Log {
        let brought = self.0.as_ref();
        brought.map_or_else(Log::default, |brought| brought.log.of_call(id, tool))
    }

    /// Returns whether it makes its calls part of a [`Run`].
    #[must_use]
    pub fn has_run(&self) -> bool {
        self.own_run().is_some()
    }

    pub(crate) fn run_layer(&self) -> Option<Arc<PolicyLayer>> {
        Some(Arc::clone(&self.own_run()?.layer))
    }

    #[inline]
    pub(crate) fn own_run(&self) -> Option<&Run> {
        self.0.as_ref()?.run.as_ref()
    }

    /// Returns the run that a run with this context is nested in.
    pub(super) fn run_around(&self) -> Option<&Run> {
        let brought = self.0.as_ref()?;
        brought.run.as_ref().or(brought.outer_run.as_ref())
    }

    pub(crate) fn history(&self) -> Option<&RunHistory> {
        self.own_run()?.history.as_ref()
    }

    /// Returns the context for several calls of one turn, which must not share a key.
    pub(crate) fn in_turn(mut self) -> Self {
        let Some(brought) = &mut self.0 else {
            return self;
        };
        brought.values.remove(&TypeId::of::<IdempotencyKey>());
        if let Some(run) = &mut brought.run {
            run.history = run.history.as_ref().map(RunHistory::in_turn);
        }
        self
    }

    #[inline]
    pub(crate) fn run_is_over(&self) -> bool {
        self.own_run().is_some_and(|run| {
            let mut runs = std::iter::successors(Some(&run.layer), |run| run.outer.as_ref());
            runs.any(|run| run.over.load(Ordering::Relaxed))
        })
    }

    /// Returns the value of this type that was given, such as the user for whom the call is made.
    #[must_use]
    pub fn get<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.value(TypeId::of::<T>())?.downcast_ref()
    }

    pub(super) fn value(&self, of: TypeId) -> Option<&Arc<dyn Any + Send + Sync>> {
        self.0.as_ref()?.values.get(&of)
    }
}

/// The current call, as a `#[context]` parameter.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Say which call this is.
/// #[tool]
/// fn which(#[context] call: &CallInfo) -> String {
///     format!("{} of {}", call.id, call.tool)
/// }
///
/// let registry = Registry::builder().tool(which).build()?;
/// let outcome = registry.call(ToolCall::new("call-7", "which", "{}")).blocking();
/// assert_eq!(outcome.output(), Some("call-7 of which"));
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CallInfo {
    /// The caller's id of the call, as it was sent.
    pub id: String,
    /// The name by which the tool was called.
    pub tool: String,
}

/// The deadline of the call, as a `#[context]` parameter.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Think for a while.
/// #[tool(timeout = "30s")]
/// async fn think(#[context] deadline: &Deadline) -> bool {
///     deadline.remaining().is_some_and(|left| left.as_secs() <= 30)
/// }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(think).build()?;
/// assert_eq!(registry.call(ToolCall::new("1", "think", "")).await.output(), Some("true"));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadline(pub(crate) Option<Instant>);

impl Deadline {
    /// Returns the deadline, if there is one.
    #[must_use]
    pub fn at(self) -> Option<Instant> {
        self.0
    }

    /// Returns the time left, zero when the deadline has passed; `None` without a deadline.
    #[must_use]
    pub fn remaining(self) -> Option<Duration> {
        self.0.map(|at| at.saturating_duration_since(now()))
    }
}

/// Identifies one intended effect, for a payment provider or a database that does nothing twice under one key.
///
/// A `#[context]` parameter takes it. A tool with `&IdempotencyKey` needs one: a call without a key fails before its body. Such a tool
/// also promises that a call that is made again under its key has its effect once, so a resumed run makes it again where it is not known
/// whether it ran. A tool with `Option<&IdempotencyKey>` runs without a key and promises nothing.
///
/// An agent gives each call of a run a key, which stays the same when the run is resumed. A backend of `contract-remote` sends it to
/// the executor. Other callers set one with [`Context::idempotency_key`]. A key is never made up, and a call that a body makes has none
/// unless the body sets one, such as a new key that contains its own.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Charge a customer.
/// #[tool]
/// fn charge(cents: u32, #[context] key: &IdempotencyKey) -> String {
///     format!("POST /charges {cents}, Idempotency-Key: {key}")
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), BuildError> {
/// let registry = Registry::builder().tool(charge).build()?;
/// let call = ToolCall::new("1", "charge", r#"{"cents":700}"#);
/// let context = Context::new().idempotency_key(IdempotencyKey::new("order-7"));
/// let outcome = registry.call(&call).context(context).await;
/// assert_eq!(outcome.output(), Some("POST /charges 700, Idempotency-Key: order-7"));
/// # Ok(()) }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    /// Creates a key, which must be another one for each intended effect.
    pub fn new(key: impl Into<String>) -> Self {
        Self(key.into())
    }

    /// Returns the text of the key. That of an agent has the form of a UUID (36 characters), which payment providers take.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Reads the clock of the runtime, which tests may pause; outside a runtime, that of the system.
#[must_use]
pub(crate) fn now() -> Instant {
    tokio::time::Instant::now().into_std()
}

/// Cancels calls. [`Context::cancellation`](crate::Context::cancellation) takes a token, and a `#[context]` parameter of this type
/// is a child of it.
///
/// A clone is the same token. A child is cancelled with its parent, and not the other way round.
///
/// ```
/// use contract_runtime::CancellationToken;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let all = CancellationToken::new();
/// let one = all.child_token();
/// all.cancel();
/// one.cancelled().await;
/// assert!(one.is_cancelled());
/// # }
/// ```
#[derive(Clone, Debug, Default)]
pub struct CancellationToken {
    own: watch::Sender<bool>,
    parents: Vec<watch::Sender<bool>>,
}

impl CancellationToken {
    /// Creates a token that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Cancels the token, its clones and its children, for good.
    pub fn cancel(&self) {
        self.own.send_replace(true);
    }

    /// Returns whether the token or one of its parents was cancelled.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.all().any(|flag| *flag.borrow())
    }

    /// Waits until the token or one of its parents is cancelled.
    pub async fn cancelled(&self) {
        let wait = |mut flag: watch::Receiver<bool>| async move {
            // An error says that no sender is left, and `self` has them.
            let _ = flag.wait_for(|cancelled| *cancelled).await;
        };
        let waits = self.all().map(|flag| Box::pin(wait(flag.subscribe())));
        let mut waits: Vec<_> = waits.collect();
        poll_fn(|task| {
            let mut polled = waits.iter_mut().map(|wait| wait.as_mut().poll(task));
            polled.find(Poll::is_ready).unwrap_or(Poll::Pending)
        })
        .await;
    }

    /// Creates a token that is cancelled with this one, and can be cancelled alone.
    #[must_use]
    pub fn child_token(&self) -> Self {
        Self {
            own: watch::Sender::new(false),
            parents: self.all().cloned().collect(),
        }
    }

    fn all(&self) -> impl Iterator<Item = &watch::Sender<bool>> {
        std::iter::once(&self.own).chain(&self.parents)
    }
}

/// Cancels a token when it is dropped.
pub(crate) struct CancelOnDrop(pub(crate) Option<CancellationToken>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        if let Some(token) = &self.0 {
            token.cancel();
        }
    }
}
