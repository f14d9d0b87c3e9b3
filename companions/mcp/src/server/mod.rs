//! A registry as an MCP server.
//!
//! | file | holds |
//! |---|---|
//! | `handler` | the protocol's requests, each sent to its handler |
//! | `revision` | the revisions of the protocol, and what each of them lacks |
//! | `list` | `tools/list` in every revision, paginated |
//! | `served` | the tools of a server, which can be replaced while it runs |
//! | `call` | `tools/call`: its limits, its context, its cancellation, and the call itself |
//! | `notifications` | progress reports and log messages |
//! | `ask` | questions to the person at the client |
//! | `beside` | a handler of the host for what is not about tools |
//! | `guarded` | futures of the host that may panic |
//! | `answer` | an [`Outcome`](contract_runtime::Outcome) as a `CallToolResult` |
//! | `message` | parsing a message, with the exact text of its arguments |
//! | `stdio` | one client, one message per line |
//! | `http/` | Streamable HTTP, on a listener of its own or in another HTTP service |
//! | `auth/` | who sends a request over HTTP, and what a client is told that must prove it |
//! | `hooks` | hooks into the calls of a server |
//! | `limits` | limits on clients |

mod answer;
mod ask;
#[cfg(feature = "http")]
mod auth;
mod beside;
mod call;
mod guarded;
mod handler;
mod hooks;
#[cfg(feature = "http")]
mod http;
mod limits;
mod list;
#[cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "HTTP needs more of it")
)]
mod message;
mod notifications;
#[cfg_attr(
    not(feature = "http"),
    allow(dead_code, reason = "HTTP needs more of it")
)]
mod revision;
mod served;
mod stdio;

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use contract_runtime::{Context, Registry, Run};
use rmcp::handler::server::ServerHandler;
use rmcp::model::Implementation;
use tokio::io::{AsyncRead, AsyncWrite};

#[cfg(feature = "http")]
pub use auth::{Credentials, Principal, Refusal, ResourceMetadata};
use beside::Companion;
pub use hooks::CallRequest;
use hooks::Hooks;
#[cfg(feature = "http")]
pub use http::{BoundServer, HttpService, serve_http};
use limits::Limits;
pub use served::ServedTools;

use super::{ServeError, program};

/// Serves a registry on standard input and output until the client disconnects; see [`Server::stdio`].
///
/// # Errors
///
/// As [`Server::stdio`].
pub async fn serve_stdio(registry: Registry) -> Result<(), ServeError> {
    Server::new(registry).stdio().await
}

/// Serves a registry over the Model Context Protocol, with its metadata and its limits.
///
/// ```
/// use contract_mcp::Server;
/// use contract_runtime::prelude::*;
///
/// /// Add two numbers.
/// #[tool(read_only)]
/// fn add(a: i64, b: i64) -> Option<i64> {
///     a.checked_add(b)
/// }
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let server = Server::new(Registry::builder().tool(add).build()?)
///     .title("Sums")
///     .instructions("All numbers are whole.");
/// let (client, far) = tokio::io::duplex(64 * 1024);
/// let (read, write) = tokio::io::split(far);
/// let served = tokio::spawn(server.streams(read, write));
/// drop(client);
/// served.await??;
/// # Ok(()) }
/// ```
#[derive(Clone)]
#[must_use = "a server does nothing until `stdio`, `bind` or `into_service`"]
pub struct Server {
    tools: ServedTools,
    implementation: Implementation,
    instructions: Option<String>,
    list_contracts: bool,
    coerce: bool,
    page: usize,
    limits: Limits,
    hooks: Hooks,
    ask_client: Option<Duration>,
    companion: Companion,
    #[cfg(feature = "http")]
    http: limits::HttpSettings,
}

impl Server {
    /// Creates a server named after the package that made the registry with [`registry!`](contract_runtime::registry), or else after
    /// the file of the program, version 0.0.0; see [`name`](Self::name).
    pub fn new(registry: Registry) -> Self {
        let (name, version) = match registry.program() {
            Some(program) => (program.name.to_owned(), program.version),
            None => (program::name(), program::NO_VERSION),
        };
        Self {
            implementation: Implementation::new(name, version),
            tools: ServedTools::new(registry),
            list_contracts: false,
            coerce: false,
            instructions: None,
            page: 100,
            limits: Limits::default(),
            hooks: Hooks::default(),
            ask_client: None,
            companion: Companion::default(),
            #[cfg(feature = "http")]
            http: limits::HttpSettings::default(),
        }
    }

    /// Sets the name and version that the server reports, such as `env!("CARGO_PKG_NAME")` and `env!("CARGO_PKG_VERSION")`.
    pub fn name(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.implementation.name = name.into();
        self.implementation.version = version.into();
        self
    }

    /// Sets the title that people see instead of the name.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.implementation.title = Some(title.into());
        self
    }

    /// Sets a web page about the server.
    pub fn website(mut self, url: impl Into<String>) -> Self {
        self.implementation.website_url = Some(url.into());
        self
    }

    /// Sets what a model should know about all tools together.
    pub fn instructions(mut self, instructions: impl Into<String>) -> Self {
        self.instructions = Some(instructions.into());
        self
    }

    /// Sets the number of tools in one page of `tools/list`; the default is 100, the minimum 1.
    pub fn page(mut self, tools: usize) -> Self {
        self.page = tools.max(1);
        self
    }

    /// Tells every client the contracts as data: conditions, rules and questions in the `_meta` of `tools/list`, and the violation,
    /// the problems and the coercions of a call in the `_meta` of its result.
    ///
    /// They make up almost half of the list, and a model needs none of it, so without this only those clients get them that ask: by a
    /// capability `rs.docs.contract-runtime/contract`, experimental or as an extension.
    pub fn list_contracts(mut self) -> Self {
        self.list_contracts = true;
        self
    }

    /// Corrects the arguments of every call as [`Builder::coerce`](contract_runtime::Builder::coerce) says: many clients send a
    /// list or an object as JSON text.
    pub fn coerce(mut self, coerce: bool) -> Self {
        self.coerce = coerce;
        self
    }

    /// Returns the tools of this server, to replace them while it runs; clients are told that the list has changed.
    ///
    /// ```
    /// use contract_mcp::Server;
    /// use contract_runtime::prelude::*;
    ///
    /// /// Add two numbers.
    /// #[tool(read_only)]
    /// fn add(a: i64, b: i64) -> Option<i64> {
    ///     a.checked_add(b)
    /// }
    ///
    /// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let server = Server::new(Registry::builder().build()?);
    /// let tools = server.tools();
    /// let (client, far) = tokio::io::duplex(64 * 1024);
    /// let (read, write) = tokio::io::split(far);
    /// let served = tokio::spawn(server.streams(read, write));
    /// tools.replace(Registry::builder().tool(add).build()?)?;
    /// # drop(client);
    /// served.await??;
    /// # Ok(()) }
    /// ```
    #[must_use]
    pub fn tools(&self) -> ServedTools {
        self.tools.given_out()
    }

    /// Puts a handler of the protocol library beside the tools: its prompts, resources, completions and own requests are served, with
    /// the capabilities that it declares for them. Its tools are not: they would have no contracts. A request whose handler panics is
    /// answered with an internal error.
    ///
    /// ```
    /// use contract_mcp::Server;
    /// use contract_mcp::rmcp::model::{ListPromptsResult, PaginatedRequestParams, Prompt};
    /// use contract_mcp::rmcp::model::{ServerCapabilities, ServerConfig};
    /// use contract_mcp::rmcp::service::RequestContext;
    /// use contract_mcp::rmcp::{ErrorData, RoleServer, ServerHandler};
    /// use contract_runtime::prelude::*;
    ///
    /// struct Prompts;
    ///
    /// impl ServerHandler for Prompts {
    ///     fn get_info(&self) -> ServerConfig {
    ///         ServerConfig::new(ServerCapabilities::builder().enable_prompts().build())
    ///     }
    ///
    ///     async fn list_prompts(
    ///         &self,
    ///         _: Option<PaginatedRequestParams>,
    ///         _: RequestContext<RoleServer>,
    ///     ) -> Result<ListPromptsResult, ErrorData> {
    ///         let review = Prompt::new("review", Some("Review a change"), None);
    ///         Ok(ListPromptsResult::with_all_items(vec![review]))
    ///     }
    /// }
    ///
    /// let server = Server::new(Registry::builder().build()?).beside(Prompts);
    /// # let _ = server;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn beside(mut self, handler: impl ServerHandler) -> Self {
        self.companion = Companion::new(handler);
        self
    }

    /// Makes every call part of a run, which sets its policy, receives its violations and counts its conditions.
    ///
    /// Each session has a [history](contract_runtime::history()) of its own; a call without a session has none, unless
    /// [`run_of`](Self::run_of) gives it a run.
    pub fn run(mut self, run: &Run) -> Self {
        self.hooks.run = Some(run.clone());
        self
    }

    /// Chooses the run of each call by who asks, such as one for each user.
    ///
    /// A session is a run already: the calls of one connection over streams, or of one session over HTTP. Revision 2026-07-28 has
    /// no sessions over HTTP, so tools whose conditions ask the [history](contract_runtime::history()) are offered to its clients
    /// only where this returns a run. For `None` everything is as without it.
    ///
    /// ```
    /// use std::collections::HashMap;
    /// use std::sync::Mutex;
    ///
    /// use contract_mcp::Server;
    /// use contract_runtime::Run;
    /// use contract_runtime::prelude::*;
    ///
    /// let users: Mutex<HashMap<String, Run>> = Mutex::default();
    /// let server = Server::new(Registry::builder().build()?).run_of(move |asked| {
    ///     // In a real server, a layer in front has authenticated the user, and `asked.extension()` says who it is.
    ///     let user = asked.header("x-user")?.to_owned();
    ///     Some(users.lock().unwrap().entry(user).or_default().clone())
    /// });
    /// # let _ = server;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn run_of(
        mut self,
        choose: impl Fn(&CallRequest<'_>) -> Option<Run> + Send + Sync + 'static,
    ) -> Self {
        self.hooks.runs = Some(Arc::new(choose));
        self
    }

    /// Sets the context of each call, such as who is asking.
    ///
    /// The server provides cancellation and progress itself and ignores those of the context. It also asks for the context of a
    /// client that lists the tools, because [`Builder::visible`](contract_runtime::Builder::visible) may depend on it. If the
    /// closure panics, the request fails.
    ///
    /// ```
    /// use contract_mcp::Server;
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
        choose: impl Fn(&CallRequest<'_>) -> Context + Send + Sync + 'static,
    ) -> Self {
        self.hooks.context = Some(Arc::new(choose));
        self
    }

    /// Lets the user of the client decide when a call [asks a person](contract_runtime::approval::ApprovalRequest) and the server has
    /// no approver. The user sees the questions, the tool and the arguments, and approves this one call or denies it.
    ///
    /// The answer is the client's, so this trusts the client to ask its user: a client whose program answers by itself approves
    /// whatever its model wants. An approver of the context, the run or the registry is asked instead, where there is one.
    /// Clients are asked by elicitation, if they offer forms, from revision 2025-06-18 on: in 2026-07-28 by an
    /// `InputRequiredResult`, whose call the client makes again with the answer. Without this, or without such a client, the
    /// call is [`denied`](contract_runtime::Status::Denied), and the model is told what had to be asked.
    ///
    /// An answer is waited for, or taken, for this long; a call does not count among the running ones while its question is open.
    ///
    /// ```
    /// use std::time::Duration;
    ///
    /// use contract_mcp::Server;
    /// use contract_runtime::prelude::*;
    ///
    /// /// Cancel an order.
    /// #[tool(destructive, confirm = "Cancel order {order_id}?")]
    /// fn cancel(order_id: String) {}
    ///
    /// let server = Server::new(Registry::builder().tool(cancel).build()?).ask_client(Duration::from_secs(300));
    /// # let _ = server;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn ask_client(mut self, patience: Duration) -> Self {
        self.ask_client = Some(patience);
        self
    }

    /// Sets how many calls may run at once, across all clients; the default is 256. Further calls are answered with
    /// `overloaded`.
    pub fn calls(mut self, limit: usize) -> Self {
        self.limits.calls = limit;
        self
    }

    /// Sets the maximum size of a client's message in bytes; the default is 4 MiB.
    pub fn message_bytes(mut self, limit: usize) -> Self {
        self.limits.message_bytes = limit;
        self
    }

    /// Sets how long a client may take, over HTTP, to send a request's header, then its body, and to read a piece of an
    /// answer; the default is 10 seconds. A connection without a request is closed after the same time.
    ///
    /// On streams it is how long a client may read nothing at all while more than 16 MiB of answers wait for it. Then it is
    /// considered disconnected: whether it has closed our input cannot be seen before its requests are read.
    pub fn patience(mut self, patience: Duration) -> Self {
        self.limits.patience = patience;
        self
    }

    /// Sets how long calls may go on after the client has disconnected or the server is stopped, before they are cancelled;
    /// the default is 5 seconds.
    pub fn grace(mut self, grace: Duration) -> Self {
        self.limits.grace = grace;
        self
    }

    /// Serves one client on standard input and output, until it closes either.
    ///
    /// Standard output belongs to the protocol: a tool that prints to it breaks the connection, so tools must write to standard
    /// error or not at all. After the client has closed our input, running calls have the [grace](Self::grace) period to
    /// finish and are then cancelled. A `blocking` body cannot be cancelled: dropping the runtime waits for it, unless you
    /// call `Runtime::shutdown_background`.
    ///
    /// # Errors
    ///
    /// [`ServeError::Tool`] before anything is read, [`ServeError::Begin`] if the client's first
    /// request is answered with an error that ends the protocol, [`ServeError::Connection`].
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
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("tools", &self.tools)
            .field("name", &self.implementation.name)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}
