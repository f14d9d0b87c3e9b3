use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;

/// What a backend holds at one moment, and whom it has turned away since it began; for dashboards.
///
/// ```
/// # use contract_runtime::Registry;
/// # use contract_runtime::remote::Backend;
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
    /// Connections, those that have not shown a token yet included.
    pub connections: usize,
    /// Tasks that an executor may dial in for.
    pub tasks: usize,
    /// Tasks whose executor is there.
    pub attached: usize,
    /// Calls whose end is not known yet.
    pub open_calls: usize,
    /// Connections that showed the right token and were let in.
    pub let_in: u64,
    /// Those that were not.
    pub turned_away: TurnedAway,
    /// It takes no more executors and no more calls.
    pub shutting_down: bool,
}

macro_rules! reasons {
    ($($(#[$doc:meta])* $field:ident $why:ident)*) => {
        /// Connections that were not let in, by reason.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        #[non_exhaustive]
        pub struct TurnedAway {
            $($(#[$doc])* pub $field: u64,)*
        }

        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(super) enum Why {
            $($why,)*
        }

        #[derive(Debug, Default)]
        pub(super) struct Counts {
            pub(super) let_in: AtomicU64,
            $($field: AtomicU64,)*
        }

        impl Counts {
            pub(super) fn count(&self, why: Why) {
                let counted = match why {
                    $(Why::$why => &self.$field,)*
                };
                counted.fetch_add(1, Ordering::Relaxed);
            }

            pub(super) fn turned_away(&self) -> TurnedAway {
                TurnedAway {
                    $($field: self.$field.load(Ordering::Relaxed),)*
                }
            }
        }
    };
}

reasons! {
    /// What they sent is not how an executor asks.
    malformed Malformed
    /// A page in a browser sent them.
    origin Origin
    /// The token was missing, or not that of the task.
    token Token
    /// Too many came in a short time.
    rate Rate
    /// There was no room for another.
    full Full
    /// Their task was not open here, or not again yet.
    closed Closed
    /// The backend was shutting down.
    shutting_down ShuttingDown
    /// The store could not be asked whether there is such a task.
    store Store
    /// The header did not come in time.
    silent Silent
    /// The handshake of TLS failed.
    tls Tls
}
