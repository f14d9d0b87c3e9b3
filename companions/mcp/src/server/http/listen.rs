use std::convert::Infallible;
use std::net::{SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio::time::{sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::super::Server;
use super::mounted::Mounted;
use crate::mcp::ServeError;
use crate::patient::Patient;

/// The first wait after a connection could not be accepted; it doubles up to [`LONGEST`].
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(1);

/// What is left for answers to get out when their calls have been cancelled.
const OUT: Duration = Duration::from_secs(1);

/// How often sessions are looked at.
const SWEEP: Duration = Duration::from_secs(60);

/// Bytes of a request's header.
const HEADER: usize = 64 << 10;

/// A server that listens and does not answer yet.
#[derive(Debug)]
#[must_use = "it answers when it is served"]
pub struct Listening {
    mounted: Mounted,
    listener: TcpListener,
    address: SocketAddr,
    stop: CancellationToken,
}

pub(in crate::mcp::server) fn bind(
    server: Server,
    address: impl ToSocketAddrs,
) -> Result<Listening, ServeError> {
    let mounted = Mounted::new(server)?;
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
    Ok(Listening {
        mounted,
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

    /// Answers, until it is [stopped](Self::stop).
    ///
    /// Then it takes no more connections. Requests that it has taken have their time of [grace](Server::grace); after
    /// that their calls are cancelled, and it ends a second later at the most. Dropping the future ends everything at
    /// once. A system that is out of file descriptors is waited for.
    ///
    /// # Errors
    ///
    /// [`ServeError::Connection`] where the runtime cannot take the listener.
    ///
    /// # Panics
    ///
    /// Outside of a tokio runtime with its I/O and its timers.
    pub async fn serve(self) -> Result<(), ServeError> {
        let listener =
            tokio::net::TcpListener::from_std(self.listener).map_err(ServeError::Connection)?;
        // A clone of what is inside is not for free, and each request has one.
        let mounted = Arc::new(self.mounted);
        // Dropped with this future: calls and streams then have nobody left.
        let _calls = mounted.calls.clone().drop_guard();
        let _streams = mounted.streams.clone().drop_guard();
        let graceful = GracefulShutdown::new();
        let mut open = JoinSet::new();
        tokio::select! {
            () = accept(&listener, &mounted, &graceful, &mut open) => {}
            () = sweep(&mounted) => {}
            () = self.stop.cancelled() => {}
        }
        drop(listener);
        let closed = graceful.shutdown();
        let landed = mounted.flights.landed();
        if timeout(mounted.limits.grace, landed).await.is_err() {
            mounted.calls.cancel();
            // Whoever is not done then is given up.
            let _ = timeout(OUT, mounted.flights.landed()).await;
        }
        mounted.streams.cancel();
        let _ = timeout(OUT, closed).await;
        Ok(())
    }
}

async fn sweep(mounted: &Mounted) {
    loop {
        sleep(SWEEP).await;
        mounted.sessions.sweep().await;
    }
}

async fn accept(
    listener: &tokio::net::TcpListener,
    mounted: &Arc<Mounted>,
    graceful: &GracefulShutdown,
    open: &mut JoinSet<()>,
) {
    let places = Arc::new(Semaphore::new(mounted.limits.connections));
    let mut wait = SHORTEST;
    // The semaphore is ours and never closed.
    while let Ok(place) = Arc::clone(&places).acquire_owned().await {
        match listener.accept().await {
            Ok((stream, _)) => {
                wait = SHORTEST;
                let mounted = Arc::clone(mounted);
                open.spawn(connection(stream, mounted, graceful.watcher(), place));
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
    mounted: Arc<Mounted>,
    watcher: Watcher,
    place: OwnedSemaphorePermit,
) {
    // Answers are small and awaited; a peer that is gone already shows itself later.
    let _ = stream.set_nodelay(true);
    let patience = mounted.limits.patience;
    let stream = TokioIo::new(Patient::new(stream, patience));
    let service = service_fn(move |request| {
        let mounted = Arc::clone(&mounted);
        async move { Ok::<_, Infallible>(mounted.answer(request).await) }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(patience)
        .max_buf_size(HEADER)
        .serve_connection(stream, service);
    // What breaks a connection is its peer's business.
    let _ = watcher.watch(connection).await;
    drop(place);
}
