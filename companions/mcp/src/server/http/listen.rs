//! The HTTP listener and its graceful shutdown.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::pin::pin;

use contract_http::Limits;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

use super::super::Server;
use super::service::{FLUSH, HttpResponse, HttpService, text_response};
use crate::ServeError;

/// Where a listener serves the protocol.
const PATH: &str = "/mcp";

/// A server that is bound to its address; [`serve`](Self::serve) answers requests.
#[derive(Debug)]
#[must_use = "a bound server answers nothing until `serve`"]
pub struct BoundServer {
    service: HttpService,
    listener: TcpListener,
    address: SocketAddr,
    stop: CancellationToken,
}

pub(in crate::server) fn bind(
    server: Server,
    address: impl ToSocketAddrs,
) -> Result<BoundServer, ServeError> {
    let service = HttpService::new(server)?;
    let addresses: Vec<SocketAddr> = match address.to_socket_addrs() {
        Ok(addresses) => addresses.collect(),
        Err(source) => {
            let address = "that address".to_owned();
            return Err(ServeError::Bind { address, source });
        }
    };
    let failed = |source| {
        let shown: Vec<String> = addresses.iter().map(ToString::to_string).collect();
        ServeError::Bind {
            address: shown.join(", "),
            source,
        }
    };
    let listener = TcpListener::bind(&*addresses).map_err(failed)?;
    listener.set_nonblocking(true).map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    Ok(BoundServer {
        service,
        listener,
        address,
        stop: CancellationToken::new(),
    })
}

impl BoundServer {
    /// Returns the address it listens on, with the port that the system chose if it was bound to port 0.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the token that ends [`serve`](Self::serve) when it is cancelled.
    #[must_use]
    pub fn stop(&self) -> CancellationToken {
        self.stop.clone()
    }

    /// Serves requests until it is [stopped](Self::stop).
    ///
    /// Then it accepts no more connections. Requests in progress have the [grace](Server::grace) period to finish; after that
    /// their calls are cancelled, and it returns within two seconds. Dropping the future ends everything at once. If the
    /// system is out of file descriptors, it waits and tries again.
    ///
    /// # Errors
    ///
    /// [`ServeError::Connection`] if the runtime cannot use the listener.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with its I/O and its timers.
    pub async fn serve(self) -> Result<(), ServeError> {
        let listener =
            tokio::net::TcpListener::from_std(self.listener).map_err(ServeError::Connection)?;
        let service = self.service;
        // When this future is dropped, nobody is left to read an answer.
        let _close = CloseOnDrop(service.clone());
        let limits = service.limits();
        let limits = Limits::new()
            .connections(service.connections())
            .header_time(limits.patience)
            .write_time(limits.patience);
        let answering = service.clone();
        let answer = service_fn(move |request| {
            let service = answering.clone();
            async move { Ok::<_, Infallible>(answer(&service, request).await) }
        });
        let mut served = pin!(limits.serve(listener, answer, self.stop.cancelled()));
        let mut shutdown = pin!(async {
            self.stop.cancelled().await;
            service.shutdown().await;
        });
        tokio::select! {
            () = &mut served => shutdown.await,
            () = &mut shutdown => {
                let _ = timeout(FLUSH, served).await;
            }
        }
        Ok(())
    }
}

struct CloseOnDrop(HttpService);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

async fn answer(service: &HttpService, request: Request<Incoming>) -> HttpResponse {
    let path = request.uri().path();
    if path == PATH || service.has_metadata_at(path) {
        service.respond(request).await
    } else {
        text_response(StatusCode::NOT_FOUND, "the path is /mcp")
    }
}
