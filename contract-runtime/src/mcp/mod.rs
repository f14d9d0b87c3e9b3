//! Tools over the Model Context Protocol: a registry as a server, and the tools of another server in a registry.
//!
//! ```no_run
//! use contract_runtime::prelude::*;
//!
//! # #[tokio::main] async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! contract_runtime::mcp::serve_stdio(registry!().build()?).await?;
//! # Ok(()) }
//! ```
//!
//! Spoken are the revisions 2025-11-25 and 2026-07-28 (Model Context Protocol, "Specification").

mod error;
mod server;

pub use error::ServeError;
pub use server::{Listening, Server, serve_http, serve_stdio};
