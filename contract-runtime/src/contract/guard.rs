//! Runs an author's predicates and messages within a scope.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::panics::Panicked;
use super::scope::ContractScope;

impl ContractScope {
    /// Runs an author's predicate or message, whose panic is not one of the body.
    ///
    /// As [`guard`](super::panics::guard), without a further step, which would be compiled again for each condition.
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
