//! `catch` and its async counterpart: the violation of a direct call as a value.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::pin;
use std::task::Poll;

use super::in_flight;
use super::scope::{ContractScope, Scope};
use super::violation::Violation;

/// Calls contracted functions directly and returns the violation that ended them, if one did.
///
/// A violation counts even when the code in between caught its panic and went on. Any other panic goes on unwinding. In a
/// destructor that runs while something unwinds, a body runs in spite of its precondition, whose violation is still returned.
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
    match (scope.get().and_then(Scope::recorded), result) {
        (Some(violation), result) => {
            // The next panic may have its text where this one had it, and is not this violation.
            let payload = result.as_ref().err();
            let text = payload.and_then(|payload| payload.downcast_ref::<String>());
            let _ = text.and_then(|text| in_flight::take(text));
            super::panics::discard(result);
            Err(violation)
        }
        (None, Ok(value)) => Ok(value),
        (None, Err(payload)) => {
            // One that began on a thread without this scope, and was resumed here.
            let text = payload.downcast_ref::<String>();
            match text.and_then(|text| in_flight::take(text)) {
                Some(violation) => {
                    super::panics::discard(payload);
                    Err(violation)
                }
                None => resume_unwind(payload),
            }
        }
    }
}
