//! The HTTP service: the chat API, the API of the page, and the page.
//!
//! | file | holds |
//! |---|---|
//! | `guard` | the token, and the checks and headers of every request |
//! | `api` | the endpoints |
//! | `follow` | streams of events |
//! | `body` | bodies of requests, and responses of problems |
//! | `page` | one document made of everything in `page/` |

mod api;
mod body;
mod follow;
mod guard;
mod page;

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::extract::DefaultBodyLimit;
use axum::middleware::from_fn_with_state;
use axum::routing::{get, post};
use contract_http::Limits;
use contract_remote::Token;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::contract::Problem;
use crate::runs::Engine;
use follow::Shared;
use guard::Guard;

/// How slowly the head of a request may arrive.
const HEADER_TIME: Duration = Duration::from_secs(5);

/// The largest body, in bytes: a message of 20,000 bytes, escaped, with answers.
const LARGEST: usize = 256 << 10;

/// The most streams of events at a time; further requests are answered with 503.
const FOLLOWERS: usize = 64;

/// A service that is bound to its address and not served yet.
#[must_use = "nothing is answered until it is served"]
pub struct Service {
    listener: TcpListener,
    shared: Arc<Shared>,
    guard: Arc<Guard>,
}

impl Service {
    /// Creates a service at a bound address, which answers to its own name, to `localhost` and to these hosts.
    ///
    /// # Errors
    ///
    /// The system does not say which address it is.
    pub fn new(
        engine: Arc<Engine>,
        listener: TcpListener,
        names: &[String],
        token: Token,
        closing: CancellationToken,
    ) -> std::io::Result<Self> {
        let address = listener.local_addr()?;
        Ok(Self {
            listener,
            shared: Arc::new(Shared {
                engine,
                followers: Arc::new(Semaphore::new(FOLLOWERS)),
                closing,
            }),
            guard: Arc::new(Guard::new(address, names, token)),
        })
    }

    /// Answers until `closing` is cancelled, which also ends the streams of events.
    pub async fn serve(self) {
        let closing = self.shared.closing.clone();
        let service = TowerToHyperService::new(routes(self.shared, self.guard));
        let limits = Limits::new().header_time(HEADER_TIME);
        let serving = limits.serve(self.listener, service, closing.cancelled());
        serving.await;
    }
}

fn routes(shared: Arc<Shared>, guard: Arc<Guard>) -> Router {
    Router::new()
        .route("/", get(page::document))
        .route("/api/chat", post(api::chat))
        .route("/api/chat/stream", post(api::stream))
        .route("/api/runs", get(api::runs))
        .route("/api/runs/{id}", get(api::run))
        .route("/api/runs/{id}/events", get(api::events))
        .route("/api/runs/{id}/cancel", post(api::cancel))
        .route("/api/runs/{id}/approval", post(api::approval))
        .route("/api/tools", get(api::tools))
        .fallback(async || {
            let message = "nothing is served here; see `/`, `/api/chat` and `/api/runs`";
            Problem::new(404, "not_found", message)
        })
        .method_not_allowed_fallback(async || {
            let message = "the method is wrong; `/api/chat`, its `/stream`, `/api/runs/ID/cancel` and `/approval` want POST, and all else GET";
            Problem::new(405, "wrong_method", message)
        })
        .layer(DefaultBodyLimit::max(LARGEST))
        .layer(from_fn_with_state(guard, guard::guarded))
        .with_state(shared)
}
