//! The tools at `/mcp` of a program's own axum server, behind its own authentication.
//!
//! ```sh
//! cargo run -p contract-mcp --example axum -- 127.0.0.1:8080
//! ```

use std::error::Error;

use axum::Router;
use axum::extract::Request;
use axum::http::StatusCode;
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::middleware::{Next, from_fn};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use contract_mcp::Server;
use contract_runtime::{Context, prelude::*};

/// The user that sent a request.
#[derive(Clone)]
struct User(&'static str);

/// Say who is asking.
#[tool(read_only)]
fn who(#[context] user: &User) -> &'static str {
    user.0
}

/// Answers 401, or puts the user into the extensions of the request.
async fn authenticate(mut request: Request, next: Next) -> Response {
    // A real program looks the token up, and compares it in constant time.
    let token = request.headers().get(AUTHORIZATION);
    if token.is_none_or(|token| token != "Bearer of-ada") {
        let scheme = [(WWW_AUTHENTICATE, "Bearer")];
        return (StatusCode::UNAUTHORIZED, scheme, "a token is needed\n").into_response();
    }
    request.extensions_mut().insert(User("Ada"));
    next.run(request).await
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let registry = Registry::builder()
        .tool(who)
        .context_per_call::<User>()
        .build()?;
    let mcp = Server::new(registry)
        .context(|call| match call.extension::<User>() {
            Some(user) => Context::new().with(user.clone()),
            None => Context::new(),
        })
        .into_service()?;
    let app = Router::new()
        .nest_service("/mcp", mcp.clone())
        .layer(from_fn(authenticate))
        .route("/health", get(async || "ok\n"));

    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:0");
    let listener = tokio::net::TcpListener::bind(address).await?;
    println!("http://{}/mcp", listener.local_addr()?);
    axum::serve(listener, app)
        .with_graceful_shutdown(async move {
            // Where Ctrl-C cannot be waited for, it ends the program at once.
            if tokio::signal::ctrl_c().await.is_err() {
                std::future::pending::<()>().await;
            }
            // Before the connections are waited for: the stream of a session is open until the session ends.
            mcp.shutdown().await;
        })
        .await?;
    Ok(())
}
