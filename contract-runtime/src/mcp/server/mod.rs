//! A registry as a server: what it says of itself, what it lists, and how a call is answered.
//!
//! | file | holds |
//! |---|---|
//! | `handler` | the protocol's requests, each sent to its room |
//! | `list` | `tools/list` in either revision, in pages |
//! | `call` | `tools/call`: cancellation, progress, and the call itself |
//! | `answer` | an [`Outcome`](crate::Outcome) as a `CallToolResult` |
//! | `http` | Streamable HTTP on a listener of its own |

mod answer;
mod call;
mod handler;
mod http;
mod list;

use std::fmt;
use std::net::ToSocketAddrs;

use rmcp::ServiceExt as _;
use rmcp::model::Implementation;

use super::ServeError;
use crate::Registry;
use handler::Handler;
pub use http::Listening;
use list::List;

/// Serves a registry on standard input and output, until the client goes.
///
/// # Errors
///
/// [`ServeError`].
pub async fn serve_stdio(registry: Registry) -> Result<(), ServeError> {
    Server::new(registry).stdio().await
}

/// Serves a registry at `http://{address}/mcp`, to this machine alone.
///
/// # Errors
///
/// [`ServeError`].
pub async fn serve_http(registry: Registry, address: impl ToSocketAddrs) -> Result<(), ServeError> {
    Server::new(registry).bind(address)?.serve().await
}

/// A registry as a server, with what it says of itself.
#[derive(Clone, Debug)]
#[must_use = "a server does nothing until `stdio` or `bind`"]
pub struct Server {
    registry: Registry,
    implementation: Implementation,
    instructions: Option<String>,
    page: usize,
}

impl Server {
    /// A server that calls itself by the package that made the registry with [`registry!`](crate::registry).
    pub fn new(registry: Registry) -> Self {
        let (name, version) = match registry.program() {
            Some(program) => (program.name, program.version),
            None => ("contract-runtime", env!("CARGO_PKG_VERSION")),
        };
        Self {
            implementation: Implementation::new(name, version),
            registry,
            instructions: None,
            page: 100,
        }
    }

    /// What it calls itself.
    pub fn name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.implementation = Implementation::new(name, version);
        self
    }

    /// What a model should know about all its tools together.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Tools in one page of `tools/list`, 100 unless told; at least 1.
    pub fn page(mut self, tools: usize) -> Self {
        self.page = tools.max(1);
        self
    }

    /// Serves one client on standard input and output, until it goes.
    ///
    /// # Errors
    ///
    /// [`ServeError`].
    pub async fn stdio(self) -> Result<(), ServeError> {
        let handler = self.handler()?;
        let service = handler
            .serve(rmcp::transport::stdio())
            .await
            .map_err(|error| ServeError::Begin(error.to_string()))?;
        service
            .waiting()
            .await
            .map_err(|error| ServeError::Connection(error.into()))?;
        Ok(())
    }

    /// Listens for clients on an address, at the path `/mcp`.
    ///
    /// # Errors
    ///
    /// [`ServeError::Bind`], [`ServeError::Export`].
    pub fn bind(self, address: impl ToSocketAddrs) -> Result<Listening, ServeError> {
        http::bind(self.handler()?, address)
    }

    fn handler(&self) -> Result<Handler, ServeError> {
        Ok(Handler::new(self, List::new(&self.registry, self.page)?))
    }
}

impl fmt::Debug for Handler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Handler").finish_non_exhaustive()
    }
}
