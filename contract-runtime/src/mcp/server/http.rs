use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio_util::sync::CancellationToken;

use super::Handler;
use crate::mcp::ServeError;

/// A server that listens and does not answer yet.
#[derive(Debug)]
#[must_use = "it answers when it is served"]
pub struct Listening {
    handler: Handler,
    listener: TcpListener,
    address: SocketAddr,
    stop: CancellationToken,
}

pub(super) fn bind(handler: Handler, address: impl ToSocketAddrs) -> Result<Listening, ServeError> {
    let failed = |source| ServeError::Bind {
        address: String::new(),
        source,
    };
    let listener = TcpListener::bind(address).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok(Listening {
        handler,
        listener,
        address,
        stop: CancellationToken::new(),
    })
}

impl Listening {
    /// Where it listens; the port that the system chose, where 0 was asked for.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends [`serve`](Self::serve) when it is cancelled.
    #[must_use]
    pub fn stop(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Answers, until it is stopped.
    ///
    /// # Errors
    ///
    /// [`ServeError::Connection`].
    pub async fn serve(self) -> Result<(), ServeError> {
        let listener =
            tokio::net::TcpListener::from_std(self.listener).map_err(ServeError::Connection)?;
        let handler = self.handler;
        let service = StreamableHttpService::new(
            move || Ok(handler.clone()),
            Arc::new(LocalSessionManager::default()),
            StreamableHttpServerConfig::default()
                .enforce_origin_validation()
                .with_cancellation_token(self.stop.clone()),
        );
        loop {
            let (stream, _) = tokio::select! {
                accepted = listener.accept() => accepted.map_err(ServeError::Connection)?,
                () = self.stop.cancelled() => return Ok(()),
            };
            let service = TowerToHyperService::new(service.clone());
            tokio::spawn(async move {
                let _ = http1::Builder::new()
                    .timer(TokioTimer::new())
                    .header_read_timeout(Duration::from_secs(10))
                    .serve_connection(TokioIo::new(stream), service)
                    .await;
            });
        }
    }
}
