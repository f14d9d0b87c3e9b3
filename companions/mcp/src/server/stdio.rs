//! Serves one client over a pair of streams.

use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};

use super::Server;
use super::handler::Handler;
use super::ndjson_transport::NdjsonTransport;
use crate::ServeError;

/// Serves one client over a pair of streams until it disconnects.
pub(super) async fn serve(
    server: Server,
    read: impl AsyncRead + Unpin + Send + 'static,
    write: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), ServeError> {
    let handler = Handler::connected(server)?;
    let end = handler.0.end.clone();
    // However this future ends, no call outlives it.
    let _guard = end.clone().drop_guard();
    let lines = NdjsonTransport::new(read, write, handler.0.limits, end);
    let service = match handler.serve(lines).await {
        Ok(service) => service,
        // The client disconnected without a message, or stopped reading, which is the one error of `NdjsonTransport::send`.
        Err(
            ServerInitializeError::ConnectionClosed(_)
            | ServerInitializeError::TransportError { .. },
        ) => return Ok(()),
        Err(error) => return Err(ServeError::Begin(error.to_string())),
    };
    service
        .waiting()
        .await
        .map_err(|error| ServeError::Connection(error.into()))?;
    Ok(())
}
