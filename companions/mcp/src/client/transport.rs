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
