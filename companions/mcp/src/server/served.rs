//! The tools of a server, which can be replaced while it runs.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use contract_runtime::Registry;
use parking_lot::RwLock;
use tokio::sync::broadcast::{self, error::RecvError};

use super::list::List;
use crate::ServeError;

/// How many changes a client may be behind.
const CHANGES: usize = 16;

/// The tools of a running server, which can be replaced; see [`Server::tools`](crate::Server::tools).
///
/// Every clone is of the same server, and so are those of a [`Server`](crate::Server) that is cloned.
///
/// ```
/// use contract_mcp::Server;
/// use contract_runtime::prelude::*;
///
/// /// Ring the bell.
/// #[tool]
/// fn ring() {}
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::new(Registry::builder().build()?);
/// let tools = server.tools();
/// // Later, while the server runs:
/// tools.replace(Registry::builder().tool(ring).build()?)?;
/// assert!(tools.registry().tool("ring").is_some());
/// # let _ = server;
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct ServedTools(Arc<Inner>);

struct Inner {
    current: RwLock<Arc<Served>>,
    /// Whether clients are told that the list may change.
    can_change: AtomicBool,
    /// Whose list has changed; `None` means everyone's.
    changes: broadcast::Sender<Option<Arc<str>>>,
}

/// A registry and its list, as they are served together.
pub(super) struct Served {
    pub(super) registry: Registry,
    pub(super) list: List,
}

/// The changes of the list that one client is told of.
pub(super) struct Changes {
    of_all: broadcast::Receiver<Option<Arc<str>>>,
    principal: Option<Arc<str>>,
}

impl Changes {
    /// Waits for the next change. Returns false when there will be none, because the tools are served no more.
    pub(super) async fn next(&mut self) -> bool {
        loop {
            match self.of_all.recv().await {
                Err(RecvError::Closed) => return false,
                Ok(Some(of)) if Some(&of) != self.principal.as_ref() => {}
                // It is not known whose list the changes concern that were missed.
                Ok(_) | Err(RecvError::Lagged(_)) => return true,
            }
        }
    }
}

impl ServedTools {
    pub(super) fn new(registry: Registry) -> Self {
        let list = List::default();
        Self(Arc::new(Inner {
            current: RwLock::new(Arc::new(Served { registry, list })),
            can_change: AtomicBool::new(false),
            changes: broadcast::Sender::new(CHANGES),
        }))
    }

    /// Lists the tools, before the first request.
    pub(super) fn start(&self) -> Result<(), ServeError> {
        self.serve(self.current().registry.clone())
    }

    fn serve(&self, registry: Registry) -> Result<(), ServeError> {
        let list = List::new(&registry)?;
        *self.0.current.write() = Arc::new(Served { registry, list });
        Ok(())
    }

    /// Replaces the tools, and tells the clients that the list has changed.
    ///
    /// Calls that are running go on with the tools that they began with, and a question that is open is asked again.
    ///
    /// # Errors
    ///
    /// [`ServeError::Tool`]; then the tools stay as they are.
    pub fn replace(&self, registry: Registry) -> Result<(), ServeError> {
        self.serve(registry)?;
        self.tell_changed(None);
        Ok(())
    }

    /// Tells the clients of one principal that their list has changed, where
    /// [`Builder::visible`](contract_runtime::Builder::visible) shows this principal other tools than before.
    pub fn changed_for(&self, principal: &str) {
        self.tell_changed(Some(principal));
    }

    fn tell_changed(&self, of: Option<&str>) {
        // An error means that no client is told of changes.
        let _ = self.0.changes.send(of.map(Arc::from));
    }

    /// Returns the registry that is served now.
    #[must_use]
    pub fn registry(&self) -> Registry {
        self.current().registry.clone()
    }

    pub(super) fn current(&self) -> Arc<Served> {
        Arc::clone(&self.0.current.read())
    }

    /// The same, which somebody may replace.
    pub(super) fn given_out(&self) -> Self {
        self.0.can_change.store(true, Ordering::Relaxed);
        self.clone()
    }

    pub(super) fn can_change(&self) -> bool {
        self.0.can_change.load(Ordering::Relaxed)
    }

    /// Returns the changes from now on that concern a principal.
    pub(super) fn changes(&self, principal: Option<Arc<str>>) -> Changes {
        let of_all = self.0.changes.subscribe();
        Changes { of_all, principal }
    }
}

impl fmt::Debug for ServedTools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("ServedTools")
            .field(&self.current().registry)
            .finish()
    }
}
