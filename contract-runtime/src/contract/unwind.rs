//! Ends direct calls by unwinding, except where that could abort the process.

use super::frame::Stop;
use super::in_flight;
use super::scope::ContractScope;
use super::thread;

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
    in_flight::keep(&text, &violation);
    match ContractScope::current().get() {
        // The outcome of the call tells what happened, so the panic hook stays silent.
        Some(scope) if cfg!(panic = "unwind") => {
            scope.record(*violation);
            std::panic::resume_unwind(Box::new(text))
        }
        _ => std::panic::panic_any(text),
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
