use rmcp::transport::TokioChildProcess;

use super::ImportError;

/// A server that runs as a child process and speaks over its standard streams.
///
/// It is ended when the connection is.
pub type ChildProcess = TokioChildProcess;

/// Starts a server as a child process, for [`import`](super::import); a tokio runtime must be around.
///
/// What it writes to its standard error is written to ours.
///
/// # Errors
///
/// [`ImportError::Start`].
pub fn command(command: impl Into<tokio::process::Command>) -> Result<ChildProcess, ImportError> {
    let command = command.into();
    let program = command
        .as_std()
        .get_program()
        .to_string_lossy()
        .into_owned();
    TokioChildProcess::new(command).map_err(|source| ImportError::Start { program, source })
}

/// A server that is reached over Streamable HTTP.
#[cfg(feature = "mcp-http")]
pub type HttpClient = rmcp::transport::StreamableHttpClientTransport<reqwest::Client>;

/// A server at a URL, for [`import`](super::import), with TLS for `https`.
///
/// Only redirects to the same origin are followed.
///
/// ```no_run
/// use contract_runtime::mcp;
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let imported = mcp::import(mcp::http("https://example.org/mcp")).await?;
/// # Ok(()) }
/// ```
///
/// For a token or other headers, make one with `HttpClient::from_config`:
///
/// ```no_run
/// use contract_runtime::mcp::rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig as Config;
/// use contract_runtime::mcp::{self, HttpClient};
///
/// # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let config = Config::with_uri("https://example.org/mcp").auth_header(std::env::var("TOKEN")?);
/// let imported = mcp::import(HttpClient::from_config(config)).await?;
/// # Ok(()) }
/// ```
#[cfg(feature = "mcp-http")]
#[must_use]
pub fn http(url: &str) -> HttpClient {
    HttpClient::from_uri(url)
}
