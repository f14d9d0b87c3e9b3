//! Progress reports of a running call.

use std::fmt;
use std::sync::Arc;

use serde::Serialize;

use crate::contract::panics::guard;

/// Reports how far a call has come, from its body to its caller.
///
/// Without a listener, a report goes nowhere and costs nothing.
///
/// ```
/// use contract_runtime::prelude::*;
///
/// /// Warm the cache.
/// #[tool]
/// fn warm(#[context] progress: &Progress) {
///     progress.report(1.0, Some(2.0), "half way");
/// }
///
/// let registry = Registry::builder().tool(warm).build()?;
/// assert!(registry.call(ToolCall::new("1", "warm", "")).blocking().is_ok());
/// # Ok::<(), contract_runtime::BuildError>(())
/// ```
#[derive(Clone, Default)]
pub struct Progress {
    listener: Option<Arc<dyn Fn(ProgressReport) + Send + Sync>>,
}

/// One progress report of a running call.
///
/// ```
/// use std::sync::{Arc, Mutex};
///
/// use contract_runtime::Progress;
///
/// let seen = Arc::new(Mutex::new(Vec::new()));
/// let told = Arc::clone(&seen);
/// let progress = Progress::new(move |report| told.lock().unwrap().push(report));
/// progress.report(1.0, Some(3.0), "reading");
/// assert_eq!(seen.lock().unwrap()[0].message, "reading");
/// ```
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct ProgressReport {
    /// How much is done, in the unit of `total`.
    pub done: f64,
    /// How much there is to do, if that is known.
    pub total: Option<f64>,
    /// What is being done.
    pub message: String,
}

impl Progress {
    /// Creates a progress whose reports go to `listener`, which must be quick.
    #[must_use]
    pub fn new(listener: impl Fn(ProgressReport) + Send + Sync + 'static) -> Self {
        Self {
            listener: Some(Arc::new(listener)),
        }
    }

    pub(super) fn is_heard(&self) -> bool {
        self.listener.is_some()
    }

    /// Reports how far the call has come.
    pub fn report(&self, done: f64, total: Option<f64>, message: impl Into<String>) {
        if let Some(listener) = &self.listener {
            let message = message.into();
            let report = ProgressReport {
                done,
                total,
                message,
            };
            // The tool is not at fault where a listener panics.
            let _ = guard(|| listener(report));
        }
    }
}

impl fmt::Debug for Progress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Progress")
            .field("is_heard", &self.listener.is_some())
            .finish()
    }
}
