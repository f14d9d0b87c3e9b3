//! The HTTP server and its limits.

use std::future::pending;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use contract_http::Limits;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::guard::{self, Guard, ServiceToken};
use super::problem::Problem;
use super::{chat, page, runs_api};
use crate::runs::Engine;

/// How slowly the head of a request may arrive.
const HEADER_TIME: Duration = Duration::from_secs(5);

/// The largest body, in bytes: a message of 20,000 bytes, escaped, with answers.
const LARGEST: usize = 256 << 10;

/// The most streams of events at a time; further requests are answered with 503.
const FOLLOWERS: usize = 64;

/// What every request may look at.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) engine: Arc<Engine>,
    pub(super) followers: Arc<Semaphore>,
    pub(super) closing: CancellationToken,
    guard: Guard,
}

/// A service that is bound to its address and not served yet.
#[derive(Debug)]
#[must_use = "nothing is answered until it is served"]
pub struct Service {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
}

impl Service {
    /// Binds an address.
    ///
    /// # Errors
    ///
    /// When the system does not let it.
    pub async fn bind(address: &str) -> std::io::Result<TcpListener> {
        TcpListener::bind(address).await.map_err(|error| {
            let said = format!("cannot listen on {address}: {error}");
            std::io::Error::new(error.kind(), said)
        })
    }

    /// Creates a service at a bound address, which answers to its own name, to `localhost` and to these hosts.
    ///
    /// # Errors
    ///
    /// When the system does not say which address it is.
    pub fn new(
        engine: Arc<Engine>,
        listener: TcpListener,
        names: &[String],
        token: ServiceToken,
    ) -> std::io::Result<Self> {
        let address = listener.local_addr()?;
        Ok(Self {
            listener,
            address,
            shared: Arc::new(Shared {
                engine,
                followers: Arc::new(Semaphore::new(FOLLOWERS)),
                closing: CancellationToken::new(),
                guard: Guard::new(address, names, token),
            }),
        })
    }

    /// Returns the address on which the service listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Ends the streams of events.
    #[must_use]
    pub fn closing(&self) -> CancellationToken {
        self.shared.closing.clone()
    }

    /// Answers until it is dropped.
    pub async fn serve(self) {
        let service = TowerToHyperService::new(routes(self.shared));
        let limits = Limits::new().header_time(HEADER_TIME);
        limits.serve(self.listener, service, pending()).await;
    }
}

fn routes(shared: Arc<Shared>) -> Router {
    Router::new()
        .route("/", get(document))
        .route("/api/chat", post(chat::answer))
        .route("/api/chat/stream", post(chat::stream))
        .route("/api/runs", get(runs_api::runs))
        .route("/api/runs/{id}", get(runs_api::run))
        .route("/api/runs/{id}/events", get(runs_api::events))
        .route("/api/runs/{id}/cancel", post(runs_api::cancel))
        .route("/api/runs/{id}/approval", post(runs_api::approval))
        .route("/api/tools", get(runs_api::tools))
        .fallback(async || {
            let message = "nothing is served here; see `/`, `/api/chat` and `/api/runs`";
            Problem::new(StatusCode::NOT_FOUND, "not_found", message)
        })
        .method_not_allowed_fallback(async || {
            let message = "the method is wrong; `/api/chat`, its `/stream`, `/api/runs/ID/cancel` and `/approval` want POST, and all else GET";
            Problem::new(StatusCode::METHOD_NOT_ALLOWED, "wrong_method", message)
        })
        .layer(DefaultBodyLimit::max(LARGEST))
        .layer(from_fn_with_state(Arc::clone(&shared), guarded))
        .with_state(shared)
}

async fn document() -> Response {
    page::answer().unwrap_or_else(|error| {
        let status = StatusCode::INTERNAL_SERVER_ERROR;
        Problem::new(status, "no_page", error.to_string()).into_response()
    })
}

async fn guarded(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let mut response = match shared.guard.admit(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    guard::close(&mut response);
    response
}
