//! The tools at `/mcp` of a program's own axum server, for those who have a token.
//!
//! ```sh
//! cargo run -p contract-mcp --features http --example axum -- 127.0.0.1:8080
//! ```

use std::error::Error;

use axum::Router;
use axum::routing::get;
use contract_mcp::{Principal, Refusal, ResourceMetadata, Server};
use contract_runtime::{Context, prelude::*};

/// The user that sent a request.
struct User(&'static str);

/// Say who is asking.
#[tool(read_only)]
fn who(#[context] user: &User) -> &'static str {
    user.0
}

/// Finds out whose token it is. A real program verifies its signature, its expiry and its audience, or asks the server that
/// issued it.
fn user_of(token: &str) -> Option<User> {
    (token == "of-ada").then_some(User("Ada"))
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let address = std::env::args().nth(1);
    let address = address.as_deref().unwrap_or("127.0.0.1:0");
    let listener = tokio::net::TcpListener::bind(address).await?;
    // In production the public URL of the server, which begins with `https`.
    let url = format!("http://{}/mcp", listener.local_addr()?);

    let registry = Registry::builder()
        .tool(who)
        .context_per_call::<User>()
        .build()?;
    let mcp = Server::new(registry)
        .resource_metadata(ResourceMetadata::new(&url, ["https://login.example.com"]))
        .authorize(|credentials| async move {
            let token = credentials.bearer().ok_or(Refusal::NoToken)?;
            let user = user_of(token).ok_or(Refusal::InvalidToken {
                reason: "the token is unknown or has expired".to_owned(),
            })?;
            Ok(Principal::new(user.0).context(Context::new().with(user)))
        })
        .into_service()?;
    let metadata = mcp.metadata_path().unwrap_or_default().to_owned();
    let app = Router::new()
        .route_service("/mcp", mcp.clone())
        .route_service(&metadata, mcp.clone())
        .route("/health", get(async || "ok\n"));

    println!("{url}");
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
