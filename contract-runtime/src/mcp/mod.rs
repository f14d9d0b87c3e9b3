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

mod client;
mod error;
mod server;

pub use client::{
    ChildProcess, Connection, ImportError, Imported, Importer, Skipped, command, import,
};
#[cfg(feature = "mcp-http")]
pub use client::{HttpClient, http};
pub use error::ServeError;
/// The protocol itself; for transports of other kinds.
pub use rmcp;
#[cfg_attr(
    not(feature = "cli"),
    allow(unused_imports, reason = "a page of the command line stands beside it")
)]
pub(crate) use server::Mounted;
pub use server::{Asked, CallEvent, Listening, Server, serve_http, serve_stdio};
