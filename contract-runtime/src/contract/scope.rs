//! The scope of a call: a task-local that holds its policy, its violations and its counts.

use std::any::Any;
use std::borrow::Cow;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering, fence};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};

use serde_json::{Map, Value};

use super::approval::{Approver, Asking, RunAnswers};
use super::counts::{Counters, Counts};
use super::history::CallPlace;
use super::observer::{self, CheckEvent, Observers, Watcher};
use super::panics::{Panicked, ignore_poison};
use super::policy::{Policy, PolicyOrigin, Resolved};
use super::thread::{polled_within, with_current, within};
use super::violation::{MASK, Violation};

/// The scope of a call by name: its policy, its observers, its statistics and the violation that ends it.
///
/// The scope is local to the task: concurrent calls never see each other's, and a new task or thread starts without
/// one. [`wrap`](Self::wrap) and [`wrap_fn`](Self::wrap_fn) carry it there. Bodies of `blocking` tools have it already.
///
/// ```
/// use contract_runtime::{ContractScope, Status};
/// use contract_runtime::prelude::*;
///
/// /// Count the lines of a text, on a thread of its own.
/// #[tool]
/// fn count_lines(text: String) -> Result<usize, String> {
///     let count = ContractScope::current().wrap_fn(move || {
///         contract_assert!(!text.is_empty(), "there is nothing to count");
///         text.lines().count()
///     });
///     std::thread::spawn(count).join().map_err(|_| "the thread ended early".to_owned())
/// }
///
/// let registry = Registry::builder().tool(count_lines).build()?;
/// let outcome = registry.call(ToolCall::new("1", "count_lines", r#"{"text":""}"#)).blocking();
/// assert_eq!(outcome.status(), Status::Violation);
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Debug)]
pub struct ContractScope(pub(super) Option<Arc<Scope>>);

/// The settings of a registry or of a run that apply to the conditions of a call.
///
/// It has cache lines of its own, because a registry has one for each thread.
#[derive(Default)]
#[repr(align(128))]
pub(crate) struct PolicyLayer {
    pub(crate) policy: Option<Policy>,
    pub(crate) watchers: Vec<Watcher>,
    pub(crate) approver: Option<Approver>,
    pub(crate) answers: RunAnswers,
    /// Whether a violation that ends a call ends the whole run.
    pub(crate) ends: bool,
    pub(crate) over: AtomicBool,
    pub(crate) counters: Counters,
    /// The run around a run, which counts what happens in both.
    pub(crate) outer: Option<Arc<Self>>,
}

impl PolicyLayer {
    /// Returns a copy of the settings with counters at zero.
    pub(crate) fn uncounted(&self) -> Self {
        Self {
            policy: self.policy,
            watchers: self.watchers.clone(),
            approver: self.approver.clone(),
            ends: self.ends,
            outer: self.outer.clone(),
            ..Self::default()
        }
    }
}

impl std::fmt::Debug for PolicyLayer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PolicyLayer")
            .field("policy", &self.policy)
            .field("counters", &self.counters)
            .finish_non_exhaustive()
    }
}

/// The arguments whose values are shown nowhere, by name.
#[derive(Clone, Debug)]
pub(crate) enum Secrets {
    /// The names that the author of a function declared.
    Declared(&'static [&'static str]),
    /// The names in the schema of a dynamic tool.
    Said(Arc<[String]>),
}

impl Secrets {
    pub(super) const NONE: Self = Self::Declared(&[]);

    pub(crate) fn said<'a>(names: impl Iterator<Item = &'a str>) -> Self {
        let names: Vec<String> = names.map(str::to_owned).collect();
        // Each call clones its secrets; an empty list is cloned without counting references.
        if names.is_empty() {
            return Self::NONE;
        }
        Self::Said(names.into())
    }

    fn has(&self, name: &str) -> bool {
        match self {
            Self::Declared(names) => names.contains(&name),
            Self::Said(names) => names.iter().any(|secret| secret == name),
        }
    }

    /// Returns arguments as they were sent, those that are secret masked.
    pub(crate) fn masked(&self, arguments: &str) -> Value {
        let mut sent = serde_json::from_str(arguments).unwrap_or_else(|_| arguments.into());
        for (name, value) in Value::as_object_mut(&mut sent).into_iter().flatten() {
            if self.has(name) {
                *value = MASK.into();
            }
        }
        sent
    }

    pub(crate) fn is_empty(&self) -> bool {
        match self {
            Self::Declared(names) => names.is_empty(),
            Self::Said(names) => names.is_empty(),
        }
    }
}

pub(crate) struct Scope {
    pub(crate) call_id: String,
    pub(crate) tool: Cow<'static, str>,
    /// The arguments as they were sent.
    pub(crate) arguments: String,
    pub(crate) secrets: Secrets,
    pub(crate) policy: Resolved,
    pub(crate) registry: Option<Arc<PolicyLayer>>,
    pub(crate) run: Option<Arc<PolicyLayer>>,
    pub(crate) observers: Observers,
    /// Whether the run itself made this call, and not the body of another call.
    pub(crate) of_run: bool,
    /// Whether the call has its outcome. Tasks that it left behind may still record violations.
    pub(super) concluded: AtomicBool,
    /// Whether the caller has given up the call, though its body may still run.
    pub(super) abandoned: AtomicBool,
    /// The [`Phase`] in which the call was cut short.
    pub(super) phase: AtomicU8,
    /// The gates that the call already holds.
    pub(crate) gate: Option<Arc<Gate>>,
    /// What the call may ask a person; `None` if its tool never asks.
    pub(crate) asking: Option<Arc<Asking>>,
    /// The name of the caller, if the host gave one.
    pub(crate) caller: Option<Arc<str>>,
    /// How many calls by name are inside one another here, this one among them.
    pub(crate) depth: usize,
    /// The place of the call in the history of its run.
    pub(crate) place: Option<Arc<CallPlace>>,
    /// Whether only the names, the arguments, the policy and the registry are set.
    pub(crate) is_bare: bool,
    seen: OnceLock<Box<Violations>>,
}

/// How far a call has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Phase {
    /// Anything from the first statement of the body to the last postcondition.
    Body = 0,
    BeforeBody = 1,
    /// The body and everything judged after it has ended; the result is being written.
    Result = 2,
}

/// Sets the phase of the current call when it is dropped. A call that continues forgets the guard, so only unwinding drops it, and
/// an ordinary call pays nothing.
pub(crate) struct PhaseOnUnwind(pub(crate) Phase);

impl Drop for PhaseOnUnwind {
    #[cold]
    fn drop(&mut self) {
        with_current(|scope| scope.set_phase(self.0));
    }
}

/// What a call inherits from the call around it.
#[derive(Clone, Default)]
pub(crate) struct Inherited {
    pub(crate) run: Option<Arc<PolicyLayer>>,
    pub(crate) observers: Observers,
    pub(crate) gate: Option<Arc<Gate>>,
    pub(crate) depth: usize,
    pub(crate) caller: Option<Arc<str>>,
    /// The place of the outer call.
    pub(crate) place: Option<Arc<CallPlace>>,
}

/// A registry whose batch is running, by address, and the gates outside that one.
#[derive(Debug)]
pub(crate) struct Gate {
    pub(crate) of: usize,
    pub(crate) outer: Option<Arc<Self>>,
    /// Whether a call of the batch broke a contract, after which none begins.
    pub(crate) is_broken: AtomicBool,
}

impl Gate {
    pub(crate) fn leads_to(&self, registry: usize) -> bool {
        let mut gate = Some(self);
        while let Some(Self { of, outer, .. }) = gate {
            if *of == registry {
                return true;
            }
            gate = outer.as_deref();
        }
        false
    }
}

/// The violations of a call. Most calls have none.
#[derive(Default)]
struct Violations {
    recorded: Mutex<Vec<Violation>>,
    observed: Mutex<Observed>,
}

/// Without the arguments, among which may be secrets.
impl std::fmt::Debug for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope")
            .field("call_id", &self.call_id)
            .field("tool", &self.tool)
            .field("policy", &self.policy)
            .finish_non_exhaustive()
    }
}

impl Scope {
    /// Makes this the scope of a call in a registry. Everything else stays as in an empty scope.
    #[inline]
    pub(crate) fn take_up(&mut self, own: Option<Resolved>, registry: Arc<PolicyLayer>) {
        let of_registry = registry.policy.map(|policy| Resolved {
            policy,
            origin: PolicyOrigin::Registry,
        });
        let resolved = own.or(of_registry);
        self.policy = resolved.unwrap_or_else(Resolved::process);
        self.registry = Some(registry);
        self.depth = 1;
    }

    /// Sets what the call inherits from its run or the call around it. A policy of the tool itself wins over that of the run.
    pub(crate) fn inherit(&mut self, own: Option<Resolved>, outer: Inherited) {
        let of_run = outer.run.as_ref().and_then(|run| run.policy);
        if let (None, Some(policy)) = (own, of_run) {
            let origin = PolicyOrigin::Run;
            self.policy = Resolved { policy, origin };
        }
        self.run = outer.run;
        self.observers = outer.observers;
        self.gate = outer.gate;
        self.caller = outer.caller;
        self.depth = outer.depth + 1;
        self.is_bare = false;
    }

    /// Returns a scope inside another, with all of its settings and without its violations.
    pub(crate) fn below(outer: Option<&Self>) -> Self {
        Self {
            call_id: outer.map(|outer| outer.call_id.clone()).unwrap_or_default(),
            tool: outer.map(|outer| outer.tool.clone()).unwrap_or_default(),
            arguments: String::new(),
            secrets: Secrets::NONE,
            policy: outer.map_or_else(Resolved::process, |outer| outer.policy),
            registry: outer.and_then(|outer| outer.registry.clone()),
            run: outer.and_then(|outer| outer.run.clone()),
            observers: outer
                .map(|outer| outer.observers.clone())
                .unwrap_or_default(),
            of_run: false,
            concluded: AtomicBool::new(false),
            abandoned: AtomicBool::new(false),
            phase: AtomicU8::new(0),
            gate: outer.and_then(|outer| outer.gate.clone()),
            asking: None,
            caller: outer.and_then(|outer| outer.caller.clone()),
            depth: outer.map_or(0, |outer| outer.depth),
            place: outer
                .and_then(|outer| outer.place.as_ref()?.below())
                .map(Arc::new),
            is_bare: outer.is_none(),
            seen: OnceLock::new(),
        }
    }

    /// Returns a scope for observers and approvers, which are told of a call and are not part of it.
    pub(crate) fn aside(outer: Option<&Self>) -> Self {
        let mut aside = Self::below(None);
        if let Some(outer) = outer {
            aside.depth = outer.depth;
            aside.observers.audience = outer.observers.audience;
        }
        aside
    }

    /// Hides the secrets of the call in a violation of a nested function, whose parameters have other names.
    pub(crate) fn hide_secrets(&self, violation: &mut Violation, author_wrote_it_whole: bool) {
        if self.secrets.is_empty() {
            return;
        }
        let sent: Map<String, Value> = serde_json::from_str(&self.arguments).unwrap_or_default();
        for (_, secret) in sent.iter().filter(|(name, _)| self.secrets.has(name)) {
            violation.hide(secret, author_wrote_it_whole);
        }
    }

    /// Returns whether the call has no violation.
    #[inline]
    pub(crate) fn is_clean(&self) -> bool {
        self.seen.get().is_none()
    }

    /// Keeps a violation that is about to unwind.
    #[cold]
    pub(crate) fn record(&self, violation: Violation) {
        let late = violation.clone();
        locked(&self.seen.get_or_init(Box::default).recorded).push(violation);
        // Sequentially consistent on both sides: either this sees that the call is over, or `conclude` sees the violation.
        fence(Ordering::SeqCst);
        if self.of_run && self.concluded.load(Ordering::Relaxed) {
            self.end_run();
            observer::tell(Some(self), &CheckEvent::Late(&late));
        }
    }

    /// Keeps the violation that a body panicked with, if it began where this scope was not carried, such as on a thread of a pool.
    #[cold]
    pub(crate) fn adopt(&self, panicked: Panicked) {
        let Some(mut violation) = panicked.violation else {
            return;
        };
        if self.recorded().is_none() {
            violation.call_id = Some(self.call_id.clone()).filter(|id| !id.is_empty());
            self.hide_secrets(&mut violation, false);
            self.record(*violation);
        }
    }

    /// Keeps a violation that cannot unwind. It ends the call, unless an earlier one has.
    #[cold]
    pub(crate) fn record_late(&self, violation: Violation) {
        if self.recorded().is_some() {
            return self.observe(violation);
        }
        self.record(violation);
    }

    /// Notes that the caller has given up the call: what it has not made lasting yet is not made lasting.
    #[cold]
    pub(crate) fn abandon(&self) {
        self.abandoned.store(true, Ordering::Release);
    }

    /// Notes that the call has its outcome: later violations are reported as late.
    #[inline]
    pub(crate) fn conclude(&self) {
        if self.of_run {
            self.concluded.store(true, Ordering::Relaxed);
            fence(Ordering::SeqCst);
        }
    }

    /// Lets no further call of the run in, where the run ends with its first violation.
    pub(crate) fn end_run(&self) {
        if let Some(run) = self.run.as_deref().filter(|run| run.ends) {
            run.over.store(true, Ordering::Relaxed);
        }
    }

    /// The violation that ends the call: the first one is the cause of any other.
    pub(crate) fn recorded(&self) -> Option<Violation> {
        locked(&self.seen.get()?.recorded).first().cloned()
    }

    /// Takes back the violation that unwound out of a predicate or a message, which are judged for themselves.
    #[cold]
    pub(crate) fn retract(&self, panicked: &Panicked) {
        let (Some(seen), Some(text)) = (self.seen.get(), &panicked.text) else {
            return;
        };
        let mut recorded = locked(&seen.recorded);
        if recorded
            .last()
            .is_some_and(|last| last.to_string() == *text)
        {
            recorded.pop();
        }
    }

    #[cold]
    pub(crate) fn observe(&self, violation: Violation) {
        let seen = self.seen.get_or_init(Box::default);
        ignore_poison(seen.observed.lock()).add(violation);
    }

    /// Takes the observed violations for the outcome of the call.
    pub(crate) fn observed(&self) -> Vec<Violation> {
        let seen = self.seen.get();
        seen.map_or_else(Vec::new, |seen| ignore_poison(seen.observed.lock()).take())
    }

    #[inline]
    pub(crate) fn count(&self, counts: Counts) {
        if counts != Counts::default() {
            self.add(counts);
        }
    }

    fn add(&self, counts: Counts) {
        for layer in [&self.registry, &self.run].into_iter().flatten() {
            layer.counters.add(counts);
            let mut outer = layer.outer.as_deref();
            while let Some(layer) = outer {
                layer.counters.add(counts);
                outer = layer.outer.as_deref();
            }
        }
    }
}

fn locked(list: &Mutex<Vec<Violation>>) -> MutexGuard<'_, Vec<Violation>> {
    ignore_poison(list.lock())
}

impl ContractScope {
    pub(crate) const EMPTY: Self = Self(None);

    pub(crate) fn new(scope: Scope) -> Self {
        Self(Some(Arc::new(scope)))
    }

    /// Returns the scope of the innermost call around this code; outside any call, the empty scope.
    #[must_use]
    pub fn current() -> Self {
        with_current(Self::clone).unwrap_or(Self::EMPTY)
    }

    /// Returns whether no call is around this code.
    #[inline]
    pub(crate) fn is_outermost() -> bool {
        with_current(|scope| scope.0.is_none()).unwrap_or(true)
    }

    /// Counts for the innermost call around this code.
    pub(super) fn count_here(counts: Counts) {
        with_current(|scope| {
            if let Some(scope) = scope.get() {
                scope.count(counts);
            }
        });
    }

    /// Returns the policy of the innermost call around this code, if its scope is bare.
    #[inline]
    pub(crate) fn bare_policy() -> Option<Resolved> {
        let of = |scope: &Self| match scope.get() {
            Some(scope) if scope.is_bare => Some(scope.policy),
            _ => None,
        };
        with_current(of).flatten()
    }

    /// Returns what a call made here inherits; `None` outside of any call.
    #[inline]
    pub(crate) fn inherited() -> Option<Box<Inherited>> {
        let of = |scope: &Self| {
            scope.get().map(|scope| {
                Box::new(Inherited {
                    run: scope.run.clone(),
                    observers: scope.observers.clone(),
                    gate: scope.gate.clone(),
                    depth: scope.depth,
                    caller: scope.caller.clone(),
                    place: scope.place.clone(),
                })
            })
        };
        with_current(of).flatten()
    }

    /// Returns the scope of a hook, which may itself make calls, one level deeper than the call around it.
    pub(crate) fn deeper(&self) -> Self {
        let mut scope = Scope::below(self.get());
        scope.depth += 1;
        Self::new(scope)
    }

    pub(super) fn set_phase(&self, phase: Phase) {
        if let Some(scope) = self.get() {
            scope.phase.store(phase as u8, Ordering::Release);
        }
    }

    /// Returns the phase in which the call was cut short; of a call that was not, [`Phase::Body`].
    pub(crate) fn phase(&self) -> Phase {
        match self.get().map(|scope| scope.phase.load(Ordering::Acquire)) {
            Some(1) => Phase::BeforeBody,
            Some(2) => Phase::Result,
            _ => Phase::Body,
        }
    }

    pub(crate) fn get(&self) -> Option<&Scope> {
        self.0.as_deref()
    }

    /// The arguments as they were sent.
    pub(crate) fn arguments(&self) -> &str {
        self.get().map_or("", |scope| &scope.arguments)
    }

    /// Runs a future inside this scope, wherever it is polled.
    pub async fn wrap<F: Future>(self, future: F) -> F::Output {
        match self.0 {
            None => future.await,
            Some(_) => polled_within(self, future).await,
        }
    }

    /// Makes a closure that runs inside this scope, on whatever thread it is called.
    pub fn wrap_fn<T>(self, run: impl FnOnce() -> T) -> impl FnOnce() -> T {
        move || self.enter(run)
    }

    pub(crate) fn enter<T>(mut self, run: impl FnOnce() -> T) -> T {
        self.lend(run)
    }

    /// Runs code inside this scope; the handle is empty meanwhile.
    #[inline]
    pub(crate) fn lend<T>(&mut self, run: impl FnOnce() -> T) -> T {
        match self.0 {
            None => run(),
            Some(_) => within(self, run),
        }
    }

    /// Returns the policy of a function that is called here.
    pub(crate) fn policy(&self) -> Resolved {
        self.get()
            .map_or_else(Resolved::process, |scope| scope.policy)
    }

    /// Runs an author's predicate or message, whose panic is not one of the body.
    ///
    /// Like [`guard`](super::panics::guard), but inlined: another function would be compiled again for each condition.
    #[inline]
    pub(crate) fn guard<T>(&self, run: impl FnOnce() -> T) -> Result<T, Panicked> {
        match catch_unwind(AssertUnwindSafe(run)) {
            Ok(value) => Ok(value),
            Err(payload) => Err(self.retracted(payload)),
        }
    }

    #[cold]
    pub(super) fn retracted(&self, payload: Box<dyn Any + Send>) -> Panicked {
        let panicked = Panicked::new(payload);
        if let Some(scope) = self.get() {
            scope.retract(&panicked);
        }
        panicked
    }
}

/// How many violations that did not end a call are kept; a condition in a loop must not fill the memory.
const OBSERVED: usize = 100;

/// The most bytes of values that observed violations keep together; several may name the same large parameter.
const OBSERVED_BYTES: usize = 1 << 20;

/// The violations of one call that did not end it.
#[derive(Default)]
struct Observed {
    all: Vec<Violation>,
    bytes: usize,
}

impl Observed {
    /// Adds a violation. It shares equal values with those before it; its own are shortened when there are too many bytes.
    fn add(&mut self, mut violation: Violation) {
        if self.all.len() == OBSERVED {
            return;
        }
        for before in &self.all {
            violation.values.share_with(&before.values);
        }
        let bytes = self.bytes.saturating_add(violation.values.own_bytes());
        if bytes > OBSERVED_BYTES {
            violation.shorten_values();
        } else {
            self.bytes = bytes;
        }
        self.all.push(violation);
    }

    fn take(&mut self) -> Vec<Violation> {
        self.bytes = 0;
        std::mem::take(&mut self.all)
    }
}

/// Returns the violations for serialization, where values cannot be shared: values are shortened once there are too many bytes.
pub(crate) fn written(observed: &[Violation]) -> Vec<Violation> {
    let mut bytes = 0_usize;
    let one = |violation: &Violation| {
        let mut violation = violation.clone();
        let with = bytes.saturating_add(violation.values.bytes());
        if with > OBSERVED_BYTES {
            violation.shorten_values();
        } else {
            bytes = with;
        }
        violation
    };
    observed.iter().map(one).collect()
}
