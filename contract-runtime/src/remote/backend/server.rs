use std::collections::HashMap;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, ORIGIN};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use subtle::ConstantTimeEq as _;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio_tungstenite::tungstenite::protocol::WebSocketConfig;
use tokio_util::sync::{CancellationToken, DropGuard};
use uuid::Uuid;

use super::connection;
use super::task::{Session, Task};
use crate::registry::Manifest;
use crate::remote::RemoteError;
use crate::remote::protocol::TaskId;
use crate::remote::toolbelt::Limits;

/// A side that decides, before it listens.
#[derive(Clone, Debug)]
#[must_use = "a backend does nothing until `bind`"]
pub struct Backend {
    known: Manifest,
    limits: Limits,
}

/// A side that decides, and answers executors until it is dropped.
#[derive(Debug)]
pub struct Listening {
    shared: Arc<Shared>,
    address: SocketAddr,
    _stop: DropGuard,
}

/// Everything that connections share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) known: Manifest,
    pub(super) limits: Limits,
    tasks: Mutex<HashMap<TaskId, Arc<Open>>>,
}

/// A task that an executor may dial in for.
#[derive(Debug)]
pub(super) struct Open {
    pub(super) id: TaskId,
    token: Arc<str>,
    pub(super) session: watch::Sender<Option<Session>>,
    /// The connection that counts.
    line: Mutex<Line>,
}

/// The latest connection of a task.
#[derive(Debug, Default)]
struct Line {
    epoch: u64,
    /// Ends it when the next takes over.
    over: CancellationToken,
}

impl Open {
    fn line(&self) -> std::sync::MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next epoch and what ends it; `None` for an executor that another has taken over from.
    pub(super) fn take_over(&self, last: u64) -> Option<(u64, CancellationToken)> {
        let mut line = self.line();
        if last != 0 && last != line.epoch {
            return None;
        }
        line.over.cancel();
        *line = Line {
            epoch: line.epoch + 1,
            over: CancellationToken::new(),
        };
        Some((line.epoch, line.over.clone()))
    }

    /// Shows a session, or that there is none, if no later connection has taken over.
    pub(super) fn show(&self, epoch: u64, session: Option<Session>) {
        let line = self.line();
        if line.epoch == epoch {
            self.session.send_replace(session);
        }
    }
}

impl Backend {
    /// A backend that knows the tools of a manifest by name.
    pub fn new(known: Manifest) -> Self {
        Self {
            known,
            limits: Limits::default(),
        }
    }

    /// What a handshake may bring.
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Listens, and lets executors in.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Bind`].
    pub async fn bind(self, address: &str) -> Result<Listening, RemoteError> {
        let failed = |source| RemoteError::Bind {
            address: address.to_owned(),
            source,
        };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let bound = listener.local_addr().map_err(failed)?;
        let shared = Arc::new(Shared {
            known: self.known,
            limits: self.limits,
            tasks: Mutex::default(),
        });
        let stop = CancellationToken::new();
        tokio::spawn(accept(listener, Arc::clone(&shared), stop.clone()));
        Ok(Listening {
            shared,
            address: bound,
            _stop: stop.drop_guard(),
        })
    }
}

impl Listening {
    /// Opens a task, with an id and a token that nobody can guess.
    pub fn task(&self) -> Task {
        let id = TaskId::random();
        let token: Arc<str> = Uuid::new_v4().simple().to_string().into();
        let (sender, session) = watch::channel(None);
        let open = Open {
            id,
            token: Arc::clone(&token),
            session: sender,
            line: Mutex::default(),
        };
        self.shared.tasks().insert(id, Arc::new(open));
        Task {
            id,
            token,
            address: self.address,
            session,
        }
    }
}

impl Shared {
    fn tasks(&self) -> std::sync::MutexGuard<'_, HashMap<TaskId, Arc<Open>>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn accept(listener: TcpListener, shared: Arc<Shared>, stop: CancellationToken) {
    loop {
        let stream = tokio::select! {
            accepted = listener.accept() => {
                // Out of file descriptors, or a peer that was gone at once: the next may be better.
                let Ok((stream, _)) = accepted else {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                };
                stream
            }
            () = stop.cancelled() => return,
        };
        let shared = Arc::clone(&shared);
        let stop = stop.clone();
        tokio::spawn(async move {
            let answer = service_fn(|request| {
                let response = answer(&shared, request, &stop);
                async move { Ok::<_, Infallible>(response) }
            });
            let line = http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(Duration::from_secs(5))
                .serve_connection(TokioIo::new(stream), answer)
                .with_upgrades();
            tokio::select! {
                _ = line => {}
                () = stop.cancelled() => {}
            }
        });
    }
}

/// Everything is decided before the upgrade; a refusal does not say whether there is such a task.
fn answer(
    shared: &Arc<Shared>,
    mut request: Request<Incoming>,
    stop: &CancellationToken,
) -> Response<String> {
    let open = match let_in(shared, &request) {
        Ok(open) => open,
        Err(status) => return refused(status),
    };
    if !hyper_tungstenite::is_upgrade_request(&request) {
        return refused(StatusCode::UPGRADE_REQUIRED);
    }
    let config = WebSocketConfig::default()
        .read_buffer_size(4 << 10)
        .write_buffer_size(4 << 10)
        .max_write_buffer_size(16 << 20)
        .max_message_size(Some(8 << 20))
        .max_frame_size(Some(8 << 20));
    let Ok((response, socket)) = hyper_tungstenite::upgrade(&mut request, Some(config)) else {
        return refused(StatusCode::BAD_REQUEST);
    };
    let shared = Arc::clone(shared);
    let stop = stop.clone();
    tokio::spawn(async move {
        if let Ok(socket) = socket.await {
            tokio::select! {
                () = connection::serve(socket, &shared, &open) => {}
                () = stop.cancelled() => {}
            }
        }
    });
    response.map(|_| String::new())
}

fn let_in(shared: &Shared, request: &Request<Incoming>) -> Result<Arc<Open>, StatusCode> {
    if request.headers().contains_key(ORIGIN) {
        return Err(StatusCode::FORBIDDEN);
    }
    let token = request.headers().get(AUTHORIZATION);
    let token = token.and_then(|value| value.as_bytes().strip_prefix(b"Bearer "));
    let id = request.uri().path().strip_prefix("/executor/");
    let id = id.and_then(|id| id.parse::<TaskId>().ok());
    let open = id.and_then(|id| shared.tasks().get(&id).cloned());
    match (token, open) {
        (Some(token), Some(open)) if bool::from(token.ct_eq(open.token.as_bytes())) => Ok(open),
        _ => Err(StatusCode::UNAUTHORIZED),
    }
}

fn refused(status: StatusCode) -> Response<String> {
    let mut response = Response::new(String::new());
    *response.status_mut() = status;
    response
}
