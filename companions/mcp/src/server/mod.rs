//! A registry as a server: what it says of itself, what it lists, and how a call is answered.
//!
//! | file | holds |
//! |---|---|
//! | `handler` | the protocol's requests, each sent to its room |
//! | `list` | `tools/list` in either revision, in pages |
//! | `call` | `tools/call`: its limits, its context, its cancellation, and the call itself |
//! | `progress` | the reports of a call, on their way to the client |
//! | `answer` | an [`Outcome`](crate::Outcome) as a `CallToolResult` |
//! | `message` | reading a message without losing how its arguments were written |
//! | `stdio`, `lines` | one client, one message to a line |
//! | `http/` | Streamable HTTP, on a listener of its own or beside other pages |
//! | `hooks` | what a program adds to the calls of its server |
//! | `limits` | what a server grants to its clients |

mod answer;
mod call;
mod handler;
mod hooks;
mod http;
mod limits;
mod lines;
mod list;
mod message;
mod progress;
mod stdio;

use std::fmt;
use std::net::ToSocketAddrs;
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::Implementation;
use tokio::io::{AsyncRead, AsyncWrite};

use super::ServeError;
use crate::{Context, Registry, Run};
use handler::Handler;
use hooks::Hooks;
pub use hooks::{Asked, CallEvent};
pub use http::Listening;
pub(crate) use http::Mounted;
use limits::Limits;

/// Serves a registry on standard input and output, until the client goes; [`Server::stdio`] says how.
///
/// # Errors
///
/// As [`Server::stdio`].
pub async fn serve_stdio(registry: Registry) -> Result<(), ServeError> {
    Server::new(registry).stdio().await
}

/// Serves a registry at `http://{address}/mcp`, to clients on this machine; [`Server::bind`] says how.
///
/// # Errors
///
/// As [`Server::bind`] and [`Listening::serve`].
pub async fn serve_http(registry: Registry, address: impl ToSocketAddrs) -> Result<(), ServeError> {
    Server::new(registry).bind(address)?.serve().await
}

/// A registry as a server of the Model Context Protocol, with what it says of itself and what it grants to its clients.
///
/// ```
/// use contract_runtime::mcp::Server;
/// use contract_runtime::prelude::*;
///
/// /// Add two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> Option<i64> {
///     a.checked_add(b)
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let listening = Server::new(Registry::builder().tool(add).build()?)
///     .title("Sums")
///     .instructions("All numbers are whole.")
///     .bind("127.0.0.1:0")?;
/// let stop = listening.stop();
/// let served = tokio::spawn(listening.serve());
/// stop.cancel();
/// served.await??;
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[must_use = "a server does nothing until `stdio` or `bind`"]
pub struct Server {
    registry: Registry,
    implementation: Implementation,
    instructions: Option<String>,
    page: usize,
    hosts: Vec<String>,
    origins: Vec<String>,
    limits: Limits,
    hooks: Hooks,
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
            hosts: Vec::new(),
            origins: Vec::new(),
            limits: Limits::default(),
            hooks: Hooks::default(),
        }
    }

    /// What it calls itself.
    pub fn name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.implementation.name = name.into();
        self.implementation.version = version.into();
        self
    }

    /// What people read instead of its name.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.implementation.title = Some(title.into());
        self
    }

    /// Where people read more of it.
    pub fn website(mut self, url: impl Into<String>) -> Self {
        self.implementation.website_url = Some(url.into());
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

    /// Makes every call part of a run, which says its policy, hears its violations and counts its conditions.
    pub fn run(mut self, run: &Run) -> Self {
        self.hooks.run = Some(run.clone());
        self
    }

    /// Gives each call its context, such as who is asking.
    ///
    /// Cancellation and progress are the server's: what the context says of them is not used. A closure that panics
    /// fails the call.
    ///
    /// ```
    /// use contract_runtime::mcp::Server;
    /// use contract_runtime::{Context, prelude::*};
    ///
    /// struct User(String);
    ///
    /// /// Say who is asking.
    /// #[tool(read_only)]
    /// fn who(#[context] user: &User) -> String {
    ///     user.0.clone()
    /// }
    ///
    /// let registry = Registry::builder().tool(who).context(User("nobody".into())).build()?;
    /// let server = Server::new(registry).context(|asked| match asked.header("x-user") {
    ///     Some(user) => Context::new().with(User(user.to_owned())),
    ///     None => Context::new(),
    /// });
    /// # let _ = server;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn context(
        mut self,
        choose: impl Fn(&Asked<'_>) -> Context + Send + Sync + 'static,
    ) -> Self {
        self.hooks.context = Some(Arc::new(choose));
        self
    }

    /// Hears of every call that the server makes: when it begins, then what came of it.
    ///
    /// Calls that are refused before they are made, because too many are running, are not told of. The closure must be
    /// quick, and changes no decision, not even by panicking.
    pub fn on_call(mut self, hear: impl Fn(CallEvent<'_>) + Send + Sync + 'static) -> Self {
        self.hooks.hear = Some(Arc::new(hear));
        self
    }

    /// Answers requests whose `Host` is this name, with any port or with the one given; beside those of this machine.
    ///
    /// A server that other machines reach under a name or an address has to be told it: otherwise a page in a browser
    /// could reach the server under a name of its author's (DNS rebinding).
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Answers requests with this `Origin`, such as `https://app.example.com`; beside those of pages that the same
    /// listener serves.
    ///
    /// Requests without one, which no browser sends, are always answered. It does not make the server send the headers
    /// that let a page of another origin *read* the answer (CORS): put a proxy before it for that.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Calls that run at once, 256 unless told, however many clients there are; one more is answered with `overloaded`.
    pub fn calls(mut self, limit: usize) -> Self {
        self.limits.calls = limit;
        self
    }

    /// Connections that are open at once over HTTP, 256 unless told; one more waits.
    pub fn connections(mut self, limit: usize) -> Self {
        self.limits.connections = limit.max(1);
        self
    }

    /// Sessions of clients of revision 2025-11-25 over HTTP, 64 unless told.
    ///
    /// One more takes the place of the one that has been idle for longest, whose client is then told to begin again; where
    /// none is idle, it is refused (503, with `Retry-After`). A session ends after half an hour without a request.
    pub fn sessions(mut self, limit: usize) -> Self {
        self.limits.sessions = limit.max(1);
        self
    }

    /// Bytes of one message from a client, 4 MiB unless told.
    pub fn message_bytes(mut self, limit: usize) -> Self {
        self.limits.message_bytes = limit;
        self
    }

    /// How long a client may take, over HTTP, to send a request's header, then its body, and to read a piece of an answer;
    /// 10 seconds unless told. A connection without a request is closed after as long.
    ///
    /// On streams it is how long a client may read nothing at all while more than 16 MiB of answers wait for it; it is then
    /// taken for one that has gone, because whether it has closed our input cannot be seen before its requests are read.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.limits.patience = patience;
        self
    }

    /// How long calls may go on when the client has gone, or the server is told to stop, before they are cancelled; 5
    /// seconds unless told.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.limits.grace = grace;
        self
    }

    /// Serves one client on standard input and output, until it closes either.
    ///
    /// Standard output belongs to the protocol: a tool that prints to it breaks the connection, so tools write to standard
    /// error, or nowhere. When the client has closed our input, running calls have their time of [grace](Self::grace),
    /// are answered, and are then cancelled. A `blocking` body cannot be cancelled: the runtime waits for it when it is
    /// dropped, unless that is left to `Runtime::shutdown_background`.
    ///
    /// # Errors
    ///
    /// [`ServeError::Export`] and [`ServeError::Tool`] before anything is read, [`ServeError::Begin`] where the client's
    /// first request is answered with an error that ends the protocol, [`ServeError::Connection`].
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with its I/O and its timers.
    pub async fn stdio(self) -> Result<(), ServeError> {
        let (read, write) = rmcp::transport::stdio_pipes();
        self.streams(read, write).await
    }

    /// Serves one client on any pair of streams, as [`stdio`](Self::stdio) does: a socket, or a pipe inside a program.
    ///
    /// # Errors
    ///
    /// As [`stdio`](Self::stdio).
    pub async fn streams(
        self,
        read: impl AsyncRead + Unpin + Send + 'static,
        write: impl AsyncWrite + Unpin + Send + 'static,
    ) -> Result<(), ServeError> {
        stdio::serve(self, read, write).await
    }

    /// Listens for clients on an address, at the path `/mcp` (Streamable HTTP).
    ///
    /// Whatever the address, a request is answered only where its `Host` is `localhost`, a loopback address, or
    /// [allowed](Self::allow_host), and where its `Origin`, if it has one, is that of the host itself or
    /// [allowed](Self::allow_origin). There is no encryption and no authentication: before an address that other machines
    /// reach, put a proxy that has both.
    ///
    /// # Errors
    ///
    /// [`ServeError::Bind`], [`ServeError::Export`], [`ServeError::Tool`].
    pub fn bind(self, address: impl ToSocketAddrs) -> Result<Listening, ServeError> {
        http::bind(self, address)
    }

    /// The same as a service, for a listener that has other pages too.
    #[cfg_attr(
        not(feature = "cli"),
        allow(dead_code, reason = "a page of the command line stands beside it")
    )]
    pub(crate) fn mount(self) -> Result<Mounted, ServeError> {
        Mounted::new(self)
    }

    fn handler(self) -> Result<Handler, ServeError> {
        Handler::new(self)
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("registry", &self.registry)
            .field("name", &self.implementation.name)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
