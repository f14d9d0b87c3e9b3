//! A snapshot of a backend's counters.

use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

/// A snapshot of what a backend holds, and of how many connections it has refused since it began; for dashboards.
///
/// ```
/// # use contract_manifest::ToManifest as _;
/// # use contract_runtime::Registry;
/// # use contract_remote::Backend;
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let tools = Registry::builder().build()?;
/// let backend = Backend::new(tools.manifest()).bind("127.0.0.1:0").await?;
/// let (_task, _token) = backend.task().await?;
/// assert_eq!((backend.state().tasks, backend.state().attached), (1, 0));
/// # Ok(()) }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct BackendState {
    /// Connections, including those that have not authenticated yet.
    pub connections: usize,
    /// Open tasks, for which an executor may connect.
    pub tasks: usize,
    /// Tasks whose executor is attached.
    pub attached: usize,
    /// Calls without a known end.
    pub open_calls: usize,
    /// Connections that authenticated and were accepted.
    pub accepted: u64,
    /// Connections that were refused.
    pub rejections: Rejections,
    /// Whether the backend is shutting down and accepts no more executors or calls.
    pub shutting_down: bool,
}

macro_rules! rejections {
    ($($(#[$doc:meta])* $field:ident $reason:ident)*) => {
        /// How many connections were refused, by reason.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        #[non_exhaustive]
        pub struct Rejections {
            $($(#[$doc])* pub $field: u64,)*
        }

        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Rejection {
            $($reason,)*
        }

        #[derive(Debug, Default)]
        pub(super) struct Counters {
            pub(super) accepted: AtomicU64,
            $($field: AtomicU64,)*
        }

        impl Counters {
            pub(super) fn count(&self, reason: Rejection) {
                let counted = match reason {
                    $(Rejection::$reason => &self.$field,)*
                };
                counted.fetch_add(1, Ordering::Relaxed);
            }

            pub(super) fn rejections(&self) -> Rejections {
                Rejections {
                    $($field: self.$field.load(Ordering::Relaxed),)*
                }
            }
        }
    };
}

rejections! {
    /// The request was not a valid executor handshake.
    malformed Malformed
    /// The request came from a web page whose origin is not allowed.
    origin Origin
    /// The token was missing or wrong.
    token Token
    /// A rate limit was exceeded.
    rate Rate
    /// A connection limit was reached.
    full Full
    /// The task was not open on this backend, or not reopened yet.
    closed Closed
    /// The backend was shutting down.
    shutting_down ShuttingDown
    /// The store could not be read to look up the task.
    store Store
    /// The request header did not arrive in time.
    silent Silent
    /// The TLS handshake failed.
    tls Tls
}
