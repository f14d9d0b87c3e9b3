//! The settings of a server that concern HTTP alone.

use super::auth::Authorizer;
use super::{Credentials, Principal, Refusal, ResourceMetadata, Server};

impl Server {
    /// Accepts requests whose `Host` is this name, with any port or with the one given, in addition to those of this
    /// machine.
    ///
    /// Needed if other machines reach the server under a name or an address. Any other `Host` is refused, because a web page
    /// could otherwise reach the server under a name that its author controls (DNS rebinding).
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.origin_check = self.origin_check.allow_host(host.into());
        self
    }

    /// Accepts requests with this `Origin`, such as `https://app.example.com`, in addition to those of pages that the
    /// same listener serves over `http`. `null` stands for any page, and is never accepted.
    ///
    /// Requests without an `Origin` are always answered: browsers send one with every request that a page of another origin
    /// could do harm with. Pages of an allowed origin can read the responses: preflights are answered, and the headers for it are
    /// sent (Fetch Standard, "CORS protocol").
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.origin_check = self.origin_check.allow_origin(origin.into());
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
        self.authorizer = Some(Authorizer::new(check));
        self
    }

    /// Tells clients where to get access (RFC 9728): serves this document at its well-known path, to anybody, and names its URL
    /// where a request is [refused](Self::authorize) for the lack of a valid token.
    ///
    /// For `https://tools.example.com/mcp` the path is `/.well-known/oauth-protected-resource/mcp`. A listener of
    /// [`bind`](Self::bind) serves it; if the service is mounted in your own server, route [`HttpService::metadata_path`](crate::HttpService::metadata_path) to it.
    pub fn resource_metadata(mut self, metadata: ResourceMetadata) -> Self {
        self.metadata = Some(metadata);
        self
    }

    /// Sets how many HTTP connections may be open at once; the default is 256. Further ones wait.
    pub fn connections(mut self, limit: usize) -> Self {
        self.limits.connections = limit.max(1);
        self
    }

    /// Sets the maximum number of HTTP sessions, for clients of revision 2025-11-25 and older; the default is 64.
    ///
    /// A further session replaces the one that has been idle longest, whose client is then told to begin again; if none is
    /// idle, it is refused (503, with `Retry-After`). A session ends after half an hour without a request.
    pub fn sessions(mut self, limit: usize) -> Self {
        self.limits.sessions = limit.max(1);
        self
    }

    /// Sets how many bytes of sent messages are kept, of all sessions together; the default is 64 MiB, and the oldest make room.
    ///
    /// A client that was away while a call of its session ended, such as in a tunnel, fetches the answer with `Last-Event-ID`
    /// (Model Context Protocol, "Resumability and Redelivery", 2025-11-25). They are kept in memory, and forgotten with the session.
    pub fn kept_bytes(mut self, limit: usize) -> Self {
        self.limits.kept_bytes = limit;
        self
    }
}
