//! Panics: of an author's code, which are caught, and of violations, which end direct calls and are known again where they are caught.

use std::any::Any;
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any, resume_unwind};
use std::pin::pin;
use std::sync::{LockResult, Mutex, PoisonError};
use std::task::Poll;

use super::frame::Stop;
use super::scope::{ContractScope, Scope};
use super::thread::{self, TooDeep};
use super::violation::{Detection, Violation};

/// Calls contracted functions directly and returns the violation that ended them, if one did.
///
/// A violation is returned even if the code in between caught its panic. Any other panic continues to unwind. In a destructor that
/// runs while a panic unwinds, a body runs in spite of its precondition, whose violation is still returned.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// #[pre(divisor != 0.0, "cannot divide by zero")]
/// fn divide(dividend: f64, divisor: f64) -> f64 {
///     dividend / divisor
/// }
///
/// assert_eq!(contract_runtime::catch(|| divide(6.0, 3.0)), Ok(2.0));
/// let violation = contract_runtime::catch(|| divide(6.0, 0.0)).unwrap_err();
/// assert_eq!(violation.message.as_deref(), Some("cannot divide by zero"));
/// ```
///
/// # Errors
///
/// The first violation under an enforcing policy.
#[allow(
    clippy::result_large_err,
    reason = "the cold path of tests and of callers who want the data"
)]
pub fn catch<T>(run: impl FnOnce() -> T) -> Result<T, Violation> {
    let scope = fresh();
    let result = catch_unwind(AssertUnwindSafe(|| scope.clone().enter(run)));
    conclude(&scope, result)
}

/// Catches violations of an async call, as [`catch`] does for a sync one.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// #[pre(!name.is_empty())]
/// async fn greet(name: &str) -> String {
///     format!("hello {name}")
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let violation = contract_runtime::catch_async(greet("")).await.unwrap_err();
/// assert_eq!(violation.predicate, "!name.is_empty()");
/// # }
/// ```
///
/// # Errors
///
/// The first violation under an enforcing policy.
#[allow(
    clippy::result_large_err,
    reason = "the cold path of tests and of callers who want the data"
)]
pub async fn catch_async<F: Future>(future: F) -> Result<F::Output, Violation> {
    let outer = ContractScope::current();
    let scope = fresh();
    // Declared first, so that it is dropped after the future.
    let mut waiting = Waiting {
        scope: scope.clone(),
        outer,
        over: false,
    };
    let mut wrapped = pin!(scope.clone().wrap(future));
    let result =
        poll_fn(
            |task| match catch_unwind(AssertUnwindSafe(|| wrapped.as_mut().poll(task))) {
                Ok(Poll::Pending) => Poll::Pending,
                Ok(Poll::Ready(value)) => Poll::Ready(Ok(value)),
                Err(payload) => Poll::Ready(Err(payload)),
            },
        )
        .await;
    waiting.over = true;
    conclude(&scope, result)
}

/// Reports a violation to the outer scope when the future is dropped before it has ended.
struct Waiting {
    scope: ContractScope,
    outer: ContractScope,
    over: bool,
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let recorded = self.scope.get().and_then(Scope::recorded);
        if let (false, Some(violation), Some(outer)) = (self.over, recorded, self.outer.get()) {
            outer.record(violation);
        }
    }
}

fn fresh() -> ContractScope {
    ContractScope::new(Scope::below(ContractScope::current().get()))
}

#[allow(clippy::result_large_err, reason = "see `catch`")]
fn conclude<T>(scope: &ContractScope, result: std::thread::Result<T>) -> Result<T, Violation> {
    // Taken in any case: the next panic may have its text where this one had it. It is the violation of this call if it began on a
    // thread without this scope, and was resumed here.
    let unwound = result
        .as_ref()
        .err()
        .and_then(|payload| in_flight(&**payload));
    match (scope.get().and_then(Scope::recorded).or(unwound), result) {
        (Some(violation), result) => {
            discard(result);
            Err(violation)
        }
        (None, Ok(value)) => Ok(value),
        (None, Err(payload)) => resume_unwind(payload),
    }
}

/// Ends a direct Rust call: returns the result, or unwinds with the violation.
#[track_caller]
#[inline]
pub fn settle<T>(result: Result<T, Stop>) -> T {
    match result {
        Ok(value) => value,
        Err(stop) => unwind(stop),
    }
}

/// Ends a direct Rust call whose caller needs no value, so that it can go on where a panic would end the process: the violation is
/// noted, and the body was not entered.
#[track_caller]
#[inline]
pub fn settle_unit(result: Result<(), Stop>) {
    if let Err(stop) = result
        && let Err(stop) = unless_fatal(&ContractScope::current(), stop)
    {
        unwind(stop)
    }
}

#[cold]
#[track_caller]
pub(crate) fn unwind(stop: Stop) -> ! {
    let Stop::Violation(violation) = stop else {
        unreachable!("only a call by name asks for the checks alone")
    };
    let text = violation.to_string();
    keep(&text, &violation);
    match ContractScope::current().get() {
        // The outcome of the call tells what happened, so the panic hook stays silent.
        Some(scope) if cfg!(panic = "unwind") => {
            scope.record(*violation);
            resume_unwind(Box::new(text))
        }
        _ => panic_any(text),
    }
}

/// Lets the code go on where a panic could abort the process: while another panic unwinds, or while the thread is ending.
///
/// It cannot be known whether the panic would leave a destructor: a `catch` inside of one looks the same.
#[cold]
pub(crate) fn unless_fatal(scope: &ContractScope, stop: Stop) -> Result<(), Stop> {
    match stop {
        Stop::Violation(violation) if std::thread::panicking() || thread::is_ending() => {
            if let Some(scope) = scope.get() {
                scope.record_late(*violation);
            }
            Ok(())
        }
        stop => Err(stop),
    }
}

/// How many violations that unwind are kept; most are never looked for, and the oldest give way.
const MOST: usize = 32;

static IN_FLIGHT: Mutex<VecDeque<Unwinding>> = Mutex::new(VecDeque::new());

/// A violation that unwinds, by the text with which it does: code that catches a panic on one thread and resumes it on another, as thread
/// pools do, hands on the text and nothing else.
struct Unwinding {
    /// Where its text is, which no other panic has while it unwinds.
    at: usize,
    text: String,
    violation: Violation,
}

/// Keeps a violation that is about to unwind with this text.
#[cold]
fn keep(text: &str, violation: &Violation) {
    let mut violation = violation.clone();
    violation.shorten_values();
    let mut all = ignore_poison(IN_FLIGHT.lock());
    if all.len() == MOST {
        all.pop_front();
    }
    all.push_back(Unwinding {
        at: text.as_ptr().addr(),
        text: text.to_owned(),
        violation,
    });
}

/// Takes the violation that unwinds with this very payload.
#[cold]
fn in_flight(payload: &(dyn Any + Send)) -> Option<Violation> {
    let text = payload.downcast_ref::<String>()?;
    let at = text.as_ptr().addr();
    let mut all = ignore_poison(IN_FLIGHT.lock());
    let is_this = |one: &Unwinding| one.at == at && one.text == *text;
    let place = all.iter().rposition(is_this)?;
    all.remove(place).map(|one| one.violation)
}

/// Runs code that is not ours and returns what it panicked with.
///
/// `AssertUnwindSafe` is sound here because nothing the closure may have left half changed is ours: what belongs to the
/// caller is the caller's to judge, as it is when one request of a server panics.
///
/// # Errors
///
/// When the code panics.
pub fn guard<T>(run: impl FnOnce() -> T) -> Result<T, Panicked> {
    catch_unwind(AssertUnwindSafe(run)).map_err(Panicked::new)
}

/// A caught panic. Its payload is dropped here, because its destructor may panic again.
#[derive(Debug)]
pub struct Panicked {
    pub(crate) text: Option<String>,
    is_too_deep: bool,
    /// The violation that unwound with this text, wherever it began.
    pub(crate) violation: Option<Box<Violation>>,
}

impl Panicked {
    #[cold]
    pub(super) fn new(payload: Box<dyn Any + Send>) -> Self {
        let violation = in_flight(&*payload).map(Box::new);
        let text = payload.downcast_ref::<String>().cloned();
        let is_too_deep = payload.is::<TooDeep>();
        discard(payload);
        Self {
            text,
            is_too_deep,
            violation,
        }
    }

    /// Why a condition that panicked could not be judged.
    pub(crate) fn detection(&self) -> Detection {
        // A condition around one that was nested too deeply cannot be judged for the same reason.
        let inner = self.violation.as_ref().map(|violation| violation.detection);
        if self.is_too_deep || inner == Some(Detection::NestedTooDeep) {
            Detection::NestedTooDeep
        } else {
            Detection::Panicked
        }
    }
}

/// Returns the guard of a lock, poisoned or not: no panic leaves a value of this crate half changed.
pub(crate) fn ignore_poison<T>(result: LockResult<T>) -> T {
    result.unwrap_or_else(PoisonError::into_inner)
}

/// Drops a value whose destructor may panic, and whose panic may again have such a destructor.
pub(crate) fn discard<T>(value: T) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(value))) {
        std::mem::forget(payload);
    }
}
