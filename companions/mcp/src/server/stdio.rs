use rmcp::ServiceExt as _;
use rmcp::service::ServerInitializeError;
use tokio::io::{AsyncRead, AsyncWrite};

use super::Server;
use super::lines::Lines;
use crate::mcp::ServeError;

/// Serves one client over a pair of streams, until it goes.
pub(super) async fn serve(
    server: Server,
    read: impl AsyncRead + Unpin + Send + 'static,
    write: impl AsyncWrite + Unpin + Send + 'static,
) -> Result<(), ServeError> {
    let handler = server.handler()?;
    let end = handler.0.end.clone();
    // However this future ends, no call goes on for nobody.
    let _guard = end.clone().drop_guard();
    let lines = Lines::new(read, write, handler.0.limits, end);
    let service = match handler.serve(lines).await {
        Ok(service) => service,
        // A client that came and went without a word, or reads no more: the one error that `Lines` has when it sends.
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
