//! What the hooks of a server are given: the incoming call.

use std::fmt;
use std::sync::Arc;

use contract_runtime::__family::guard;
use contract_runtime::{Context, Run};
#[cfg(feature = "http")]
use hyper::http::request::Parts;
use rmcp::model::Extensions;
use rmcp::service::{Peer, RoleServer};

#[cfg(feature = "http")]
use super::auth::Principal;

/// An incoming call before it is made, from which its context can be chosen.
///
/// ```
/// use contract_mcp::Server;
/// use contract_runtime::prelude::*;
///
/// /// What the caller may spend, by a header that a proxy in front of this server sets.
/// struct Budget(u32);
///
/// /// Buy something.
/// #[tool]
/// #[pre(cents <= budget.0)]
/// fn buy(cents: u32, #[context] budget: &Budget) {}
///
/// let registry = Registry::builder().tool(buy).context_per_call::<Budget>().build()?;
/// let server = Server::new(registry).context(|asked| {
///     let cents = asked.header("x-budget").and_then(|text| text.parse().ok());
///     Context::new().with(Budget(cents.unwrap_or(0)))
/// });
/// # let _ = server;
/// # Ok::<(), BuildError>(())
/// ```
#[derive(Clone, Copy)]
pub struct CallRequest<'a> {
    pub(super) tool: &'a str,
    pub(super) id: &'a str,
    #[cfg_attr(not(feature = "http"), allow(dead_code, reason = "only HTTP has some"))]
    pub(super) extensions: &'a Extensions,
    pub(super) peer: &'a Peer<RoleServer>,
}

impl CallRequest<'_> {
    /// Returns the name of the tool as it was sent; there may be no such tool. It is empty where a client asks for the list of
    /// tools.
    #[must_use]
    pub fn tool(&self) -> &str {
        self.tool
    }

    /// Returns the client's id of the request; two clients may use the same one.
    #[must_use]
    pub fn id(&self) -> &str {
        self.id
    }

    /// Returns the client, for what only the program itself can ask of it: its model (sampling), its folders (roots), or a form of
    /// the program's own.
    ///
    /// A tool gets it from the context: `.context(|asked| Context::new().with(asked.client().clone()))`.
    #[must_use]
    pub fn client(&self) -> &Peer<RoleServer> {
        self.peer
    }

    /// Returns who sent the HTTP request, as [`Server::authorize`](crate::Server::authorize) has found out.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn principal(&self) -> Option<&Principal> {
        self.extension()
    }

    /// Returns a header of the HTTP request, if it came over HTTP and the value is visible ASCII.
    #[cfg(feature = "http")]
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        let parts = self.extensions.get::<Parts>()?;
        parts.headers.get(name)?.to_str().ok()
    }

    /// Returns a value that a layer in front of the service has put into the extensions of the HTTP request, such as the
    /// authenticated user; see [`Server::into_service`](crate::Server::into_service).
    #[cfg(feature = "http")]
    #[must_use]
    pub fn extension<T: Send + Sync + 'static>(&self) -> Option<&T> {
        self.extensions.get::<Parts>()?.extensions.get()
    }
}

impl fmt::Debug for CallRequest<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Headers carry credentials.
        f.debug_struct("CallRequest")
            .field("tool", &self.tool)
            .field("id", &self.id)
            .finish_non_exhaustive()
    }
}

type Runs = dyn Fn(&CallRequest<'_>) -> Option<Run> + Send + Sync;
type Choose = dyn Fn(&CallRequest<'_>) -> Context + Send + Sync;

const FAULT: &str = "the server could not prepare the call; this is a fault of the server";

/// The hooks that a program adds to the calls of its server.
#[derive(Clone, Default)]
pub(super) struct Hooks {
    pub(super) context: Option<Arc<Choose>>,
    pub(super) run: Option<Run>,
    pub(super) runs: Option<Arc<Runs>>,
}

impl Hooks {
    /// Returns the context of a call; the error, for the model, says that the program's closure panicked.
    ///
    /// `session` is the run of the session that it belongs to.
    pub(super) fn context(
        &self,
        asked: &CallRequest<'_>,
        session: Option<&Run>,
    ) -> Result<Context, &'static str> {
        let context = match &self.context {
            None => Context::new(),
            Some(choose) => guard(|| choose(asked)).map_err(|_| FAULT)?,
        };
        #[cfg(feature = "http")]
        let context = match asked.principal() {
            None => context,
            Some(principal) => context
                .or(principal.of_calls())
                .identified_as(principal.shared_id()),
        };
        if let Some(run) = self.run_of(asked)? {
            return Ok(context.run(&run));
        }
        Ok(match (session, &self.run) {
            // The program knows better what belongs together.
            (_, None) if context.has_run() => context,
            (Some(run), _) => context.run(run),
            (None, Some(run)) => context.run(&run.without_history()),
            (None, None) => context,
        })
    }

    /// The run that the program has for whoever asks.
    fn run_of(&self, asked: &CallRequest<'_>) -> Result<Option<Run>, &'static str> {
        let Some(runs) = &self.runs else {
            return Ok(None);
        };
        guard(|| runs(asked)).map_err(|_| FAULT)
    }

    /// Returns whether the program has a run for the client of this request.
    pub(super) fn has_run_of(&self, asked: &CallRequest<'_>) -> bool {
        self.run_of(asked).is_ok_and(|run| run.is_some())
    }

    /// A run for one session.
    pub(super) fn session(&self) -> Run {
        self.run.as_ref().map_or_else(Run::new, Run::for_session)
    }
}
