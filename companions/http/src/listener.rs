//! Accepts connections, and closes those that are too slow.

use std::error::Error;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::{Body, Incoming};
use hyper::server::conn::http1;
use hyper::service::{HttpService, Service};
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::sleep;
use tokio_io_timeout::TimeoutWriter;

/// The first delay after a failed `accept`; it doubles up to [`MAX_BACKOFF`].
const MIN_BACKOFF: Duration = Duration::from_millis(10);
const MAX_BACKOFF: Duration = Duration::from_secs(1);

/// A connection that breaks when its peer reads nothing for the [write time](Limits::write_time).
pub type TimedStream = Pin<Box<TimeoutWriter<TcpStream>>>;

/// The limits of a listener: how many connections it holds, and how slow they may be.
///
/// ```
/// use std::time::Duration;
///
/// let limits = contract_http::Limits::new()
///     .connections(64)
///     .header_time(Duration::from_secs(5));
/// # let _ = limits;
/// ```
#[derive(Clone, Copy, Debug)]
#[must_use = "limits hold nothing until they serve"]
pub struct Limits {
    connections: usize,
    header_bytes: usize,
    header_time: Duration,
    write_time: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 256,
            header_bytes: 64 << 10,
            header_time: Duration::from_secs(10),
            write_time: Duration::from_secs(10),
        }
    }
}

impl Limits {
    /// Creates the default limits: 256 connections, headers of 64 KiB in 10 seconds, and 10 seconds in which a peer reads
    /// something.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets how many connections may be open at once; further ones wait.
    pub fn connections(mut self, limit: usize) -> Self {
        self.connections = limit.clamp(1, Semaphore::MAX_PERMITS);
        self
    }

    /// Sets the maximum size of a request's header in bytes; at least 8 KiB.
    pub fn header_bytes(mut self, limit: usize) -> Self {
        // hyper panics on less.
        self.header_bytes = limit.max(8 << 10);
        self
    }

    /// Sets how long the header of a request may take to arrive, and how long a connection may be idle between two requests.
    pub fn header_time(mut self, limit: Duration) -> Self {
        self.header_time = limit;
        self
    }

    /// Sets after how long a connection is closed whose peer reads nothing of what is sent to it.
    pub fn write_time(mut self, limit: Duration) -> Self {
        self.write_time = limit;
        self
    }

    /// Serves HTTP/1 until `stop` is done; then accepts no more connections, and returns when the requests in progress have been
    /// answered.
    ///
    /// Dropping the future closes every connection at once. If the system is out of file descriptors, it waits and tries again.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with its I/O and its timers.
    pub async fn serve<S, B>(
        self,
        listener: TcpListener,
        service: S,
        stop: impl Future<Output = ()>,
    ) where
        S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
        S::Future: Send,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
    {
        let graceful = GracefulShutdown::new();
        let mut open = JoinSet::new();
        let connection = |stream| {
            let served = graceful.watch(
                self.http()
                    .serve_connection(TokioIo::new(stream), service.clone()),
            );
            Some(async move {
                // A broken connection concerns only its peer.
                let _ = served.await;
            })
        };
        tokio::select! {
            () = self.accept_into(&mut open, &listener, connection) => {}
            () = stop => {}
        }
        drop(listener);
        graceful.shutdown().await;
    }

    /// Accepts connections until it is dropped, and runs a future for each; dropping it ends them all. A connection for which
    /// there is no future is closed.
    ///
    /// If the system is out of file descriptors, it waits and tries again.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with its I/O and its timers.
    pub async fn accept<F>(
        self,
        listener: &TcpListener,
        connection: impl FnMut(TimedStream) -> Option<F>,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        self.accept_into(&mut JoinSet::new(), listener, connection)
            .await;
    }

    async fn accept_into<F>(
        self,
        open: &mut JoinSet<()>,
        listener: &TcpListener,
        mut connection: impl FnMut(TimedStream) -> Option<F>,
    ) where
        F: Future<Output = ()> + Send + 'static,
    {
        let permits = Arc::new(Semaphore::new(self.connections));
        let mut backoff = MIN_BACKOFF;
        // The semaphore is ours and never closed.
        while let Ok(permit) = Arc::clone(&permits).acquire_owned().await {
            match listener.accept().await {
                Ok((stream, _)) => {
                    backoff = MIN_BACKOFF;
                    // Messages are small and awaited. If the peer has already disconnected, a later read reports it.
                    let _ = stream.set_nodelay(true);
                    let mut stream = TimeoutWriter::new(stream);
                    stream.set_timeout(Some(self.write_time));
                    if let Some(served) = connection(Box::pin(stream)) {
                        open.spawn(async move {
                            served.await;
                            drop(permit);
                        });
                    }
                }
                Err(error) => {
                    // Out of file descriptors, or the peer disconnected at once: the next one may succeed.
                    tracing::warn!(%error, "a connection could not be accepted");
                    sleep(backoff).await;
                    backoff = MAX_BACKOFF.min(backoff * 2);
                }
            }
            while open.try_join_next().is_some() {}
        }
    }

    /// Serves the requests of one connection, which may be upgraded.
    ///
    /// # Errors
    ///
    /// What hyper says of a connection that broke, such as a header that was too slow or not HTTP.
    pub async fn serve_connection<S, B, T>(self, stream: T, service: S) -> hyper::Result<()>
    where
        S: HttpService<Incoming, ResBody = B>,
        S::Error: Into<Box<dyn Error + Send + Sync>>,
        B: Body<Error: Into<Box<dyn Error + Send + Sync>>> + 'static,
        T: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let served = self.http().serve_connection(TokioIo::new(stream), service);
        served.with_upgrades().await
    }

    fn http(self) -> http1::Builder {
        let mut http = http1::Builder::new();
        http.timer(TokioTimer::new())
            .header_read_timeout(self.header_time)
            .max_buf_size(self.header_bytes);
        http
    }
}
