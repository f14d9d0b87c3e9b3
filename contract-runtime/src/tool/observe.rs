//! Observers of calls and of what happens inside them.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, RwLock};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::context::{Context, now};
use super::outcome::Outcome;
use super::wire::ToolCall;
use crate::contract::observer::{self, Audience, CheckEvent, Watcher};
use crate::contract::panics::{discard, guard, ignore_poison};
use crate::contract::scope::ContractScope;
use crate::contract::violation::Violation;

type OfCalls = Arc<dyn Fn(&ObservedCall, Option<(&Outcome, Duration)>) + Send + Sync>;

/// Closures that are told of calls, violations and conditions, and change no decision.
///
/// An observer is given to a [registry](crate::Builder::observe), a [run](crate::Run::observe), a
/// [context](crate::Context::observe) or the [process](set_process_observer). Each observer is told of every event, and what it
/// does not ask for costs nothing. It must be quick, because it runs inside the call. A panic of an observer changes nothing, and
/// no observer is told of what happens inside of one.
///
/// Direct Rust calls are not calls by name, so they have no start and no end; their violations and conditions are events.
/// [Checks](crate::Registry::check) have neither, and one of
/// [every condition](crate::call::Call::every_condition) tells only the observers of its own run and context.
///
/// ```
/// use contract_runtime::observe::{CheckEvent, Observer};
/// use contract_runtime::prelude::*;
///
/// /// Divide one number by another.
/// #[tool(read_only)]
/// #[pre(divisor != 0, "cannot divide by zero")]
/// fn divide(dividend: i32, divisor: i32) -> Option<i32> {
///     dividend.checked_div(divisor)
/// }
///
/// let observer = Observer::new()
///     .violations(|violation| eprintln!("{}", violation.masked()))
///     .call_ended(|observed, outcome, duration| {
///         let user = observed.context.caller().unwrap_or("anonymous");
///         println!("{} for {user}: {} after {duration:?}", observed.call.name, outcome.status());
///     });
/// let registry = Registry::builder().tool(divide).observe(observer).build()?;
/// let of_one_call = Observer::new().events(|event| {
///     if let CheckEvent::Check(check) = event {
///         assert_eq!(check.contract, "divide.pre[0]");
///     }
/// });
/// let context = Context::new().identified_as("ada").observe(of_one_call);
/// let _ = registry.call(("1", "divide", r#"{"dividend":6,"divisor":0}"#)).context(context).blocking();
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct Observer {
    calls: Vec<OfCalls>,
    pub(crate) watchers: Vec<Watcher>,
}

impl std::fmt::Debug for Observer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Observer").finish_non_exhaustive()
    }
}

impl Observer {
    /// Creates an observer that asks for nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Calls this before a call by name is made, and also before one that is then refused.
    ///
    /// An observer of a run or a context is told of the calls that are made with it, and not of those that their bodies make.
    pub fn call_began(mut self, tell: impl Fn(&ObservedCall) + Send + Sync + 'static) -> Self {
        self.calls.push(Arc::new(move |call, end| {
            if end.is_none() {
                tell(call);
            }
        }));
        self
    }

    /// Calls this after a call by name has ended, with its outcome and how long it took.
    ///
    /// A call whose future is dropped has no outcome, and this is not called.
    pub fn call_ended(
        mut self,
        tell: impl Fn(&ObservedCall, &Outcome, Duration) + Send + Sync + 'static,
    ) -> Self {
        self.calls.push(Arc::new(move |call, end| {
            if let Some((outcome, duration)) = end {
                tell(call, outcome, duration);
            }
        }));
        self
    }

    /// Calls this for each condition that does not hold, unless its policy is
    /// [`QuickEnforce`](crate::Policy::QuickEnforce), which shows only in the outcome of the call.
    pub fn violations(self, tell: impl Fn(&Violation) + Send + Sync + 'static) -> Self {
        self.watch(false, move |event| {
            if let CheckEvent::Violation(violation) = event {
                tell(violation);
            }
        })
    }

    /// Calls this for everything that happens inside of calls: each condition that is evaluated, violations, bodies that are
    /// reached, and questions.
    pub fn events(self, tell: impl Fn(CheckEvent<'_>) + Send + Sync + 'static) -> Self {
        self.watch(true, tell)
    }

    fn watch(
        mut self,
        of_conditions: bool,
        tell: impl Fn(CheckEvent<'_>) + Send + Sync + 'static,
    ) -> Self {
        let tell = Arc::new(tell);
        self.watchers.push(Watcher {
            of_conditions,
            tell,
        });
        self
    }

    pub(crate) fn add(&mut self, other: Self) {
        self.calls.extend(other.calls);
        self.watchers.extend(other.watchers);
    }

    #[inline]
    pub(crate) fn observes_conditions(&self) -> bool {
        self.watchers.iter().any(|watcher| watcher.of_conditions)
    }

    #[inline]
    pub(crate) fn observes_calls(&self) -> bool {
        !self.calls.is_empty()
    }
}

/// A call by name that is observed.
#[derive(Debug)]
pub struct ObservedCall {
    /// A number that no other observed call of the process has; ids of callers may repeat.
    pub number: u64,
    /// The call as it was sent, with its secrets.
    pub call: ToolCall,
    /// The arguments for a log: `"***"` stands in the place of each secret and of each value whose name the tool does not have, or of
    /// everything if the tool is unknown or the text is not a JSON object.
    pub arguments: Value,
    /// The context with which it was made.
    pub context: Context,
    /// Whether its body runs on a thread of its own, and goes on after the future of the call has been dropped.
    pub blocking: bool,
    observer: Observer,
    began: Instant,
}

impl ObservedCall {
    /// Tells the observers of the context, its run, the registry and the process that a call begins.
    pub(crate) fn begin(
        call: ToolCall,
        context: &Context,
        arguments: Value,
        of_registry: &Observer,
        blocking: bool,
    ) -> Self {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        let outer = ContractScope::inherited().unwrap_or_default();
        let audience = outer.observers.audience;
        let mut observer = Observer::new();
        if audience != Audience::None {
            context
                .observers()
                .for_each(|own| observer.add(own.clone()));
        }
        if audience == Audience::All {
            observer.add(of_registry.clone());
            observer.add(ignore_poison(PROCESS.read()).clone());
        }
        let begun = Self {
            number: NUMBERS.fetch_add(1, Ordering::Relaxed),
            call,
            arguments,
            context: context.clone(),
            blocking,
            observer,
            began: now(),
        };
        begun.tell(None);
        begun
    }

    pub(crate) fn end(self, outcome: &Outcome) {
        self.tell(Some((outcome, now().saturating_duration_since(self.began))));
        discard(self);
    }

    fn tell(&self, end: Option<(&Outcome, Duration)>) {
        observer::aside(ContractScope::current().get(), || {
            for tell in &self.observer.calls {
                let _ = guard(|| tell(self, end));
            }
        });
    }
}

static PROCESS: RwLock<Observer> = RwLock::new(Observer {
    calls: Vec::new(),
    watchers: Vec::new(),
});

/// Most processes have no observer of calls, and every call asks.
static OBSERVES_CALLS: AtomicBool = AtomicBool::new(false);

#[inline]
pub(crate) fn process_observes_calls() -> bool {
    OBSERVES_CALLS.load(Ordering::Relaxed)
}

/// Sets the observer of the process, in the place of the one before. It is told of the calls of every registry, and of what
/// happens in direct Rust calls.
///
/// ```
/// use contract_runtime::observe::{Observer, set_process_observer};
///
/// set_process_observer(Observer::new().violations(|violation| eprintln!("{}", violation.masked())));
/// ```
pub fn set_process_observer(observer: Observer) {
    observer::set_process_watchers(observer.watchers.clone());
    OBSERVES_CALLS.store(observer.observes_calls(), Ordering::Relaxed);
    // Dropped after the lock is free: the destructor of what a closure holds is not ours.
    let _old = std::mem::replace(&mut *ignore_poison(PROCESS.write()), observer);
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::Observer;
    use crate::DynamicSpec;
    use crate::contract::scope::ContractScope;
    use crate::prelude::*;

    /// Whether conditions of a call with this observer take the short way, on which no observer is asked for.
    fn is_bare(observer: Observer) -> bool {
        let seen = Arc::new(Mutex::new(None));
        let tool = Tool::dynamic(DynamicSpec::new("look", "Look."), {
            let seen = Arc::clone(&seen);
            move |_| {
                *seen.lock().unwrap() = Some(ContractScope::bare_policy().is_some());
                async { Ok::<_, String>(Content::text("seen")) }
            }
        });
        let registry = Registry::builder().with(tool).observe(observer).build();
        let _ = registry.unwrap().call(("1", "look", "{}")).blocking();
        let seen = seen.lock().unwrap().take();
        seen.unwrap()
    }

    #[test]
    fn only_an_observer_of_events_costs_anything_per_condition() {
        let of_calls = Observer::new()
            .call_began(|_| {})
            .call_ended(|_, _, _| {})
            .violations(|_| {});
        assert!(is_bare(of_calls.clone()));
        assert!(!is_bare(of_calls.events(|_| {})));
    }
}
