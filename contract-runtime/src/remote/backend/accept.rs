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
#[cfg(feature = "remote-tls")]
use tokio::time::timeout;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_util::sync::CancellationToken;

use super::crowd::{Place, TooMany};
use super::door::{self, Refused};
use super::entry::Entrance;
use super::line;
use super::state::Why;
use super::task::Open;
use crate::patient::Patient;
use crate::remote::LARGEST;
use crate::remote::protocol::TaskId;
use crate::remote::store::StoreError;

/// The first wait after a connection could not be accepted; it doubles up to [`LONGEST`].
const SHORTEST: Duration = Duration::from_millis(10);
const LONGEST: Duration = Duration::from_secs(1);

/// Bytes of a request's header; the token and the upgrade need a few hundred.
const HEADER: usize = 16 << 10;

/// What a TLS client says first (RFC 8446, 5.1, 2018: `handshake`).
#[cfg(feature = "remote-tls")]
const TLS: u8 = 22;

/// The task with this id, if there is one here.
pub(super) type Find = Arc<dyn Fn(TaskId) -> Finding + Send + Sync>;

type Finding = Pin<Box<dyn Future<Output = Result<Option<Found>, StoreError>> + Send>>;

/// A task that there is.
pub(super) enum Found {
    Open(Arc<Open>),
    /// The store knows it, with the hash of its token, and it is not open here, or not again yet.
    Closed([u8; 32]),
}

impl Found {
    fn token_hash(&self) -> [u8; 32] {
        match self {
            Self::Open(open) => open.token_hash,
            Self::Closed(hash) => *hash,
        }
    }
}

/// Lets executors in until it is stopped.
pub(super) async fn accept(
    listener: TcpListener,
    entrance: Arc<Entrance>,
    find: Find,
    stop: CancellationToken,
) {
    let gone = entrance.doors.gone.clone();
    let mut wait = SHORTEST;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => break,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, or a peer that was gone at once: the next may be better.
                tracing::warn!(%error, "a connection could not be accepted");
                sleep(wait).await;
                wait = LONGEST.min(wait * 2);
                continue;
            }
        };
        wait = SHORTEST;
        let Some(place) = entrance.crowd.place() else {
            entrance.crowd.counts.count(Why::Full);
            continue;
        };
        let visit = Visit {
            entrance: Arc::clone(&entrance),
            find: Arc::clone(&find),
            place,
            stop: stop.clone(),
        };
        let stop = stop.clone();
        tokio::spawn(async move {
            tokio::select! {
                () = visit.receive(stream) => {}
                () = stop.cancelled() => {}
            }
        });
    }
    gone.cancel();
}

/// One connection, before and after its upgrade.
struct Visit {
    entrance: Arc<Entrance>,
    find: Find,
    place: Place,
    stop: CancellationToken,
}

impl Visit {
    async fn receive(self, stream: TcpStream) {
        // Messages are small and awaited; a peer that is gone already shows itself later.
        let _ = stream.set_nodelay(true);
        let unread = self.entrance.limits.unread;
        #[cfg(feature = "remote-tls")]
        if let Some(identity) = &self.entrance.identity {
            let header = self.entrance.limits.header;
            let mut first = [0];
            match timeout(header, stream.peek(&mut first)).await {
                Ok(Ok(1)) if first == [TLS] => {}
                Ok(Ok(1)) => return self.serve(Patient::new(stream, unread), true).await,
                Ok(_) => return,
                Err(_) => return self.entrance.crowd.counts.count(Why::Silent),
            }
            let accepted = identity.acceptor().accept(Patient::new(stream, unread));
            return match timeout(header, accepted).await {
                Ok(Ok(stream)) => self.serve(stream, false).await,
                Ok(Err(error)) => {
                    tracing::debug!(kind = %error.kind(), "a handshake of TLS failed");
                    self.entrance.crowd.counts.count(Why::Tls);
                }
                Err(_) => self.entrance.crowd.counts.count(Why::Silent),
            };
        }
        self.serve(Patient::new(stream, unread), false).await;
    }

    /// `bare` is a connection without TLS where there must be some.
    async fn serve<S>(self, stream: S, bare: bool)
    where
        S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let visit = Arc::new(self);
        let entrance = Arc::clone(&visit.entrance);
        let answer = service_fn(|request| {
            let visit = Arc::clone(&visit);
            async move {
                let answered = if bare {
                    Err(Refused::bare())
                } else {
                    answer(&visit, request).await
                };
                let response = answered.unwrap_or_else(|refused| {
                    visit.entrance.crowd.counts.count(refused.why);
                    tracing::debug!(why = ?refused.why, "an executor was not let in");
                    refused.answer()
                });
                Ok::<_, Infallible>(response)
            }
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(entrance.limits.header)
            .max_buf_size(HEADER)
            .serve_connection(TokioIo::new(stream), answer)
            .with_upgrades()
            .await;
        if let Err(error) = served {
            let why = if error.is_timeout() {
                Why::Silent
            } else {
                Why::Malformed
            };
            // One that came and went without a word is none of these.
            if error.is_timeout() || error.is_parse() {
                entrance.crowd.counts.count(why);
            }
        }
    }
}

/// Everything is decided before the upgrade; a refusal does not say whether there is such a task.
async fn answer(
    visit: &Arc<Visit>,
    mut request: Request<Incoming>,
) -> Result<Response<String>, Refused> {
    let entrance = &visit.entrance;
    if entrance.doors.closed() {
        return Err(Refused::shutting_down());
    }
    if visit.place.crowded {
        let (why, seconds) = (Why::Full, 1);
        return Err(TooMany { why, seconds }.into());
    }
    let task = door::executor(&request, &entrance.origins)?;
    let known = (visit.find)(task).await.map_err(|error| {
        tracing::warn!(%error, "the store does not say whether there is such a task");
        Refused::no_store()
    })?;
    door::token(request.headers(), known.as_ref().map(Found::token_hash))?;
    let open = match known {
        Some(Found::Open(open)) => open,
        // After a restart executors are back before their tasks are.
        Some(Found::Closed(_)) => return Err(Refused::closed()),
        None => return Err(Refused::token()),
    };
    let seat = entrance.crowd.seat(task)?;
    let config = WebSocketConfig::default()
        .read_buffer_size(4 << 10)
        .write_buffer_size(4 << 10)
        .max_write_buffer_size(2 * LARGEST)
        .max_message_size(Some(LARGEST))
        .max_frame_size(Some(LARGEST));
    let upgraded = hyper_tungstenite::upgrade(&mut request, Some(config));
    let (response, socket) = upgraded.map_err(|_| Refused::no_upgrade())?;
    let visit = Arc::clone(visit);
    let leaving = entrance.doors.leaving.clone();
    entrance.doors.lines.spawn(async move {
        let served = async {
            if let Ok(socket) = socket.await {
                line::serve(socket, &open, leaving).await;
            }
        };
        tokio::select! {
            () = served => {}
            () = visit.stop.cancelled() => {}
        }
        drop(seat);
    });
    Ok(response.map(|_| String::new()))
}
