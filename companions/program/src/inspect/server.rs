//! The listener and its routes.

use std::future::pending;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;

use axum::Router;
use axum::extract::{DefaultBodyLimit, Request, State};
use axum::http::StatusCode;
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use contract_http::Limits;
use contract_runtime::Registry;
use hyper_util::service::TowerToHyperService;

use super::access::{self, AccessCheck};
use super::agents::Agents;
use super::event_log::EventLog;
use super::{api, page};
use crate::CommandError;

/// The largest request, in bytes; the registry has a limit of its own for arguments.
const LARGEST: usize = 64 << 20;

/// The state that all requests share.
pub(super) struct Shared {
    pub(super) registry: Registry,
    pub(super) events: Arc<EventLog>,
    access: AccessCheck,
}

/// A page that is bound to its address and not served yet.
pub(super) struct BoundServer {
    listener: TcpListener,
    address: SocketAddr,
    shared: Arc<Shared>,
    agents: Agents,
}

impl BoundServer {
    pub(super) fn bind(registry: Registry, address: SocketAddr) -> Result<Self, CommandError> {
        let listener = TcpListener::bind(address).map_err(|error| {
            io::Error::new(error.kind(), format!("cannot listen on {address}: {error}"))
        })?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let events = Arc::default();
        Ok(Self {
            agents: Agents::new(&registry, &events)?,
            listener,
            address,
            shared: Arc::new(Shared {
                registry,
                events,
                access: AccessCheck::new(address)?,
            }),
        })
    }

    /// The URL of a path, with the token.
    pub(super) fn url(&self, path: &str) -> String {
        let token = self.shared.access.token();
        format!("http://{}{path}?token={token}", self.address)
    }

    /// Answers until it is dropped.
    pub(super) async fn serve(self) -> io::Result<()> {
        let listener = tokio::net::TcpListener::from_std(self.listener)?;
        // Connections hold a clone of the service, and last for as long as their clients want.
        let _close = self.agents.close_on_drop();
        let service = TowerToHyperService::new(routes(self.shared, &self.agents));
        Limits::new().serve(listener, service, pending()).await;
        Ok(())
    }
}

fn routes(shared: Arc<Shared>, agents: &Agents) -> Router {
    Router::new()
        .route_service("/mcp", agents.service())
        .route("/", get(document))
        .route("/api/tools", get(api::tools))
        .route("/api/explain", get(api::explain))
        .route("/api/check", post(api::check))
        .route("/api/call", post(api::call))
        .route("/api/events", get(api::events))
        .fallback(async || (StatusCode::NOT_FOUND, "nothing is served here\n"))
        .layer(DefaultBodyLimit::max(LARGEST))
        .layer(from_fn_with_state(Arc::clone(&shared), authorized))
        .with_state(shared)
}

async fn document() -> Response {
    page::answer().unwrap_or_else(|error| {
        (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response()
    })
}

async fn authorized(State(shared): State<Arc<Shared>>, request: Request, next: Next) -> Response {
    let mut response = match shared.access.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    access::add_security_headers(&mut response);
    response
}
