//! Accepts connections of executors, and authenticates them.

use std::convert::Infallible;
use std::sync::Arc;

use contract_http::{Limits, TimedStream};
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper::{Request, Response};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
#[cfg(feature = "tls")]
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_util::sync::CancellationToken;

use super::admission::{ConnectionPermit, TaskPermit, Throttled};
#[cfg(feature = "redis")]
use super::cluster::{self, Forwarding, Route};
use super::connection;
use super::listener::Listener;
use super::server::{KnownTask, Shared};
use super::state::Rejection;
use super::upgrade::{self, UpgradeError};
use crate::MAX_MESSAGE_BYTES;
#[cfg(feature = "redis")]
use crate::protocol::TaskId;

/// Bytes of a request's header; the token and the upgrade need a few hundred.
const MAX_HEADER: usize = 16 << 10;

/// The first byte of a TLS client (RFC 8446, 5.1, 2018: `handshake`).
#[cfg(feature = "tls")]
const TLS_HANDSHAKE: u8 = 22;

/// Accepts connections until it is stopped.
pub(super) async fn accept(tcp: TcpListener, shared: Arc<Shared>, stop: CancellationToken) {
    let listener = Arc::clone(&shared.listener);
    let limits = Limits::new()
        // Those over the limit of the backend are told so.
        .connections(usize::MAX)
        .header_bytes(MAX_HEADER)
        .header_time(listener.limits.header)
        .write_time(listener.limits.unread);
    let receive = |stream| {
        let Some(permit) = listener.admission.admit_connection() else {
            listener.admission.counts.count(Rejection::Full);
            return None;
        };
        let connection = HttpConnection {
            shared: Arc::clone(&shared),
            permit,
            limits,
            stop: stop.clone(),
        };
        Some(connection.receive(stream))
    };
    tokio::select! {
        () = limits.accept(&tcp, receive) => {}
        () = stop.cancelled() => {}
    }
    listener.drain.stopped.cancel();
}

/// One connection, before and after its upgrade.
struct HttpConnection {
    shared: Arc<Shared>,
    permit: ConnectionPermit,
    limits: Limits,
    stop: CancellationToken,
}

impl HttpConnection {
    fn listener(&self) -> &Listener {
        &self.shared.listener
    }

    async fn receive(self, stream: TimedStream) {
        #[cfg(feature = "tls")]
        if let Some(identity) = &self.listener().identity {
            let header = self.listener().limits.header;
            let mut first = [0];
            match timeout(header, stream.get_ref().peek(&mut first)).await {
                Ok(Ok(1)) if first == [TLS_HANDSHAKE] => {}
                Ok(Ok(1)) => return self.serve(stream, true).await,
                Ok(_) => return,
                Err(_) => return self.listener().admission.counts.count(Rejection::Silent),
            }
            let accepted = identity.acceptor().accept(stream);
            return match timeout(header, accepted).await {
                Ok(Ok(stream)) => self.serve(stream, false).await,
                Ok(Err(error)) => {
                    tracing::debug!(kind = %error.kind(), "a handshake of TLS failed");
                    self.listener().admission.counts.count(Rejection::Tls);
                }
                Err(_) => self.listener().admission.counts.count(Rejection::Silent),
            };
        }
        self.serve(stream, false).await;
    }

    /// Decides where a connection is served whose task is not open here.
    #[cfg(feature = "redis")]
    async fn route<B>(
        &self,
        task: TaskId,
        request: &Request<B>,
    ) -> Result<Route<Forwarding>, UpgradeError> {
        let Some(cluster) = &self.shared.cluster else {
            return Err(UpgradeError::task_not_open());
        };
        let (path, headers) = (request.uri().path().to_owned(), request.headers().clone());
        let is_forwarded = cluster::is_forwarded(&headers);
        let dial = async move |url: String| {
            cluster::dial(
                &url,
                (&path, &headers),
                #[cfg(feature = "tls")]
                self.listener().peer_roots.as_ref(),
            )
            .await
        };
        cluster.route(&self.shared, task, is_forwarded, dial).await
    }

    /// Forwards a connection to the home of its task; returns the answer of the home.
    #[cfg(feature = "redis")]
    fn forward(
        self: &Arc<Self>,
        forwarding: Forwarding,
        request: Request<Incoming>,
        permit: TaskPermit,
    ) -> Response<String> {
        let response = forwarding.response();
        let (executor, shutdown) = (
            hyper::upgrade::on(request),
            self.listener().drain.shutdown.clone(),
        );
        let keep_alive = self.shared.settings.keep_alive;
        let run = forwarding.run(executor, keep_alive, self.listener().limits.unread);
        self.spawn(permit, async move {
            tokio::select! {
                () = run => {}
                // The executor reconnects.
                () = shutdown.cancelled() => {}
            }
        });
        response
    }

    /// Serves an upgraded connection until it ends or the backend is dropped.
    fn spawn(
        self: &Arc<Self>,
        permit: TaskPermit,
        served: impl Future<Output = ()> + Send + 'static,
    ) {
        let connection = Arc::clone(self);
        self.listener().drain.connections.spawn(async move {
            tokio::select! {
                () = served => {}
                () = connection.stop.cancelled() => {}
            }
            drop(permit);
        });
    }

    /// `plaintext`: the connection does not use TLS, and must.
    async fn serve<S>(self, stream: S, plaintext: bool)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let connection = Arc::new(self);
        let (limits, listener) = (connection.limits, Arc::clone(&connection.shared.listener));
        let answer = service_fn(|request| {
            let connection = Arc::clone(&connection);
            async move {
                let answered = if plaintext {
                    Err(UpgradeError::tls_required())
                } else {
                    respond(&connection, request).await
                };
                let response = answered.unwrap_or_else(|refused| {
                    connection.listener().admission.counts.count(refused.reason);
                    tracing::debug!(reason = ?refused.reason, "an executor was rejected");
                    refused.into_response()
                });
                Ok::<_, Infallible>(response)
            }
        });
        if let Err(error) = limits.serve_connection(stream, answer).await {
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
    let listener = connection.listener();
    #[cfg(feature = "redis")]
    if let Some(cluster) = &connection.shared.cluster
        && let Some(task) = cluster::moved_task(request.uri().path(), request.headers())
    {
        cluster.check_task(&connection.shared, task).await;
        return Ok(Response::new(String::new()));
    }
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
    let found = connection.shared.find(task).await.map_err(|error| {
        tracing::warn!(%error, "the store does not say whether there is such a task");
        UpgradeError::store_unavailable()
    })?;
    upgrade::check_token(request.headers(), found.as_ref().map(KnownTask::token_hash))?;
    let admit = || listener.admission.admit_task(task);
    let (open, permit) = match found {
        Some(KnownTask::Open(open)) => (open, admit()?),
        #[cfg(feature = "redis")]
        Some(KnownTask::Closed(_)) if connection.shared.cluster.is_some() => {
            let permit = admit()?;
            match connection.route(task, &request).await? {
                Route::Here(open) => (open, permit),
                Route::Home(forwarding) => {
                    return Ok(connection.forward(forwarding, request, permit));
                }
            }
        }
        // After a restart, executors reconnect before their tasks are reopened.
        Some(KnownTask::Closed(_)) => return Err(UpgradeError::task_not_open()),
        None => return Err(UpgradeError::invalid_token()),
    };
    let config = WebSocketConfig::default()
        .read_buffer_size(4 << 10)
        .write_buffer_size(4 << 10)
        .max_write_buffer_size(2 * MAX_MESSAGE_BYTES)
        .max_message_size(Some(MAX_MESSAGE_BYTES))
        .max_frame_size(Some(MAX_MESSAGE_BYTES));
    let upgraded = hyper_tungstenite::upgrade(&mut request, Some(config));
    let (response, socket) = upgraded.map_err(|_| UpgradeError::upgrade_failed())?;
    let shutdown = listener.drain.shutdown.clone();
    connection.spawn(permit, async move {
        if let Ok(socket) = socket.await {
            connection::serve(socket, &open, shutdown).await;
        }
    });
    Ok(response.map(|_| String::new()))
}
