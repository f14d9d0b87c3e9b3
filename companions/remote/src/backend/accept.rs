//! Accepts connections of executors, and authenticates them.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::sleep;
#[cfg(feature = "tls")]
use tokio::time::timeout;
use tokio_io_timeout::TimeoutWriter;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_util::sync::CancellationToken;

use super::admission::{ConnectionPermit, Throttled};
use super::connection;
use super::listener::Listener;
use super::state::Rejection;
use super::task::OpenTask;
use super::upgrade::{self, UpgradeError};
use crate::MAX_MESSAGE_BYTES;
use crate::protocol::TaskId;
use crate::store::StoreError;

/// The first wait after a connection could not be accepted; it doubles up to [`MAX_BACKOFF`].
const MIN_BACKOFF: Duration = Duration::from_millis(10);
const MAX_BACKOFF: Duration = Duration::from_secs(1);

/// Bytes of a request's header; the token and the upgrade need a few hundred.
const MAX_HEADER: usize = 16 << 10;

/// The first byte of a TLS client (RFC 8446, 5.1, 2018: `handshake`).
#[cfg(feature = "tls")]
const TLS_HANDSHAKE: u8 = 22;

/// Looks a task up by its id.
pub(super) type TaskLookup = Arc<dyn Fn(TaskId) -> LookupFuture + Send + Sync>;

type LookupFuture = Pin<Box<dyn Future<Output = Result<Option<KnownTask>, StoreError>> + Send>>;

/// A task that exists.
pub(super) enum KnownTask {
    Open(Arc<OpenTask>),
    /// The store knows it, with the hash of its token, but it is not open here, or not reopened yet.
    Closed([u8; 32]),
}

impl KnownTask {
    fn token_hash(&self) -> [u8; 32] {
        match self {
            Self::Open(open) => open.token_hash,
            Self::Closed(hash) => *hash,
        }
    }
}

/// Accepts connections until it is stopped.
pub(super) async fn accept(
    tcp: TcpListener,
    listener: Arc<Listener>,
    find: TaskLookup,
    stop: CancellationToken,
) {
    let stopped = listener.drain.stopped.clone();
    let mut wait = MIN_BACKOFF;
    loop {
        let accepted = tokio::select! {
            accepted = tcp.accept() => accepted,
            () = stop.cancelled() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, or the peer disconnected at once: the next one may succeed.
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(wait).await;
                wait = MAX_BACKOFF.min(wait * 2);
                continue;
            }
        };
        wait = MIN_BACKOFF;
        let Some(permit) = listener.admission.admit_connection() else {
            listener.admission.counts.count(Rejection::Full);
            continue;
        };
        let connection = HttpConnection {
            listener: Arc::clone(&listener),
            find: Arc::clone(&find),
            permit,
            stop: stop.clone(),
        };
        let stop = stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = connection.receive(stream) => {}
                () = stop.cancelled() => {}
            }
        });
    }
    stopped.cancel();
}

/// One connection, before and after its upgrade.
struct HttpConnection {
    listener: Arc<Listener>,
    find: TaskLookup,
    permit: ConnectionPermit,
    stop: CancellationToken,
}

impl HttpConnection {
    async fn receive(self, stream: TcpStream) {
        // Messages are small and awaited. If the peer has already disconnected, a later read reports it.
        let _ = stream.set_nodelay(true);
        let unread = self.listener.limits.unread;
        #[cfg(feature = "tls")]
        if let Some(identity) = &self.listener.identity {
            let header = self.listener.limits.header;
            let mut first = [0];
            match timeout(header, stream.peek(&mut first)).await {
                Ok(Ok(1)) if first == [TLS_HANDSHAKE] => {}
                Ok(Ok(1)) => return self.serve(with_write_timeout(stream, unread), true).await,
                Ok(_) => return,
                Err(_) => return self.listener.admission.counts.count(Rejection::Silent),
            }
            let accepted = identity
                .acceptor()
                .accept(with_write_timeout(stream, unread));
            return match timeout(header, accepted).await {
                Ok(Ok(stream)) => self.serve(stream, false).await,
                Ok(Err(error)) => {
                    tracing::debug!(kind = %error.kind(), "a handshake of TLS failed");
                    self.listener.admission.counts.count(Rejection::Tls);
                }
                Err(_) => self.listener.admission.counts.count(Rejection::Silent),
            };
        }
        self.serve(with_write_timeout(stream, unread), false).await;
    }

    /// `plaintext`: the connection does not use TLS, and must.
    async fn serve<S>(self, stream: S, plaintext: bool)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let connection = Arc::new(self);
        let listener = Arc::clone(&connection.listener);
        let answer = service_fn(|request| {
            let connection = Arc::clone(&connection);
            async move {
                let answered = if plaintext {
                    Err(UpgradeError::tls_required())
                } else {
                    respond(&connection, request).await
                };
                let response = answered.unwrap_or_else(|refused| {
                    connection.listener.admission.counts.count(refused.reason);
                    tracing::debug!(reason = ?refused.reason, "an executor was rejected");
                    refused.into_response()
                });
                Ok::<_, Infallible>(response)
            }
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(listener.limits.header)
            .max_buf_size(MAX_HEADER)
            .serve_connection(TokioIo::new(stream), answer)
            .with_upgrades()
            .await;
        if let Err(error) = served {
            let reason = if error.is_timeout() {
                Rejection::Silent
            } else {
                Rejection::Malformed
            };
            // A connection that was closed without sending anything is not counted.
            if error.is_timeout() || error.is_parse() {
                listener.admission.counts.count(reason);
            }
        }
    }
}

/// Decides everything before the upgrade; a rejection does not reveal whether the task exists.
async fn respond(
    connection: &Arc<HttpConnection>,
    mut request: Request<Incoming>,
) -> Result<Response<String>, UpgradeError> {
    let listener = &connection.listener;
    if listener.drain.is_draining() {
        return Err(UpgradeError::shutting_down());
    }
    if connection.permit.over_limit {
        let (reason, retry_after) = (Rejection::Full, 1);
        return Err(Throttled {
            reason,
            retry_after,
        }
        .into());
    }
    let task = upgrade::validate_request(&request, &listener.origins)?;
    let found = (connection.find)(task).await.map_err(|error| {
        tracing::warn!(%error, "the store does not say whether there is such a task");
        UpgradeError::store_unavailable()
    })?;
    upgrade::check_token(request.headers(), found.as_ref().map(KnownTask::token_hash))?;
    let open = match found {
        Some(KnownTask::Open(open)) => open,
        // After a restart, executors reconnect before their tasks are reopened.
        Some(KnownTask::Closed(_)) => return Err(UpgradeError::task_not_open()),
        None => return Err(UpgradeError::invalid_token()),
    };
    let permit = listener.admission.admit_task(task)?;
    let config = WebSocketConfig::default()
        .read_buffer_size(4 << 10)
        .write_buffer_size(4 << 10)
        .max_write_buffer_size(2 * MAX_MESSAGE_BYTES)
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    let upgraded = hyper_tungstenite::upgrade(&mut request, Some(config));
    let (response, socket) = upgraded.map_err(|_| UpgradeError::upgrade_failed())?;
    let connection = Arc::clone(connection);
    let shutdown = listener.drain.shutdown.clone();
    listener.drain.connections.spawn(async move {
        let served = async {
            if let Ok(socket) = socket.await {
                connection::serve(socket, &open, shutdown).await;
            }
        };
        tokio::select! {
            () = served => {}
            () = connection.stop.cancelled() => {}
        }
        drop(permit);
    });
    Ok(response.map(|_| String::new()))
}

/// Wraps a stream, so that writing fails once the peer has read nothing for this long.
fn with_write_timeout(stream: TcpStream, unread: Duration) -> Pin<Box<TimeoutWriter<TcpStream>>> {
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(unread));
    Box::pin(stream)
}
