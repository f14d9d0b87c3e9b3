//! Transports: a child process and Streamable HTTP.

use super::{ChildProcess, ImportError};

/// Starts a server as a child process, for [`import`](super::import). Needs a tokio runtime.
///
/// Its standard error goes to ours.
///
/// # Errors
///
/// [`ImportError::Start`].
pub fn command(command: impl Into<tokio::process::Command>) -> Result<ChildProcess, ImportError> {
    ChildProcess::start(command.into())
}

/// A client transport over Streamable HTTP.
#[cfg(feature = "http-client")]
pub type HttpClient = rmcp::transport::StreamableHttpClientTransport<reqwest::Client>;

/// Creates the transport to a server at a URL, for [`import`](super::import), with TLS for `https`.
///
/// Only redirects to the same origin are followed.
///
/// ```no_run
/// use contract_mcp;
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let imported = contract_mcp::import(contract_mcp::http("https://example.org/mcp")).await?;
/// # Ok(()) }
/// ```
///
/// To send a token or other headers, use `HttpClient::from_config`:
///
/// ```no_run
/// use contract_mcp::rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig as Config;
/// use contract_mcp::{self, HttpClient};
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = Config::with_uri("https://example.org/mcp").auth_header(std::env::var("TOKEN")?);
/// let imported = contract_mcp::import(HttpClient::from_config(config)).await?;
/// # Ok(()) }
/// ```
#[cfg(feature = "http-client")]
#[must_use]
pub fn http(url: &str) -> HttpClient {
    HttpClient::from_uri(url)
}

/// A client transport over Streamable HTTP that sends and renews an access token.
#[cfg(feature = "oauth")]
pub type OAuthClient = rmcp::transport::StreamableHttpClientTransport<
    rmcp::transport::auth::AuthClient<reqwest::Client>,
>;

/// Creates the transport to a server at a URL, for [`import`](super::import), with the access that an authorization server has given.
///
/// The manager comes from [`rmcp::transport::auth::OAuthState`], which finds the authorization server, registers the client and
/// exchanges the code after the login; the guide shows it.
///
/// ```no_run
/// use contract_mcp::rmcp::transport::auth::{ClientCredentialsConfig, OAuthState};
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let url = "https://tools.example.com/mcp";
/// let mut access = OAuthState::new(url, None).await?;
/// let credentials = ClientCredentialsConfig::ClientSecret {
///     client_id: "agent".to_owned(),
///     client_secret: std::env::var("CLIENT_SECRET")?,
///     scopes: Vec::new(),
///     resource: Some(url.to_owned()),
/// };
/// access.authenticate_client_credentials(credentials).await?;
/// let tokens = access.into_authorization_manager().ok_or("no access was given")?;
/// let tools = contract_mcp::import(contract_mcp::http_with_oauth(url, tokens)).await?;
/// # let _ = tools;
/// # Ok(()) }
/// ```
#[cfg(feature = "oauth")]
#[must_use]
pub fn http_with_oauth(
    url: &str,
    tokens: rmcp::transport::auth::AuthorizationManager,
) -> OAuthClient {
    use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig as Config;
    // A redirect could take the token to another server.
    let client = reqwest::Client::builder().redirect(reqwest::redirect::Policy::none());
    let client = client.build().unwrap_or_default();
    let client = rmcp::transport::auth::AuthClient::new(client, tokens);
    OAuthClient::with_client(client, Config::with_uri(url))
}
