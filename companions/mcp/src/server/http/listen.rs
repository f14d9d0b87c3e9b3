//! The HTTP listener and its graceful shutdown.

use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_io_timeout::TimeoutWriter;
use tokio_util::sync::CancellationToken;

use super::super::Server;
use super::service::{FLUSH, HttpResponse, HttpService, text_response};
use crate::ServeError;

/// The first delay after a failed `accept`; it doubles up to [`LONGEST`].
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(1);

/// Where a listener serves the protocol.
const PATH: &str = "/mcp";

/// The maximum size of a request's header in bytes.
const HEADER: usize = 64 << 10;

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
        let graceful = GracefulShutdown::new();
        let mut open = JoinSet::new();
        tokio::select! {
            () = accept(&listener, &service, &graceful, &mut open) => {}
            () = self.stop.cancelled() => {}
        }
        drop(listener);
        let closed = graceful.shutdown();
        service.shutdown().await;
        let _ = timeout(FLUSH, closed).await;
        Ok(())
    }
}

struct CloseOnDrop(HttpService);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.close();
    }
}

async fn accept(
    listener: &tokio::net::TcpListener,
    service: &HttpService,
    graceful: &GracefulShutdown,
    open: &mut JoinSet<()>,
) {
    let places = Arc::new(Semaphore::new(service.limits().connections));
    let mut wait = SHORTEST;
    // The semaphore is ours and never closed.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                wait = SHORTEST;
                let service = service.clone();
                open.spawn(connection(stream, service, graceful.watcher(), place));
            }
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(wait).await;
                wait = LONGEST.min(wait * 2);
            }
        }
        while open.try_join_next().is_some() {}
    }
}

async fn connection(
    stream: TcpStream,
    service: HttpService,
    watcher: Watcher,
    place: OwnedSemaphorePermit,
) {
    // Responses are small and waited for; a peer that has disconnected is noticed later.
    let _ = stream.set_nodelay(true);
    let patience = service.limits().patience;
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(patience));
    let stream = TokioIo::new(Box::pin(stream));
    let service = service_fn(move |request| {
        let service = service.clone();
        async move { Ok::<_, Infallible>(answer(&service, request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(HEADER)
        .serve_connection(stream, service);
    // A broken connection concerns only its peer.
    let _ = watcher.watch(connection).await;
    drop(place);
}

async fn answer(service: &HttpService, request: Request<Incoming>) -> HttpResponse {
    let path = request.uri().path();
    if path == PATH || service.has_metadata_at(path) {
        service.respond(request).await
    } else {
        text_response(StatusCode::NOT_FOUND, "the path is /mcp")
    }
}
