//! The settings of a server that concern HTTP alone.

use std::net::ToSocketAddrs;
use std::sync::Arc;

use contract_runtime::Registry;

use super::super::auth::{Credentials, Principal, Refusal, ResourceMetadata};
use super::super::{ServeError, Server};
use super::{BoundServer, HttpService, listen};

/// Serves a registry at `http://{address}/mcp` to clients on this machine; see [`Server::bind`].
///
/// # Errors
///
/// As [`Server::bind`] and [`BoundServer::serve`].
pub async fn serve_http(registry: Registry, address: impl ToSocketAddrs) -> Result<(), ServeError> {
    Server::new(registry).bind(address)?.serve().await
}

impl Server {
    /// Listens for clients on an address, at the path `/mcp` (Streamable HTTP).
    ///
    /// Whatever the address, a request is answered only if its `Host` is `localhost`, a loopback address, or
    /// [allowed](Self::allow_host), and if its `Origin`, when there is one, is that of the host itself or
    /// [allowed](Self::allow_origin). There is no encryption, and no authentication but that of [`authorize`](Self::authorize): if
    /// other machines can reach the address, put a proxy with TLS in front of it, or [mount the service](Self::into_service) in a
    /// server that has it.
    ///
    /// # Errors
    ///
    /// [`ServeError::Bind`], [`ServeError::Tool`], [`ServeError::Resource`].
    pub fn bind(self, address: impl ToSocketAddrs) -> Result<BoundServer, ServeError> {
        listen::bind(self, address)
    }

    /// Returns the server as a [`tower_service::Service`], for an HTTP server of your own: a route of axum, plain hyper, or
    /// anything below layers of tower.
    ///
    /// It answers at every path where it is mounted. `Host` and `Origin` are checked as by [`bind`](Self::bind), so
    /// [allow the host](Self::allow_host) under which other machines reach it; behind TLS, also
    /// [allow the origin](Self::allow_origin) of that host if its own pages send requests.
    /// [`CallRequest::extension`](crate::CallRequest::extension) returns what your layers put into the extensions of a request, such as
    /// the user.
    ///
    /// Your HTTP server limits the connections, and how slowly a header may arrive and a response may be read; of
    /// [`patience`](Self::patience), only the limit for request bodies applies. See [`HttpService`] for how it ends.
    ///
    /// ```
    /// use axum::Router;
    /// use contract_mcp::Server;
    /// use contract_runtime::prelude::*;
    ///
    /// /// Add two numbers.
    /// #[tool(read_only)]
    /// fn add(a: i64, b: i64) -> Option<i64> {
    ///     a.checked_add(b)
    /// }
    ///
    /// let service = Server::new(Registry::builder().tool(add).build()?).into_service()?;
    /// let app: Router = Router::new().nest_service("/mcp", service);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    ///
    /// [`ServeError::Tool`], [`ServeError::Resource`].
    pub fn into_service(self) -> Result<HttpService, ServeError> {
        HttpService::new(self)
    }

    /// Accepts requests whose `Host` is this name, with any port or with the one given, in addition to those of this
    /// machine.
    ///
    /// Needed if other machines reach the server under a name or an address. Any other `Host` is refused, because a web page
    /// could otherwise reach the server under a name that its author controls (DNS rebinding).
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.http.origin_check = self.http.origin_check.allow_host(host.into());
        self
    }

    /// Accepts requests with this `Origin`, such as `https://app.example.com`, in addition to those of pages that the
    /// same listener serves over `http`. `null` stands for any page, and is never accepted.
    ///
    /// Requests without an `Origin` are always answered: browsers send one with every request that a page of another origin
    /// could do harm with. Pages of an allowed origin can read the responses: preflights are answered, and the headers for it are
    /// sent (Fetch Standard, "CORS protocol").
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.http.origin_check = self.http.origin_check.allow_origin(origin.into());
        self
    }

    /// Checks who sends each HTTP request, before its body is read.
    ///
    /// The closure gets the headers and looks up or verifies what they prove, such as a bearer token; it must check that a token was
    /// issued for this server. A request that is refused is answered with 401, 403 or 503; see [`Refusal`]. If the
    /// closure or its future panics, the request is answered with 500 and goes no further. The
    /// [context](Principal::context) of the principal is that of its calls, below what [`context`](Self::context) returns, and
    /// [`CallRequest::principal`](crate::CallRequest::principal) is known to the other hooks. A session belongs to the principal that began it, and a
    /// [question](Self::ask_client) to the one that was asked; they do not exist for others. A client on streams is not checked.
    ///
    /// ```
    /// use contract_mcp::{Principal, Refusal, ResourceMetadata, Server};
    /// use contract_runtime::{Context, prelude::*};
    ///
    /// struct User(String);
    ///
    /// async fn user_of(token: &str) -> Option<User> {
    ///     // A real program verifies a signature, or asks the authorization server.
    ///     (token == "of-ada").then(|| User("ada".to_owned()))
    /// }
    ///
    /// /// Say who is asking.
    /// #[tool(read_only)]
    /// fn who(#[context] user: &User) -> String {
    ///     user.0.clone()
    /// }
    ///
    /// let registry = Registry::builder().tool(who).context_per_call::<User>().build()?;
    /// let server = Server::new(registry)
    ///     .resource_metadata(ResourceMetadata::new("https://tools.example.com/mcp", ["https://login.example.com"]))
    ///     .authorize(|credentials| async move {
    ///         let token = credentials.bearer().ok_or(Refusal::NoToken)?;
    ///         let user = user_of(token).await.ok_or(Refusal::InvalidToken {
    ///             reason: "the token is unknown or has expired".to_owned(),
    ///         })?;
    ///         Ok(Principal::new(user.0.clone()).context(Context::new().with(user)))
    ///     });
    /// # let _ = server;
    /// # Ok::<(), BuildError>(())
    /// ```
    pub fn authorize<F>(mut self, check: impl Fn(Credentials) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Principal, Refusal>> + Send + 'static,
    {
        self.http.authorizer = Some(Arc::new(move |credentials| Box::pin(check(credentials))));
        self
    }

    /// Tells clients where to get access (RFC 9728): serves this document at its well-known path, to anybody, and names its URL
    /// where a request is [refused](Self::authorize) for the lack of a valid token.
    ///
    /// For `https://tools.example.com/mcp` the path is `/.well-known/oauth-protected-resource/mcp`. A listener of
    /// [`bind`](Self::bind) serves it; if the service is mounted in your own server, route [`HttpService::metadata_path`](crate::HttpService::metadata_path) to it.
    pub fn resource_metadata(mut self, metadata: ResourceMetadata) -> Self {
        self.http.metadata = Some(metadata);
        self
    }

    /// Sets how many HTTP connections may be open at once; the default is 256. Further ones wait.
    pub fn connections(mut self, limit: usize) -> Self {
        self.http.connections = limit.max(1);
        self
    }

    /// Sets the maximum number of HTTP sessions, for clients of revision 2025-11-25 and older; the default is 64.
    ///
    /// A further session replaces the one that has been idle longest, whose client is then told to begin again; if none is
    /// idle, it is refused (503, with `Retry-After`). A session ends after half an hour without a request.
    pub fn sessions(mut self, limit: usize) -> Self {
        self.http.sessions = limit.max(1);
        self
    }

    /// Sets how many bytes of sent messages are kept, of all sessions together; the default is 64 MiB, and the oldest make room.
    ///
    /// A client that was away while a call of its session ended, such as in a tunnel, fetches the answer with `Last-Event-ID`
    /// (Model Context Protocol, "Resumability and Redelivery", 2025-11-25). They are kept in memory, and forgotten with the session.
    pub fn kept_bytes(mut self, limit: usize) -> Self {
        self.http.kept_bytes = limit;
        self
    }
}
